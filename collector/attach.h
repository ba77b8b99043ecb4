/*
 * attach.h - private to the collector: opens the events on processes and threads that run already, with the processes that they
 * have started.
 */
#ifndef FATHOM_COLLECTOR_ATTACH_H
#define FATHOM_COLLECTOR_ATTACH_H

#include "collector/collector_data.h"

/* Adds one to those that are recorded, without opening anything. */
int attach_add(struct collector *collector, struct process process, struct fathom_error *err);
/* Opens the events on a thread. late: as counters_open(). */
int attach_thread(struct collector *collector, pid_t tid, bool late, struct fathom_error *err);
/* Opens them on all that the options name, and on their children. */
int attach_open(struct collector *collector, struct fathom_error *err);
/* Once the events have been started: adds the processes that were started after their parents' events were opened. They
 * have inherited these, but as the events did not count yet, no record tells of them. */
int attach_started(struct collector *collector, struct fathom_error *err);

/* Adds all processes that run, or run in the cgroup, but this one, without opening anything. */
int attach_wide(struct collector *collector, struct fathom_error *err);

/* What was started by the processes that are recorded (the launched command too), and is not recorded itself. *found is
 * owned by the caller (free). */
int attach_children_of(const struct collector *collector, pid_t **found, size_t *count,
                       struct fathom_error *err);

#endif
