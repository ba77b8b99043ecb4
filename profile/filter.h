/*
 * filter.h - which samples a profile counts: by thread, time, and the functions on their paths.
 */
#ifndef FATHOM_PROFILE_FILTER_H
#define FATHOM_PROFILE_FILTER_H

#include <sys/types.h>

#include "image/cache.h"
#include "process/process.h"
#include "profile/frames.h"

/* All that is given must hold. Texts are POSIX extended regular expressions that match anywhere in a name, or several of these
 * separated by commas, one of which must match. */
struct filter_options {
    const pid_t *pids, *tids;
    size_t pid_count, tid_count; /* 0: any */
    const char *comm;            /* the thread's name; NULL: any */
    double from, to;             /* s since the first sample; to = 0: no end */
    const char *focus, *ignore;  /* a function on the path; NULL: any, or none */
    const char *symbol, *image;  /* the innermost function, and its file's name; NULL: any */
};

struct filter;

/* ns, `to` exclusive. */
struct time_span {
    uint64_t from, to;
};

/* Texts, lists and images are borrowed; images (NULL: none) have the other names of an image's file. -EINVAL: not a regular
 * expression; -ENOMEM. */
int filter_new(const struct filter_options *options, const struct image_cache *images, struct filter **out,
               struct fathom_error *err);
void filter_free(struct filter *filter); /* NULL is allowed */
/* From now on, only samples within these spans count; sorted by time, borrowed. */
void filter_times(struct filter *filter, const struct time_span *spans, size_t count);
/* Whether a sample counts by thread and time. Samples come in the order of time, beginning with the recording's first. process:
 * NULL: unknown. */
bool filter_sample(struct filter *filter, const struct process *process, const struct sample *sample);
/* Whether a path counts by its functions. `frames` must always be the same for a filter. If memory runs out, the path counts. */
bool filter_path(struct filter *filter, const struct frames *frames, const uint32_t *items, size_t count);

#endif
