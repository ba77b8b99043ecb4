/*
 * remedy.h - advice for when the kernel refuses something: shared by the recorder's messages and `fathom
 * doctor`.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_REMEDY_H
#define FATHOM_COLLECTOR_EVENTS_REMEDY_H

/* The largest kernel.perf_event_paranoid at which users without CAP_PERFMON may do this (kernel/events/core.c and
 * include/linux/perf_event.h; above 2: Debian's and Ubuntu's kernels refuse everything). */
enum remedy_paranoid {
    PARANOID_USER = 2,        /* sample their own processes in user mode */
    PARANOID_KERNEL = 1,      /* and in the kernel */
    PARANOID_CPUS = 0,        /* sample whole CPUs */
    PARANOID_TRACEPOINTS = -1 /* and tracepoints; no limit of locked memory */
};

/* Capabilities that loading BPF programs for events takes (Linux 5.8). */
#define REMEDY_PROGRAM "run as root, or give CAP_BPF and CAP_PERFMON"
/* For events on CPUs, whatever runs there. */
#define REMEDY_CPUS                                                                                          \
    "run as root, give CAP_PERFMON, or set kernel.perf_event_paranoid to 0 or less ('sysctl "                \
    "kernel.perf_event_paranoid=0')"
/* For a larger ring. */
#define REMEDY_RING                                                                                          \
    "raise kernel.perf_event_mlock_kb or the limit of locked memory ('ulimit -l'), or run as root"
/* For more open files. */
#define REMEDY_FILES "recording needs a file descriptor per thread, CPU and event"

#endif
