/* host.h - the caller of libfathom as a log and a progress, for the folders below. */
#ifndef FATHOM_API_HOST_H
#define FATHOM_API_HOST_H

#include "api/fathom/common.h"
#include "base/log.h"
#include "base/progress.h"

struct host {
    struct log log;
    struct progress progress;
    const struct fathom_listener *listener; /* borrowed */
};

/* listener: may be NULL. The host must not be moved while anything borrows its log or progress. */
void host_init(struct host *host, const struct fathom_listener *listener);
/* Whether host_status() has any effect. */
bool host_asks_status(const struct host *host);
__attribute__((format(printf, 2, 3))) void host_status(const struct host *host, const char *fmt, ...);
bool host_is_verbose(const struct host *host);

#endif
