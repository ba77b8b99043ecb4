/*
 * cpus.h - which CPUs are online, by a list such as "0-3,8" (Documentation/admin-guide/cputopology.rst).
 */
#ifndef FATHOM_COLLECTOR_RINGS_CPUS_H
#define FATHOM_COLLECTOR_RINGS_CPUS_H

#include <stddef.h>

#define CPUS_ONLINE "/sys/devices/system/cpu/online"

/* The CPUs' numbers, in the file's order; the caller frees *list. 0, or a negative errno: the file cannot be
 * read (CPUS_ONLINE: nor /proc/stat, as in containers without /sys); -ENODEV: it lists none; -ENOMEM. */
int cpus_online(const char *path, int **list, size_t *count);

#endif
