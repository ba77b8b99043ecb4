/*
 * facts.h - what this machine's files say about sampling on it: kernel, CPU, settings, limits, and what this
 * process may do. Everything is read from /proc and /sys, or from copies of them elsewhere; what must be
 * tried out is in tries.h. The rules of settings are those of Documentation/admin-guide/sysctl/kernel.rst and
 * perf-security.rst, and of Debian's and Ubuntu's kernels (perf_event_paranoid above 2).
 */
#ifndef FATHOM_COLLECTOR_CAPABILITY_FACTS_H
#define FATHOM_COLLECTOR_CAPABILITY_FACTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/events/pebs.h"

struct fact_places {
    const char *proc, *sys; /* directories */
};
extern const struct fact_places fact_places_here; /* "/proc", "/sys" */

#define FACT_NONE LONG_MIN /* there is no such setting, or it cannot be read */

enum fact_lockdown {
    LOCKDOWN_NONE, /* or not known */
    LOCKDOWN_INTEGRITY,
    LOCKDOWN_CONFIDENTIALITY,
};

struct fact_kernel {
    char release[80];
    unsigned major, minor; /* 0: unknown */
    enum fact_lockdown lockdown;
};

struct fact_cpu {
    char vendor[32], model[80]; /* "": unknown */
    bool virtual_machine;       /* the CPU says that it has a hypervisor */
    unsigned online;            /* number of CPUs, at least 1 */
    bool pmu;                   /* counters */
    unsigned kinds;             /* of cores that have them */
    char pmu_name[64];          /* the kernel's: "skylake"; "": it has none */
    struct pebs_machine pebs;
    long branches; /* entries of the branch stack (LBR); 0: none */
    bool ibs_op, ibs_fetch;
};

struct fact_user {
    unsigned id;           /* effective */
    uint64_t capabilities; /* effective, bit by number */
    bool namespaced; /* in a user namespace of its own, where capabilities do not count for the kernel */
    bool filtered;   /* system calls are filtered (seccomp), as in most containers */
};

/* FACT_NONE where there is no such setting. */
struct fact_settings {
    long paranoid; /* none: no perf events in this kernel, or they are hidden */
    long kptr_restrict, ptrace_scope, unprivileged_bpf_disabled;
    long mlock_kb, max_sample_rate, cpu_time_percent, nmi_watchdog;
    bool btf;        /* the kernel describes its types */
    bool uprobe_pmu; /* the kernel has uprobes for perf events */
};

struct fact_limits {            /* UINT64_MAX: unlimited */
    uint64_t locked;            /* bytes of locked memory */
    uint64_t files, files_most; /* open files: now, and to which they can be raised */
};

struct facts {
    struct fact_kernel kernel;
    struct fact_cpu cpu;
    struct fact_user user;
    struct fact_settings settings;
    struct fact_limits limits;
};

/* Unreadable facts count as missing. */
void facts_read(const struct fact_places *places, struct facts *out);

/* Whether the process has a capability (CAP_ of linux/capability.h) that counts for the whole machine. CAP_SYS_ADMIN
 * stands for CAP_PERFMON and CAP_BPF. */
bool facts_can(const struct facts *facts, unsigned capability);
/* Whether kernel.perf_event_paranoid does not apply: CAP_PERFMON. */
bool facts_privileged(const struct facts *facts);
bool facts_kernel_since(const struct facts *facts, unsigned major, unsigned minor);

#endif
