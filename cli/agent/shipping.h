/* shipping.h - puts the spool's files into the store one after the other, each in a process of its own, and reports when that fails or
 * works again. */
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
    char *path;     /* of the file that is being put into the store; NULL: none */
    uint64_t bytes; /* size of that file */
    int failing;    /* exit code of the store's last failure, which was reported; 0: it works */
};

/* If the process has ended, handles the result of its file. List the spool again after this. */
void shipping_end(struct shipping *shipping, const struct agent_config *config, const struct spool *spool);
/* Starts a process for the next file, if it is time. The spool must know which files are growing. */
void shipping_begin(struct shipping *shipping, const struct agent_config *config, const struct spool *spool);

#endif
