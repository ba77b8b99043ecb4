/* hardware.c - the rows of the kernel, the CPU and its events; see doctor.h. */
#include <errno.h>
#include <string.h>

#include "api/doctor/doctor.h"

#define PRECISE_FIELDS "IP, TID, TIME, registers IP SP BP"

/* What older kernels lack; newest version first. */
static const struct {
    unsigned major, minor;
    const char *costs;
} lacks[] = {
    {6, 1, "comparing stacks takes 30 MB of the kernel's memory"},
    {5, 15, "stacks of page faults and tracepoints cannot be compared"},
    {5, 12, "mappings are recorded without build-ids"},
    {5, 10, "stacks cannot be compared: they are read by a clock"},
};

static void add_kernel(const struct facts *facts, struct rows *rows)
{
    const char *costs = NULL;
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (facts->kernel.major && !facts_kernel_since(facts, lacks[i].major, lacks[i].minor))
            costs = lacks[i].costs;
    rows_add(rows, "kernel", "kernel", costs ? FATHOM_FINDING_LIMIT : FATHOM_FINDING_OK, "Linux %s",
             facts->kernel.release);
    if (costs) {
        rows_costs(rows, "%s", costs);
        rows_mend(rows, "Linux 6.1 or later has all that is used");
    }
}

static void add_lockdown(const struct facts *facts, struct rows *rows)
{
    if (facts->kernel.lockdown == LOCKDOWN_NONE)
        return;
    bool all = facts->kernel.lockdown == LOCKDOWN_CONFIDENTIALITY;
    rows_add(rows, "lockdown", "lockdown", all ? FATHOM_FINDING_LIMIT : FATHOM_FINDING_NOTE,
             "the kernel is locked down (%s)", all ? "confidentiality" : "integrity");
    if (!all)
        return;
    rows_costs(
        rows,
        "no registers at the interrupt, no tracepoints, no reading of the kernel's memory by BPF programs");
    rows_mend(rows, "boot with lockdown=integrity, or without Secure Boot's policy");
}

static void add_cpu(const struct doctor_machine *machine, struct rows *rows)
{
    const struct fact_cpu *cpu = &machine->facts.cpu;
    rows_add(rows, "cpu", "CPU", FATHOM_FINDING_OK, "%s, %u online%s%s",
             cpu->model[0] ? cpu->model : "unknown", cpu->online,
             cpu->kinds == 2  ? ", of two kinds"
             : cpu->kinds > 2 ? ", of three kinds"
                              : "",
             cpu->virtual_machine ? ", in a virtual machine" : "");
    bool known = machine->cpu[0];
    rows_add(rows, "libpfm4", "libpfm4", known || !cpu->pmu ? FATHOM_FINDING_OK : FATHOM_FINDING_LIMIT, "%s",
             known ? machine->cpu : "does not know this CPU");
    if (!known && cpu->pmu) {
        rows_costs(rows, "most of this CPU's own events have no names: aliases (-e cache-miss), raw codes "
                         "(-e r1a8) and the generic events remain");
        rows_mend(rows, "install a newer libpfm4");
    }
}

/* For machines without counters. */
static void add_no_pmu(const struct fact_cpu *cpu, struct rows *rows)
{
    rows_add(rows, "pmu", "hardware events", FATHOM_FINDING_LIMIT, "none: %s",
             cpu->virtual_machine ? "this virtual machine has no PMU"
                                  : "the kernel has no driver for this CPU's PMU");
    rows_costs(rows, "no cycles, no cache misses: record samples cpu-clock, a timer; page faults, "
                     "tracepoints and breakpoints are there");
    if (cpu->virtual_machine)
        rows_mend(rows, "record on the host, or have the hypervisor pass the PMU on (QEMU: -cpu host,pmu=on; "
                        "libvirt: <pmu state='on'/>; VMware: virtual CPU performance counters)");
    else
        rows_mend(rows, "look for 'Performance Events' in the kernel's log (dmesg)");
}

static void add_pmu(const struct doctor_machine *machine, struct rows *rows)
{
    const struct fact_cpu *cpu = &machine->facts.cpu;
    int rc = machine->tries.hardware;
    if (rc == 0) {
        rows_add(rows, "pmu", "hardware events", FATHOM_FINDING_OK, "cycles can be sampled%s%s",
                 cpu->pmu_name[0] ? ": " : "", cpu->pmu_name);
    } else if (!cpu->pmu) {
        add_no_pmu(cpu, rows);
    } else if (rc == -EACCES || rc == -EPERM) {
        rows_add(rows, "pmu", "hardware events", FATHOM_FINDING_LIMIT,
                 "there, but this user may not sample: see below");
        rows_costs(rows, "no cycles, no cache misses");
    } else {
        rows_add(rows, "pmu", "hardware events", FATHOM_FINDING_LIMIT, "there, but cycles are refused: %s",
                 strerror(-rc));
        rows_costs(rows, "no cycles, no cache misses: record samples cpu-clock, a timer");
        rows_mend(rows, rc == -EBUSY ? "end other profilers, or the kernel's watchdog"
                                     : "look for 'Performance Events' in the kernel's log (dmesg)");
    }
    if (cpu->pmu && machine->facts.settings.nmi_watchdog > 0) {
        rows_add(rows, "watchdog", "watchdog", FATHOM_FINDING_NOTE,
                 "the kernel's NMI watchdog has one of the counters");
        rows_costs(rows, "groups of many events may not fit");
        rows_command(rows, "sudo sysctl kernel.nmi_watchdog=0");
    }
}

static void add_batches(const struct doctor_machine *machine, struct rows *rows)
{
    const struct pebs_machine *pebs = &machine->facts.cpu.pebs;
    struct perf_event_attr attr = machine->precise.attr;
    const char *reason = pebs_refusal(&attr, pebs);
    rows_add(rows, "large-pebs", "large PEBS", reason ? FATHOM_FINDING_LIMIT : FATHOM_FINDING_OK, "%s%s",
             reason ? "not for 'record --passive': "
                    : "for 'record --passive' (" PRECISE_FIELDS
                      "); by default each sample interrupts the program, and its stack is compared",
             reason ? reason : "");
    if (reason)
        rows_costs(rows, "the program is interrupted at each sample, as by a timer");
    attr.sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
    const char *data = pebs_refusal(&attr, pebs);
    if (data && !reason) {
        rows_add(rows, "large-pebs-data", "with --data", FATHOM_FINDING_LIMIT, "%s", data);
        rows_costs(rows, "the program is interrupted at each sample");
    }
    /* 47a3aeb39e8d of Linux 6.1, "Fix PEBS timestamps overwritten" */
    bool old = !facts_kernel_since(&machine->facts, 6, 1);
    if ((old || machine->tries.tsc == -ENOTSUP) && pebs->times && !pebs->bare) {
        rows_add(rows, "large-pebs-times", "batch times", FATHOM_FINDING_NOTE,
                 "%s: all samples of a batch have the time at which it was emptied",
                 old ? "this kernel overwrites them (Linux 6.1 does not)"
                     : "the kernel's clock is not the TSC");
        rows_costs(rows,
                   "with --passive, what samples tell of those before and after them in time is less sure");
    }
    rows_add(rows, "large-pebs-lost", "lost by", FATHOM_FINDING_NOTE,
             "a frequency (-F), copies of stacks, call chains, and any other precise event on the CPU that "
             "needs one of them");
}

bool doctor_has_pebs(const struct fact_cpu *cpu)
{
    return cpu->pmu && cpu->pebs.max_precise && strcmp(cpu->vendor, "GenuineIntel") == 0;
}

/* Linux before 6.15 lacks the fix of April 2025. */
static void add_registers(const struct doctor_machine *machine, struct rows *rows)
{
    bool refused = machine->tries.user == 0 && machine->tries.registers != 0;
    bool old = !facts_kernel_since(&machine->facts, 6, 15);
    if (refused) {
        bool wrong = old && doctor_has_pebs(&machine->facts.cpu);
        rows_add(rows, "registers", "registers", wrong ? FATHOM_FINDING_LIMIT : FATHOM_FINDING_NOTE,
                 "those at the interrupt are refused; those of user mode take their place");
        if (wrong)
            rows_costs(rows, "with precise events they may be those of the batch's last sample, and paths "
                             "wrong: give events without ':p'");
    } else if (old && doctor_has_pebs(&machine->facts.cpu)) {
        rows_add(rows, "registers", "user registers", FATHOM_FINDING_NOTE,
                 "of precise events may be those of the interrupt, one set for a batch (mended in April "
                 "2025: Linux 6.15, and stable kernels that have the fix)");
        rows_costs(rows, "nothing to record, which takes the registers of the sample; paths in files of perf "
                         "record --user-regs or --call-graph dwarf with such events may be wrong");
    }
}

static void add_pebs(const struct doctor_machine *machine, struct rows *rows)
{
    const struct fact_cpu *cpu = &machine->facts.cpu;
    if (!doctor_has_pebs(cpu))
        return;
    unsigned format = pebs_format(cpu->pmu_name);
    char text[80] = "format not known from the CPU's name";
    if (format)
        snprintf(text, sizeof text, "format %u%s", format, format >= 4 ? " or later (adaptive records)" : "");
    rows_add(rows, "pebs", "PEBS", FATHOM_FINDING_OK, "precise up to level %u, %s, records %s",
             cpu->pebs.max_precise, text,
             cpu->pebs.bare    ? "without a timestamp and registers"
             : cpu->pebs.times ? "with a timestamp"
                               : "without a timestamp");
    if (machine->precise.attr.size)
        add_batches(machine, rows);
}

static void add_branches(const struct fact_cpu *cpu, struct rows *rows)
{
    if (!cpu->pmu)
        return;
    if (cpu->branches)
        rows_add(rows, "lbr", "branch stack", FATHOM_FINDING_OK, "%ld entries (LBR)", cpu->branches);
    else
        rows_add(rows, "lbr", "branch stack", FATHOM_FINDING_NOTE, "none that the kernel tells of (LBR)");
}

static void add_ibs(const struct fact_cpu *cpu, struct rows *rows)
{
    if (strcmp(cpu->vendor, "AuthenticAMD") != 0)
        return;
    if (cpu->ibs_op) {
        rows_add(rows, "ibs", "IBS", FATHOM_FINDING_OK, "ibs_op%s: precise events of AMD's",
                 cpu->ibs_fetch ? " and ibs_fetch" : "");
        return;
    }
    rows_add(rows, "ibs", "IBS", cpu->pmu ? FATHOM_FINDING_LIMIT : FATHOM_FINDING_NOTE, "none%s",
             cpu->virtual_machine ? " in this virtual machine" : "");
    if (cpu->pmu)
        rows_costs(rows, "no precise events: samples are attributed some instructions late");
}

void doctor_hardware(const struct doctor_machine *machine, struct rows *rows)
{
    rows->group = "machine";
    add_kernel(&machine->facts, rows);
    add_lockdown(&machine->facts, rows);
    add_cpu(machine, rows);
    rows->group = "hardware";
    add_pmu(machine, rows);
    add_pebs(machine, rows);
    add_registers(machine, rows);
    add_branches(&machine->facts.cpu, rows);
    add_ibs(&machine->facts.cpu, rows);
}
