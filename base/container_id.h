/*
 * container_id.h - the ID of a container in the name of its cgroup.
 */
#ifndef FATHOM_BASE_CONTAINER_ID_H
#define FATHOM_BASE_CONTAINER_ID_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_ID 64 /* hexadecimal digits, in lower case */

/* Whether the text is an ID and nothing else. */
bool container_is_id(const char *text, size_t length);
/* The ID in the name of a directory, which need not end with NUL, as docker, podman, containerd and CRI-O make them with systemd or
 * without: docker-ID.scope, libpod-ID.scope, cri-containerd-ID.scope, kubepods-...slice:cri-containerd:ID, ID. NULL: it has none, or is
 * that of a container's monitor (crio-conmon-ID.scope). */
const char *container_id(const char *name, size_t length);

#endif
