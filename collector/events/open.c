/* open.c - perf_event_open(2) and its errors; see open.h. */
#include "collector/events/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/events/remedy.h"
#include "perfdata/record.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
    return open_in_group(attr, tid, cpu, -1);
}

static int open_with_flags(struct perf_event_attr *attr, pid_t tid, int cpu, int leader, unsigned long flags)
{
    long fd = syscall(SYS_perf_event_open, attr, tid, cpu, leader, flags | PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

int open_in_group(struct perf_event_attr *attr, pid_t tid, int cpu, int leader)
{
    return open_with_flags(attr, tid, cpu, leader, 0);
}

int open_in_cgroup(struct perf_event_attr *attr, int cgroup, int cpu, int leader)
{
    return open_with_flags(attr, cgroup, cpu, leader, PERF_FLAG_PID_CGROUP);
}

static int probe_event(const struct perf_event_attr *attr, pid_t tid, int cpu, unsigned long flags)
{
    struct perf_event_attr copy = *attr;
    copy.disabled = 1;
    copy.enable_on_exec = 0;
    if (cpu >= 0)
        copy.inherit = 0;
    int fd = open_with_flags(&copy, tid, cpu, -1, flags);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

int open_probe_for(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
    return probe_event(attr, tid, cpu, 0);
}

int open_probe_in(const struct perf_event_attr *attr, int cgroup)
{
    return probe_event(attr, cgroup, 0, PERF_FLAG_PID_CGROUP);
}

int open_with_program(const struct perf_event_attr *attr, int program)
{
    struct perf_event_attr copy = *attr;
    copy.disabled = 1;
    copy.enable_on_exec = 0;
    int fd = open_event(&copy, 0, -1);
    if (fd < 0)
        return fd;
    int rc = ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0 ? 0 : -errno;
    close(fd);
    return rc;
}

int open_probe(const struct perf_event_attr *attr)
{
    return open_probe_for(attr, 0, -1);
}

long open_setting(const char *path, long absent)
{
    FILE *file = fopen(path, "re");
    long value;
    if (!file)
        return absent;
    if (fscanf(file, "%ld", &value) != 1)
        value = absent;
    fclose(file);
    return value;
}

static int refused(struct fathom_error *err, int code, const char *event, const struct perf_event_attr *attr,
                   pid_t tid)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)tid);
    if (tid > 0 && geteuid() != 0 && stat(path, &st) == 0 && st.st_uid != geteuid())
        return error_set(err, code,
                         "process %d belongs to user %u: only that user or root (CAP_PERFMON and "
                         "CAP_SYS_PTRACE) may record it",
                         (int)tid, (unsigned)st.st_uid);
    long paranoid = open_setting(PARANOID, -2);
    if (paranoid == -2)
        return error_set(err, code, "this kernel was built without perf events, or a container hides them");
    if (geteuid() == 0)
        return error_set(err, code,
                         "event '%s' is refused even to root: a container or a security module forbids "
                         "perf_event_open (kernel.perf_event_paranoid is %ld)",
                         event, paranoid);
    if (attr_has_kernel(attr) && attr->type != PERF_TYPE_TRACEPOINT)
        return error_set(
            err, code,
            "sampling '%s' in the kernel is not allowed: kernel.perf_event_paranoid is %ld; leave out "
            "--kernel, run as root, or set it to %d or less ('sysctl kernel.perf_event_paranoid=%d')",
            event, paranoid, PARANOID_KERNEL, PARANOID_KERNEL);
    int needed = attr->exclude_kernel ? PARANOID_USER : PARANOID_TRACEPOINTS;
    return error_set(
        err, code,
        "event '%s' is not allowed: kernel.perf_event_paranoid is %ld; run as root, or set it to "
        "%d or less ('sysctl kernel.perf_event_paranoid=%d')",
        event, paranoid, needed, needed);
}

#define KERNEL_ENOTSUPP                                                                                      \
    524 /* include/linux/errno.h, not in user space: the instruction at a probe is not supported */

/* Whether the error is about a probe's location: the file has no such instruction, or none that can be
 * replaced. */
static bool is_of_place(const struct perf_event_attr *attr, int code)
{
    return attr->type == PERF_TYPE_TRACEPOINT &&
           (code == EINVAL || code == EIO || code == ENOENT || code == EOPNOTSUPP);
}

int open_error(struct fathom_error *err, int code, const char *event, const struct perf_event_attr *attr,
               pid_t tid)
{
    if (is_of_place(attr, code))
        return error_set(
            err, ENOENT,
            "the kernel cannot place event '%s' (%s): if it is a probe, its file was changed since "
            "it was made; delete it ('perf probe -d %s') and make it anew",
            event, strerror(code), event);
    switch (code) {
    case KERNEL_ENOTSUPP:
        return error_set(
            err, EINVAL,
            "the kernel cannot place event '%s': one of the instructions where it is cannot be run "
            "elsewhere; name fewer functions",
            event);
    case ESRCH:
        return error_set(err, code, "process %d does not exist", (int)tid);
    case EACCES:
    case EPERM:
        return refused(err, code, event, attr, tid);
    case EMFILE:
    case ENFILE:
        return error_set(err, code,
                         "too many open files: " REMEDY_FILES "; "
                         "raise the limit ('ulimit -n') or record fewer threads");
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return error_set(err, code,
                         "this machine's CPU has no event '%s' (in a virtual machine: no counters); "
                         "try cpu-clock",
                         event);
    case EBUSY:
        return error_set(err, code, "event '%s' is in use by another profiler or the kernel's watchdog",
                         event);
    case ENOSPC:
        return error_set(err, code, "no hardware breakpoint or counter is left for event '%s'", event);
    default:
        return error_system(err, code, "cannot open event '%s'", event);
    }
}
