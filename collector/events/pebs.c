/* pebs.c - whether an event gets large PEBS; see pebs.h. */
#include "collector/events/pebs.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* PERF_REG_X86_AX to _FLAGS and _R8 to _R15 (arch/x86/include/uapi/asm/perf_regs.h): the registers in a
 * record. */
#define RECORD_REGISTERS (UINT64_C(0x3ff) | UINT64_C(0xff) << 16)

/* The fields that the kernel can fill from a record alone. TIME and WEIGHT depend on the machine. */
#define RECORD_FIELDS                                                                                        \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |                \
     PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TRANSACTION |       \
     PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_REGS_INTR |       \
     PERF_SAMPLE_REGS_USER)

unsigned pebs_format(const char *pmu_name)
{
    /* Names from intel_pmu_init() of arch/x86/events/intel/core.c; formats from IA32_PERF_CAPABILITIES, bits
     * 8 to 11 (Intel SDM volume 3, "PEBS record format"). CPUs before Nehalem, and Atoms before Goldmont,
     * count as 1. */
    static const struct {
        const char *name;
        unsigned format;
    } known[] = {
        {"core", 1},
        {"core2", 1},
        {"nehalem", 1},
        {"westmere", 1},
        {"sandybridge", 1},
        {"ivybridge", 1},
        {"bonnell", 1},
        {"silvermont", 2},
        {"airmont", 2},
        {"knights-landing", 2},
        {"knights_mill", 2},
        {"haswell", 2},
        {"broadwell", 2},
        {"skylake", 3},
        {"goldmont", 3},
        {"goldmont_plus", 3},
        {"icelake", 4},
        {"icelake_hybrid", 4},
        {"sapphire_rapids", 4},
        {"alderlake_hybrid", 4},
        {"Tremont", 4},
        {"tremont", 4},
        {"gracemont", 4},
        {"granite_rapids", 5},
        {"meteorlake_hybrid", 4},
        {"lunarlake_hybrid", 5},
    };
    for (size_t i = 0; pmu_name && i < sizeof known / sizeof *known; i++)
        if (strcmp(pmu_name, known[i].name) == 0)
            return known[i].format;
    return 0;
}

bool pebs_weights(const char *release)
{
    unsigned major;
    return sscanf(release, "%u", &major) == 1 && major >= 6;
}

/* Whether an event is refused if it has a register that only full records contain (XMM0):
 * PERF_PMU_CAP_EXTENDED_REGS, which intel_pebs_init() sets together with the fields that a batch may have. */
static bool refuses_more(const struct pmus *pmus, long type)
{
    struct perf_event_attr attr = {.type = (__u32)type,
                                   .config = 0x3c,
                                   .size = PERF_ATTR_SIZE_VER5,
                                   .sample_period = 1u << 24,
                                   .sample_type = PERF_SAMPLE_REGS_INTR,
                                   .sample_regs_intr = UINT64_C(3) << 32,
                                   .precise_ip = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .disabled = 1};
    if (!pmus->probe)
        return false;
    int rc = pmus->probe(&attr);
    attr.sample_regs_intr = UINT64_C(1) << 6;
    return (rc == -EOPNOTSUPP || rc == -EINVAL) && pmus->probe(&attr) == 0;
}

/* false: the PMU has no PEBS. */
static bool read_unit(const struct pmus *pmus, const char *unit, struct pebs_machine *out)
{
    char name[64];
    long most = pmus_number(pmus, unit, "caps/max_precise", 0), type = pmus_type(pmus, unit);
    if (most <= 0)
        return false;
    unsigned format = pebs_format(pmus_text(pmus, unit, "caps/pmu_name", name, sizeof name) ? name : NULL);
    out->max_precise = (unsigned)most;
    out->times = format == 0 || format >= 3;
    out->bare = (format == 0 || format >= 4) && refuses_more(pmus, type);
    return true;
}

static struct pebs_machine machine_without(const struct pmus *pmus)
{
    struct utsname host;
    if (pmus->release)
        return (struct pebs_machine){.weights = pebs_weights(pmus->release)};
    return (struct pebs_machine){.weights = uname(&host) == 0 && pebs_weights(host.release)};
}

void pebs_machine_of(const struct pmus *pmus, struct pebs_machine *out)
{
    *out = machine_without(pmus);
    for (size_t i = 0; pmus_cores[i] && !read_unit(pmus, pmus_cores[i], out); i++)
        ;
}

void pebs_machine_for(const struct pmus *pmus, const struct perf_event_attr *attr, struct pebs_machine *out)
{
    /* On hybrid CPUs, generic events have the PMU's type in the upper half of the config, or are for the fast
     * cores. */
    long type = attr->type;
    if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE)
        type = attr->config >> 32 ? (long)(attr->config >> 32) : PERF_TYPE_RAW;
    *out = machine_without(pmus);
    for (size_t i = 0; pmus_cores[i]; i++)
        if (pmus_type(pmus, pmus_cores[i]) == type && read_unit(pmus, pmus_cores[i], out))
            return;
}

void pebs_machine(struct pebs_machine *out)
{
    pebs_machine_of(&pmus_here, out);
}

static const char *field_refusal(const struct perf_event_attr *attr, const struct pebs_machine *machine)
{
    const uint64_t type = attr->sample_type;
    if (type & PERF_SAMPLE_STACK_USER)
        return "copies of the stack are made at an interrupt";
    if (type & PERF_SAMPLE_CALLCHAIN)
        return "call chains are walked at an interrupt";
    if (type & PERF_SAMPLE_TIME && attr->use_clockid)
        return "another clock's time is read at an interrupt";
    if (machine->bare && type & (PERF_SAMPLE_ADDR | PERF_SAMPLE_TIME | PERF_SAMPLE_DATA_SRC |
                                 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR))
        return "this CPU's PEBS records have neither time nor registers (in a virtual machine: the "
               "hypervisor "
               "does not pass them on)";
    if (type & PERF_SAMPLE_TIME && !machine->times)
        return "this CPU's PEBS records have no timestamp (those of Skylake and later do)";
    if (type & PERF_SAMPLE_WEIGHT_TYPE && !machine->weights)
        return "this kernel reads weights at an interrupt (Linux 6.0 does not)";
    if (type & ~(uint64_t)(RECORD_FIELDS | PERF_SAMPLE_TIME | PERF_SAMPLE_WEIGHT_TYPE))
        return "a field of the sample is not in the CPU's PEBS records";
    if (type & PERF_SAMPLE_REGS_USER && !attr->exclude_kernel)
        return "user registers of samples in the kernel are read at an interrupt";
    if ((type & PERF_SAMPLE_REGS_USER && attr->sample_regs_user & ~RECORD_REGISTERS) ||
        (type & PERF_SAMPLE_REGS_INTR && attr->sample_regs_intr & ~RECORD_REGISTERS))
        return "a register of the sample is not in the CPU's PEBS records";
    return NULL;
}

const char *pebs_refusal(const struct perf_event_attr *attr, const struct pebs_machine *machine)
{
    if (machine->max_precise == 0)
        return "this CPU has no PEBS";
    if (attr->precise_ip == 0)
        return "the event is not precise (':p' after its name makes it so)";
    if (attr->freq)
        return "a frequency is kept by adjusting the period at an interrupt; give a period (-c)";
    if (attr->wakeup_events && !attr->watermark)
        return "a wake-up after a number of samples was requested";
    return field_refusal(attr, machine);
}
