/* pebs.c - whether an event gets large PEBS; see pebs.h. */
#include "collector/events/pebs.h"

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

bool pebs_times(const char *pmu_name)
{
    static const char *const older[] = {"core",       "nehalem", "westmere",        "sandybridge",
                                        "ivybridge",  "haswell", "broadwell",       "bonnell",
                                        "silvermont", "airmont", "knights-landing", "knights_mill"};
    for (size_t i = 0; pmu_name && i < sizeof older / sizeof *older; i++)
        if (strcmp(pmu_name, older[i]) == 0)
            return false;
    return true;
}

bool pebs_weights(const char *release)
{
    unsigned major;
    return sscanf(release, "%u", &major) == 1 && major >= 6;
}

void pebs_machine_of(const struct pmus *pmus, struct pebs_machine *out)
{
    static const char *const units[] = {"cpu", PMUS_CORE};
    *out = (struct pebs_machine){0};
    for (size_t i = 0; i < sizeof units / sizeof *units && !out->max_precise; i++) {
        long most = pmus_number(pmus, units[i], "caps/max_precise", 0);
        if (most <= 0)
            continue;
        char path[512], name[64] = "";
        out->max_precise = (unsigned)most;
        snprintf(path, sizeof path, "%s/%s/caps/pmu_name", pmus->devices, units[i]);
        FILE *file = fopen(path, "re");
        bool known = file && fscanf(file, "%63s", name) == 1;
        if (file)
            fclose(file);
        out->times = pebs_times(known ? name : NULL);
    }
    struct utsname host;
    if (pmus->release)
        out->weights = pebs_weights(pmus->release);
    else
        out->weights = uname(&host) == 0 && pebs_weights(host.release);
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
