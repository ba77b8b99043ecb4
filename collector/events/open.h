/*
 * open.h - the only caller of perf_event_open(2), and explanations of its errors.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_OPEN_H
#define FATHOM_COLLECTOR_EVENTS_OPEN_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* The largest attr that Debian 12's perf reads (PERF_ATTR_SIZE_VER7): newer fields are not used. */
#define OPEN_ATTR_SIZE 128

/* A file descriptor (close-on-exec) or a negative errno. attr->size must be at most OPEN_ATTR_SIZE. tid 0:
 * the caller; cpu -1: any. */
int open_event(struct perf_event_attr *attr, pid_t tid, int cpu);
/* The same, in the group of the event `leader`, a descriptor; -1: none. */
int open_in_group(struct perf_event_attr *attr, pid_t tid, int cpu, int leader);
/* The same for what runs on a CPU in a cgroup (the descriptor of its directory) and those below it. */
int open_in_cgroup(struct perf_event_attr *attr, int cgroup, int cpu, int leader);
/* Whether the kernel accepts a BPF program (a descriptor) on such an event: 0, or a negative errno. */
int open_with_program(const struct perf_event_attr *attr, int program);
/* Whether the kernel accepts this event for the calling thread. 0 or a negative errno. */
int open_probe(const struct perf_event_attr *attr);
/* The same for another thread, or for a CPU. */
int open_probe_for(const struct perf_event_attr *attr, pid_t tid, int cpu);
/* The same for a cgroup. */
int open_probe_in(const struct perf_event_attr *attr, int cgroup);
/* Sets the message for a failed open_event(). Returns -code. */
int open_error(struct fathom_error *err, int code, const char *event, const struct perf_event_attr *attr,
               pid_t tid);

/* Reads a number from a file such as /proc/sys/kernel/perf_event_paranoid; `absent` if that fails. */
long open_setting(const char *path, long absent);

#endif
