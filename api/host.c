#include "api/host.h"

#include <stdarg.h>

#define STATUS_SIZE 256

_Static_assert((int)FATHOM_DEBUG == (int)LOG_DEBUG && (int)FATHOM_NOTE == (int)LOG_NOTE &&
                   (int)FATHOM_WARNING == (int)LOG_WARNING,
               "the same numbers");

static void pass_message(void *context, enum log_level level, const char *text)
{
    const struct host *h = context;
    if (h->listener && h->listener->say)
        h->listener->say(h->listener->context, (enum fathom_level)level, text);
}

static void pass_progress(void *context, const char *what, uint64_t done, uint64_t all)
{
    const struct host *h = context;
    if (h->listener && h->listener->progress)
        h->listener->progress(h->listener->context, what, done, all);
}

void host_init(struct host *h, const struct fathom_listener *listener)
{
    *h = (struct host){.log = {pass_message, h}, .progress = {pass_progress, h}, .listener = listener};
}

bool host_asks_status(const struct host *h)
{
    return h->listener && h->listener->status;
}

void host_status(const struct host *h, const char *fmt, ...)
{
    char text[STATUS_SIZE];
    va_list ap;
    if (!host_asks_status(h))
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    h->listener->status(h->listener->context, text);
}

bool host_is_verbose(const struct host *h)
{
    return h->listener && h->listener->verbose;
}
