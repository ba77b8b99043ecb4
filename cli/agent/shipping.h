/* shipping.h - puts the spool's files into the store, one after the other, each by a process of its own, and tells when that stops and goes on. */
#ifndef FATHOM_CLI_AGENT_SHIPPING_H
#define FATHOM_CLI_AGENT_SHIPPING_H

#include "agent/children.h"
#include "cli/agent/config.h"
#include "agent/failures.h"
#include "agent/metrics.h"
#include "agent/retry.h"
#include "agent/spool.h"
#include "cli/terminal.h"

struct shipping {
    struct terminal *terminal;
    struct agent_metrics *metrics;
    struct failures *failures;
    struct child child;
    struct retry retry;
    uint64_t *random;
    char *path; /* of the file that is being put into the store; NULL: none is */
    uint64_t bytes;
    int failing; /* the exit code by which the store failed last, which was said; 0: it answers */
};

/* If a process has ended: what became of its file. The spool is to be listed anew then. */
void shipping_end(struct shipping *shipping, const struct agent_config *config, const struct spool *spool);
/* Starts the next one, if it is time. Which files grow is known. */
void shipping_begin(struct shipping *shipping, const struct agent_config *config, const struct spool *spool);

#endif
