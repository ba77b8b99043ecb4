/* settle.c - see settle.h. */
#include "collector/events/settle.h"

#include <errno.h>

#include "collector/events/open.h"

/* Takes the registers at entry to the kernel where those at the interrupt are refused (a kernel that is locked down,
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

/* Linux 5.7, with CONFIG_CGROUP_PERF. */
static void settle_cgroups(struct perf_event_attr *attr, const struct log *log)
{
    struct perf_event_attr other = *attr;
    other.sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
    other.cgroup = 0;
    if ((attr->cgroup || attr->sample_type & PERF_SAMPLE_CGROUP) && open_probe(attr) == -EINVAL &&
        open_probe(&other) != -EINVAL) {
        if (attr->cgroup)
            log_write(log, LOG_NOTE,
                      "this kernel does not record which cgroup a sample is in (Linux 5.7 does)");
        *attr = other;
    }
}

void settle_attrs(struct event *events, size_t count, const struct log *log)
{
    for (size_t i = 0; i < count; i++) {
        struct perf_event_attr *attr = &events[i].attr;
        if (attr->build_id && open_probe(attr) == -EINVAL) {
            attr->build_id = 0;
            if (open_probe(attr) == -EINVAL)
                attr->build_id = 1; /* this was not the cause */
            else
                log_write(log, LOG_NOTE,
                          "this kernel does not record build-ids with mappings (Linux 5.12 does)");
        }
        if (attr->read_format & PERF_FORMAT_LOST && open_probe(attr) == -EINVAL) {
            attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
            if (open_probe(attr) == -EINVAL)
                attr->read_format |= PERF_FORMAT_LOST;
        }
        if (attr->exclude_guest && open_probe(attr) == -EINVAL) {
            attr->exclude_guest = 0;
            if (open_probe(attr) == -EINVAL)
                attr->exclude_guest = 1;
        }
        settle_cgroups(attr, log);
        if (attr->inherit_thread && open_probe(attr) == -EINVAL) {
            attr->inherit_thread = 0;
            if (open_probe(attr) == -EINVAL)
                attr->inherit_thread = 1;
            else
                log_write(log, LOG_WARNING,
                          "this kernel can count no process without those that it starts (Linux 5.13 can): "
                          "they are recorded too");
        }
        settle_registers(attr);
    }
}
