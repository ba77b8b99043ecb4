/*
 * event_name.c - makes names for events that a recording does not name, from the attr alone
 * (include/uapi/linux/perf_event.h; spelled as tools/perf/util/evsel.c does).
 */
#include <stdio.h>

#include "perfdata/head.h"

static const char *const software[] = {
    [PERF_COUNT_SW_CPU_CLOCK] = "cpu-clock",
    [PERF_COUNT_SW_TASK_CLOCK] = "task-clock",
    [PERF_COUNT_SW_PAGE_FAULTS] = "page-faults",
    [PERF_COUNT_SW_CONTEXT_SWITCHES] = "context-switches",
    [PERF_COUNT_SW_CPU_MIGRATIONS] = "cpu-migrations",
    [PERF_COUNT_SW_PAGE_FAULTS_MIN] = "minor-faults",
    [PERF_COUNT_SW_PAGE_FAULTS_MAJ] = "major-faults",
    [PERF_COUNT_SW_ALIGNMENT_FAULTS] = "alignment-faults",
    [PERF_COUNT_SW_EMULATION_FAULTS] = "emulation-faults",
    [PERF_COUNT_SW_DUMMY] = "dummy",
    [PERF_COUNT_SW_BPF_OUTPUT] = "bpf-output",
};

static const char *const hardware[] = {
    [PERF_COUNT_HW_CPU_CYCLES] = "cycles",
    [PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
    [PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
    [PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
    [PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
    [PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
    [PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
    [PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
    [PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
    [PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

void event_default_name(const struct perf_event_attr *attr, char *out, size_t size)
{
    const char *name = NULL;
    if (attr->type == PERF_TYPE_SOFTWARE && attr->config < sizeof software / sizeof *software)
        name = software[attr->config];
    else if (attr->type == PERF_TYPE_HARDWARE && attr->config < sizeof hardware / sizeof *hardware)
        name = hardware[attr->config];
    if (attr_is_waits(attr))
        name = EVENT_WAITS_NAME;
    if (attr_is_wakeups(attr))
        name = EVENT_WAKEUPS_NAME;
    const char *where = "";
    if (attr->exclude_kernel && !attr->exclude_user)
        where = ":u";
    else if (attr->exclude_user && !attr->exclude_kernel)
        where = ":k";
    if (name)
        snprintf(out, size, "%s%s", name, where);
    else
        snprintf(out, size, "type %u config 0x%llx%s", attr->type, (unsigned long long)attr->config, where);
}
