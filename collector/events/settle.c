/* settle.c - see settle.h. */
#include "collector/events/settle.h"

#include <errno.h>

#include "collector/events/open.h"

/* Uses the registers at entry to the kernel where those at the interrupt are refused (a locked-down kernel,
 * security/security.c, LOCKDOWN_PERF): in user mode they are the same. */
static void settle_registers(struct perf_event_attr *attr)
{
    struct perf_event_attr other = *attr;
    if (!(attr->sample_type & PERF_SAMPLE_REGS_INTR) || !attr->exclude_kernel)
        return;
    int rc = open_probe(attr);
    if (rc != -EACCES && rc != -EPERM && rc != -EINVAL)
        return;
    other.sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_INTR;
    other.sample_type |= PERF_SAMPLE_REGS_USER;
    other.sample_regs_user = attr->sample_regs_intr;
    other.sample_regs_intr = 0;
    if (open_probe(&other) == 0)
        *attr = other;
}

/* Switches to attributes without a feature that the kernel may lack, if that is what makes it refuse them.
 * has: whether they have the feature. */
static bool settle_without(struct perf_event_attr *attr, bool has, const struct perf_event_attr *without)
{
    if (!has || open_probe(attr) != -EINVAL || open_probe(without) == -EINVAL)
        return false;
    *attr = *without;
    return true;
}

static void settle_attr(struct perf_event_attr *attr, const struct log *log)
{
    struct perf_event_attr without = *attr;
    without.build_id = 0;
    if (settle_without(attr, attr->build_id, &without))
        log_write(log, LOG_NOTE, "this kernel does not record build-ids with mappings (Linux 5.12 does)");
    without = *attr;
    without.read_format &= ~(uint64_t)PERF_FORMAT_LOST;
    settle_without(attr, attr->read_format & PERF_FORMAT_LOST, &without);
    without = *attr;
    without.exclude_guest = 0;
    settle_without(attr, attr->exclude_guest, &without);
    without = *attr; /* cgroups: Linux 5.7, with CONFIG_CGROUP_PERF */
    without.sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
    without.cgroup = 0;
    const bool cgroups = attr->cgroup;
    if (settle_without(attr, cgroups || attr->sample_type & PERF_SAMPLE_CGROUP, &without) && cgroups)
        log_write(log, LOG_NOTE, "this kernel does not record which cgroup a sample is in (Linux 5.7 does)");
    without = *attr;
    without.inherit_thread = 0;
    if (settle_without(attr, attr->inherit_thread, &without))
        log_write(log, LOG_WARNING,
                  "this kernel can count no process without those that it starts (Linux 5.13 can): "
                  "they are recorded too");
    settle_registers(attr);
}

void settle_attrs(struct event *events, size_t count, const struct log *log)
{
    for (size_t i = 0; i < count; i++)
        settle_attr(&events[i].attr, log);
}
