/* software.c - the table of software events; see software.h. */
#include "perfdata/software.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

const struct software_event software_events[] = {
    {"cpu-clock", PERF_COUNT_SW_CPU_CLOCK, "time on a CPU, by the CPU's timer"},
    {"task-clock", PERF_COUNT_SW_TASK_CLOCK, "time on a CPU, by the thread's own clock"},
    {"page-faults", PERF_COUNT_SW_PAGE_FAULTS, "page faults of either kind"},
    {"faults", PERF_COUNT_SW_PAGE_FAULTS, NULL},
    {"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, "page faults that did not read from disk"},
    {"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, "page faults that read from disk"},
    {"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, "a thread leaves its CPU"},
    {"cs", PERF_COUNT_SW_CONTEXT_SWITCHES, NULL},
    {"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, "a thread moves to another CPU"},
    {"migrations", PERF_COUNT_SW_CPU_MIGRATIONS, NULL},
    {"cgroup-switches", PERF_COUNT_SW_CGROUP_SWITCHES, "a thread gives its CPU to another control group"},
    {"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS, "unaligned accesses that the kernel handles"},
    {"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS, "instructions that the kernel emulates"},
    {"bpf-output", PERF_COUNT_SW_BPF_OUTPUT, "a BPF program writes"},
    {"dummy", PERF_COUNT_SW_DUMMY, "never happens"},
    {NULL, 0, NULL},
};

const struct software_event *software_find(const char *name)
{
    for (const struct software_event *event = software_events; event->name; event++)
        if (strcmp(name, event->name) == 0)
            return event;
    return NULL;
}

const char *software_name(uint64_t config)
{
    const struct software_event *event = software_events;
    while (event->name && event->config != config)
        event++;
    return event->name;
}
