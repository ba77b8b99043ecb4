/*
 * target.h - what to observe, how often, and what is read of its stacks: for all that samples a command or running processes.
 */
#ifndef FATHOM_TARGET_H
#define FATHOM_TARGET_H

#include <stddef.h>
#include <sys/types.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stacks are compared with known ones while they are sampled, where the kernel allows it, and only new ones are read. */
enum fathom_verify_wish {
    FATHOM_VERIFY_NEVER,
    FATHOM_VERIFY_BY_DEFAULT, /* unless other options ask for another way of knowing stacks */
    FATHOM_VERIFY_ASKED,
};

#define FATHOM_VERIFY_ALL 255u

struct fathom_verify {
    enum fathom_verify_wish wish;
    unsigned compared;    /* return addresses: FATHOM_VERIFY_ALL, or so many of the innermost; 0: none */
    uint64_t burst, rate; /* new stacks to read at first, and then per second */
};

/* All return addresses, 4000 stacks at first, then 2000 per second; by default. */
FATHOM_API extern const struct fathom_verify fathom_verify_default;

struct fathom_pids {
    const pid_t *pids;
    size_t count;
};

struct fathom_user {
    bool given;
    uint32_t id; /* the real user ID */
};

/* All pointers are borrowed by whoever is given a target, until it is closed. */
struct fathom_target {
    const char *event;  /* several: separated by commas. NULL: cycles, or cpu-clock where there is no PMU */
    const char *filter; /* of tracepoints: which are sampled, by their fields: "bytes > 4096"; NULL: all */
    const char *weight; /* of tracepoints: the field that a sample weighs, as bytes. NULL: its period */
    uint64_t frequency; /* samples per second; 0: by `period` */
    uint64_t period;    /* events per sample, clocks: ns; 0 of both: chosen from the event */
    /* What is observed: exactly one of these. With the first four, which are not for training and need CAP_PERFMON, a command may be
     * given too, at whose end the observation ends. */
    bool everyone;           /* all processes of the machine but the caller, without idle time */
    const char *cgroup;      /* those of a control group and of those below: its path, also below its mount */
    const char *container;   /* those of a container: its ID, the beginning of that, or its name */
    struct fathom_user user; /* those of a user; needs CAP_BPF, too, and stacks are compared */
    char *const *command;    /* to launch: an argv that ends with NULL */
    struct fathom_pids pids; /* processes: all their present and future threads, and their children */
    struct fathom_pids tids; /* threads, and the threads and processes that they start */
    bool no_children; /* only threads of what is named here, not the processes that these started or start */
    double duration;  /* seconds, after which a launched command gets SIGTERM; 0: to the end */
    uint64_t stack_bytes; /* of a copy of the stack in each sample; 0: none */
    struct fathom_verify verify;
    FATHOM_RESERVED;
};

/* How many of the ways are given that concern all programs on the CPUs. */
static inline int fathom_target_wide(const struct fathom_target *target)
{
    return target->everyone + (target->cgroup != NULL) + (target->container != NULL) + target->user.given;
}

#ifdef __cplusplus
}
#endif

#endif
