/*
 * attach.h - private to the collector: opens the events on processes and threads that are already running,
 * and on their child processes.
 */
#ifndef FATHOM_COLLECTOR_ATTACH_H
#define FATHOM_COLLECTOR_ATTACH_H

#include "collector/collector_data.h"

/* Adds a process to those that are recorded, without opening events. */
int attach_add(struct collector *collector, struct process process, struct fathom_error *err);
/* Opens the events on a thread. late: as counters_open(). */
int attach_thread(struct collector *collector, pid_t tid, bool late, struct fathom_error *err);
/* Opens the events on everything that the options name, and on its child processes. */
int attach_open(struct collector *collector, struct fathom_error *err);
/* After the events were started: adds processes that were forked after the events of their parents were
 * opened. They inherited the events, but as these did not count yet there is no record of the fork. */
int attach_started(struct collector *collector, struct fathom_error *err);

/* Adds all processes of the machine or of the cgroup, except this one, without opening events. */
int attach_wide(struct collector *collector, struct fathom_error *err);

/* Finds the child processes of everything recorded (the launched command included) that are not recorded
 * themselves. The caller frees *found. */
int attach_children_of(const struct collector *collector, pid_t **found, size_t *count,
                       struct fathom_error *err);

#endif
