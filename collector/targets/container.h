/*
 * container.h - finds the control group of a container, by its ID or name. No runtime is asked: the ID is in the name of the group's
 * directory, and names are in files that runtimes keep.
 */
#ifndef FATHOM_COLLECTOR_TARGETS_CONTAINER_H
#define FATHOM_COLLECTOR_TARGETS_CONTAINER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/container_id.h"
#include "base/error.h"

/* Formats of runtimes' files with the containers' names. */
enum container_file {
    CONTAINER_DOCKER,     /* config.v2.json: one container */
    CONTAINER_PODMAN,     /* containers.json: a list */
    CONTAINER_CONTAINERD, /* config.json: one container, in a directory named by its ID */
};
/* The ID of the container with this name in such a file. path: of the file. false: the file does not
 * have it. */
bool container_named(enum container_file kind, const char *path, const char *text, size_t size,
                     const char *name, char id[CONTAINER_ID + 1]);

/* Finds a container below `root` (cgroup_root()). wanted: an ID, the beginning of one, or a name, looked up
 * in files below `state` ("/"). -ENOENT: there is none; -EEXIST: there are several. */
int container_find(const char *root, const char *state, const char *wanted, char path[PATH_MAX],
                   struct fathom_error *err);

#endif
