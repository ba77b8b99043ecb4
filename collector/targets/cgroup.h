/*
 * cgroup.h - a control group (cgroups(7)): found by its path, and the processes in it and in those below it.
 *
 * Events are counted in groups of the hierarchy that has the controller perf_event: that of cgroup v2, unless perf_event is mounted
 * as one of v1 (tools/perf/util/cgroup.c looks for it in the same way).
 */
#ifndef FATHOM_COLLECTOR_TARGETS_CGROUP_H
#define FATHOM_COLLECTOR_TARGETS_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define CGROUP_MOUNTS "/proc/self/mountinfo"

/* Where that hierarchy is mounted. mounts: a file as CGROUP_MOUNTS. -ENOENT: nowhere. */
int cgroup_root(const char *mounts, char root[PATH_MAX], struct fathom_error *err);

struct cgroup {
    int fd;              /* of its directory, owned; -1: none */
    char path[PATH_MAX]; /* of its directory */
    char root[PATH_MAX]; /* of its hierarchy */
};
#define CGROUP_NONE ((struct cgroup){.fd = -1})

/* Opens a group by its directory's path, absolute or below the root. -ENOENT: there is none; -EINVAL: it is something else. */
int cgroup_open(const char *root, const char *path, struct cgroup *out, struct fathom_error *err);
void cgroup_close(struct cgroup *group);
/* Whether the group still exists. */
bool cgroup_exists(const struct cgroup *group);
/* The kernel's id of the group, and how many groups are above it. false: its hierarchy is v1, or this process
 * does not see all groups above it (cgroup_namespaces(7)). */
bool cgroup_number(const struct cgroup *group, uint64_t *id, uint32_t *level);
/* Calls `use` for a group's directory and those of all groups below it, outer ones first, with the group's
 * id, as in perf's records, and its path from the root on ("/"); stops at a negative return value, which is
 * returned. */
int cgroup_each(const char *root, const char *directory,
                int (*use)(void *context, uint64_t id, const char *path, struct fathom_error *err),
                void *context, struct fathom_error *err);
/* The processes in it and in groups below it, as PIDs of this namespace; the caller frees *pids. */
int cgroup_processes(const struct cgroup *group, pid_t **pids, size_t *count, struct fathom_error *err);

#endif
