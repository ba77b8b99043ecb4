/*
 * target.h - what to sample (a command or running processes), how often, and how much of the stacks to read.
 */
#ifndef FATHOM_TARGET_H
#define FATHOM_TARGET_H

#include <stddef.h>
#include <sys/types.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether to compare stacks with known ones while sampling, where the kernel allows it, so that only new stacks are read. */
enum fathom_verify_wish {
    FATHOM_VERIFY_NEVER,
    FATHOM_VERIFY_BY_DEFAULT, /* unless other options choose another way to get stacks */
    FATHOM_VERIFY_ASKED,
};

#define FATHOM_VERIFY_ALL 255u

struct fathom_verify {
    enum fathom_verify_wish wish;
    unsigned compared;    /* number of innermost return addresses to compare, or FATHOM_VERIFY_ALL; 0: none */
    uint64_t burst, rate; /* new stacks to read: this many at first, then per second */
};

/* FATHOM_VERIFY_BY_DEFAULT: all return addresses, 4000 stacks at first, then 2000 per second. */
FATHOM_API extern const struct fathom_verify fathom_verify_default;

struct fathom_pids {
    const pid_t *pids;
    size_t count;
};

struct fathom_user {
    bool given;
    uint32_t id; /* the real user ID */
};

/* All pointers are borrowed by the object that gets the target, until that is closed. */
struct fathom_target {
    const char *event;  /* several: separated by commas. NULL: cycles, or cpu-clock where there is no PMU */
    const char *filter; /* for tracepoints: a condition on their fields, "bytes > 4096"; NULL: all */
    const char *weight; /* for tracepoints: the field that is a sample's weight, as bytes; NULL: the period */
    uint64_t frequency; /* samples per second; 0: by `period` */
    uint64_t period;    /* events per sample, for clocks ns; both 0: chosen from the event */
    /* What to observe: exactly one of these. With one of the first four, which need CAP_PERFMON and are not for training, a command may be
     * given too; then the observation ends with it. */
    bool everyone; /* all processes of the machine except the caller, without idle time */
    const char
        *cgroup; /* the processes of a cgroup and those below it: its path, absolute or below the mount */
    const char *container;   /* the processes of a container: its ID, the beginning of its ID, or its name */
    struct fathom_user user; /* the processes of a user; also needs CAP_BPF, and compares stacks */
    char *const *command;    /* a command to launch: an argv that ends with NULL */
    struct fathom_pids pids; /* processes, with all their present and future threads, and their children */
    struct fathom_pids tids; /* threads, with the threads and processes that they start */
    bool no_children;        /* only the named processes' threads, not processes that they started or start */
    double duration;         /* seconds, then a launched command gets SIGTERM; 0: to the end */
    uint64_t stack_bytes;    /* size of the stack copy in each sample; 0: none */
    struct fathom_verify verify;
    FATHOM_RESERVED;
};

/* How many of the options that observe all programs on the CPUs are set. */
static inline int fathom_target_wide(const struct fathom_target *target)
{
    return target->everyone + (target->cgroup != NULL) + (target->container != NULL) + target->user.given;
}

#ifdef __cplusplus
}
#endif

#endif
