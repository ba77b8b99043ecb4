/* latency.h - `record --latency`: adds events for functions whose calls are timed. */
#ifndef FATHOM_CLI_LATENCY_H
#define FATHOM_CLI_LATENCY_H

#include "cli/target.h"

struct latencies {
    const char *functions[8]; /* [FILE:]FUNCTION, borrowed; the limit of events in a recording */
    unsigned count;
};

option_take latencies_take;
/* Call it after target_complete(): puts the events before the target's. -1, or EXIT_USAGE after printing the error. */
int latencies_complete(const struct latencies *latencies, struct fathom_target *target,
                       struct terminal *terminal);

#endif
