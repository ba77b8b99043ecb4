/*
 * progress.h - reports the progress of long work to whoever wants to show it.
 */
#ifndef FATHOM_BASE_PROGRESS_H
#define FATHOM_BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
    /* what: "resolving"; done of all, in any unit; all 0: unknown. Called often. */
    void (*show)(void *context, const char *what, uint64_t done, uint64_t all);
    void *context;
};

/* progress may be NULL, and so may its function. */
static inline void progress_show(const struct progress *progress, const char *what, uint64_t done,
                                 uint64_t all)
{
    if (progress && progress->show)
        progress->show(progress->context, what, done, all);
}

#endif
