/* cgroup_names.h - which container or service a cgroup's path belongs to. */
#ifndef FATHOM_PROFILE_CGROUP_NAMES_H
#define FATHOM_PROFILE_CGROUP_NAMES_H

#include <stdbool.h>

/* longer than any component of a path in the kernel; a longer one is truncated */
#define CGROUP_NAME_SIZE 256

/* The innermost container: if a component ends in 64 hexadecimal digits, as with docker, podman, containerd and CRI-O
 * ("docker-ID.scope", "libpod-ID.scope", "cri-containerd-ID.scope", "ID"), their first 12, as these tools show them; or the
 * name of an LXC container ("lxc.payload.NAME"). A container's monitor does not count. false: none. */
bool cgroup_container(const char *path, char name[CGROUP_NAME_SIZE]);
/* The innermost systemd unit that has processes: "NAME.service" or "NAME.scope". false: none. */
bool cgroup_service(const char *path, char name[CGROUP_NAME_SIZE]);

#endif
