/* latency.h - `record --latency`: functions whose calls are timed, as events of the target. */
#ifndef FATHOM_CLI_LATENCY_H
#define FATHOM_CLI_LATENCY_H

#include "cli/target.h"

struct latencies {
    const char *functions[8]; /* [FILE:]FUNCTION, borrowed; a recording takes no more events */
    unsigned count;
};

option_take latencies_take;
/* After target_complete(): puts their events ahead of the target's. -1, or EXIT_USAGE after printing the error. */
int latencies_complete(const struct latencies *latencies, struct fathom_target *target,
                       const struct command *command, struct terminal *terminal);

#endif
