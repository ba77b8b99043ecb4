/*
 * cgroup_names.h - what a cgroup's path says of who runs in it: a container, a service.
 */
#ifndef FATHOM_PROFILE_CGROUP_NAMES_H
#define FATHOM_PROFILE_CGROUP_NAMES_H

#include <stdbool.h>

#define CGROUP_NAME_SIZE                                                                                     \
    256 /* a component of a path is shorter; of one that is not, as no kernel has it, this much */

/* The innermost container: the 64 hexadecimal digits that end a component, as docker, podman, containerd and CRI-O name them
 * ("docker-ID.scope", "libpod-ID.scope", "cri-containerd-ID.scope", "ID"), by their first 12, as these tools show them; the name of
 * one of LXC ("lxc.payload.NAME"). A container's monitor is not in it. false: none. */
bool cgroup_container(const char *path, char name[CGROUP_NAME_SIZE]);
/* The innermost unit of systemd that has processes: "NAME.service" or "NAME.scope". false: none. */
bool cgroup_service(const char *path, char name[CGROUP_NAME_SIZE]);

#endif
