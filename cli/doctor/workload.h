/*
 * workload.h - programs within `fathom doctor`, to be recorded by its checks of the hardware: one whose paths are known,
 * and one that misses caches and TLBs at known addresses.
 */
#ifndef FATHOM_CLI_DOCTOR_WORKLOAD_H
#define FATHOM_CLI_DOCTOR_WORKLOAD_H

#include <stdint.h>

#define WORKLOAD_WAYS 2

enum workload {
    WORKLOAD_NONE,
    WORKLOAD_CALLS, /* calls one function by two ways, from the same height, with work at a ratio of 1 to 2 */
    WORKLOAD_MEMORY, /* reads memory in an order that no prefetcher knows */
};

extern const double workload_shares[WORKLOAD_WAYS]; /* of the time in that function, by its caller */

/* The functions of WORKLOAD_CALLS: addresses in the file of this program. */
struct workload_functions {
    uint64_t loop, ways[WORKLOAD_WAYS], step;
};
void workload_functions(struct workload_functions *out);

/* Runs for so many seconds of CPU time. WORKLOAD_MEMORY first prints "memory START SIZE", hexadecimal bytes. Returns an exit
 * code. */
int workload_run(enum workload workload, double seconds);

#endif
