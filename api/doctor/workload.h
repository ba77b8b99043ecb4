/*
 * workload.h - workloads within this program that the checks of the hardware record: one whose paths are known, and one that misses
 * caches and TLBs at known addresses.
 */
#ifndef FATHOM_API_DOCTOR_WORKLOAD_H
#define FATHOM_API_DOCTOR_WORKLOAD_H

#include "api/fathom/doctor.h"

/* FATHOM_WORKLOAD_CALLS calls one function in two ways, at the same height, whose work has a ratio of 1 to 2. */
#define WORKLOAD_WAYS    2
#define WORKLOAD_SECONDS 2.0 /* of CPU time */

extern const double workload_shares[WORKLOAD_WAYS]; /* of the time in that function, by caller */

/* The functions of FATHOM_WORKLOAD_CALLS: addresses in the file of this program. */
struct workload_functions {
    uint64_t loop, ways[WORKLOAD_WAYS], step;
};
void workload_functions(struct workload_functions *out);

#endif
