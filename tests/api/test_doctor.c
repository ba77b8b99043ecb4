/* What `fathom doctor` says of machines that are not this one: by copies of their /proc and /sys. */
#include <criterion/criterion.h>

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/doctor/doctor.h"
#include "tests/api/files.h"

#define NOBODY "Uid:\t65534\t65534\t65534\t65534\nCapEff:\t0000000000000000\nSeccomp:\t0\n"
#define ROOT   "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n"
#define LIMITS                                                                                               \
    "Limit                     Soft Limit           Hard Limit           Units     \n"                       \
    "Max open files            1024                 524288               files     \n"                       \
    "Max locked memory         65536                65536                bytes     \n"

static char proc[80], sys[80];

/* A server with a Skylake, for user nobody. */
static void set_up(void)
{
    files_begin();
    snprintf(proc, sizeof proc, "%s/proc", files_root);
    snprintf(sys, sizeof sys, "%s/sys", files_root);
    files_put("proc/cpuinfo",
              "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 85\n"
              "model name\t: Intel(R) Xeon(R) Gold 6130\nflags\t\t: fpu vme hypervisory\n\nprocessor\t: 1\n");
    files_put("proc/self/status", "Name:\tfathom\n" NOBODY);
    files_put("proc/self/limits", LIMITS);
    files_put("proc/self/uid_map", "         0          0 4294967295\n");
    files_put("proc/sys/kernel/osrelease", "6.1.0-31-amd64\n");
    files_put("proc/sys/kernel/perf_event_paranoid", "2\n");
    files_put("proc/sys/kernel/kptr_restrict", "1\n");
    files_put("proc/sys/kernel/perf_event_mlock_kb", "516\n");
    files_put("proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
    files_put("proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
    files_put("proc/sys/kernel/nmi_watchdog", "0\n");
    files_put("proc/sys/kernel/yama/ptrace_scope", "1\n");
    files_put("sys/devices/system/cpu/online", "0-30,32\n");
    files_put("sys/bus/event_source/devices/cpu/type", "4\n");
    files_put("sys/bus/event_source/devices/cpu/caps/max_precise", "3\n");
    files_put("sys/bus/event_source/devices/cpu/caps/pmu_name", "skylake\n");
    files_put("sys/bus/event_source/devices/cpu/caps/branches", "32\n");
    files_put("sys/kernel/btf/vmlinux", "");
    files_put("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
}

TestSuite(doctor, .init = set_up, .fini = files_end);

/* What the kernel answers to nobody. */
static struct doctor_machine machine(void)
{
    struct doctor_machine m = {.cpu = "skx (Intel Skylake X)",
                               .runtime = "/usr/lib/fathom/libfathom-probe.so"};
    m.tries = (struct tries){
        .kernel = -EACCES, .by_cpu = -EACCES, .program = -EPERM, .tracefs = -EACCES, .uprobes = -EACCES};
    struct fathom_error err = {0};
    cr_assert_eq(tries_precise(&m.precise, &err), 0, "%s", err.text);
    return m;
}

static struct rows rows;

static void examine(struct doctor_machine *m)
{
    rows_free(&rows);
    facts_read(&(struct fact_places){proc, sys}, &m->facts);
    doctor_hardware(m, &rows);
    doctor_rights(m, &rows);
    cr_assert(!rows.failed);
}

static void says(const char *id, enum fathom_finding_state state, const char *word)
{
    const struct fathom_finding *row = rows_find(&rows, id);
    cr_assert_not_null(row, "no row %s", id);
    cr_expect_eq(row->state, state, "%s is %d: %s", id, row->state, row->is);
    cr_expect(strstr(row->is, word), "%s: '%s' is not in: %s", id, word, row->is);
    cr_expect(row->state < FATHOM_FINDING_LIMIT || row->costs, "%s does not say what it costs", id);
}

static void mended_by(const char *id, const char *command)
{
    const struct fathom_finding *row = rows_find(&rows, id);
    cr_assert_not_null(row, "no row %s", id);
    cr_assert_not_null(row->command, "%s: no command", id);
    cr_expect_str_eq(row->command, command);
}

Test(doctor, a_plain_user_at_level_2)
{
    struct doctor_machine m = machine();
    examine(&m);
    says("kernel", FATHOM_FINDING_OK, "Linux 6.1.0-31-amd64");
    says("cpu", FATHOM_FINDING_OK, "Gold 6130, 32 online");
    cr_expect_null(strstr(rows_find(&rows, "cpu")->is, "virtual"));
    says("libpfm4", FATHOM_FINDING_OK, "skx");
    says("pmu", FATHOM_FINDING_OK, "skylake");
    says("pebs", FATHOM_FINDING_OK, "level 3, format 3, records with a timestamp");
    says("large-pebs", FATHOM_FINDING_OK, "record --passive");
    says("registers", FATHOM_FINDING_NOTE, "April 2025");
    says("lbr", FATHOM_FINDING_OK, "32 entries");
    says("sampling", FATHOM_FINDING_OK, "own processes");
    says("paranoid", FATHOM_FINDING_OK, "2: own processes, in user mode");
    says("capabilities", FATHOM_FINDING_NOTE, "none that matter");
    says("by-cpu", FATHOM_FINDING_NOTE, "cannot");
    mended_by("by-cpu", "sudo sysctl kernel.perf_event_paranoid=0");
    says("stacks", FATHOM_FINDING_LIMIT, "may not be loaded");
    cr_expect(strstr(rows_find(&rows, "stacks")->costs, "a copy of its stack"));
    says("bpf", FATHOM_FINDING_OK, "types (BTF) are there");
    says("locked-memory", FATHOM_FINDING_LIMIT, "518 KiB for the ring of each CPU");
    mended_by("locked-memory", "sudo sysctl kernel.perf_event_mlock_kb=2052");
    says("files", FATHOM_FINDING_OK, "524288: enough to attach to about 4096 threads");
    says("ptrace", FATHOM_FINDING_NOTE, "own children");
    cr_expect_null(rows_find(&rows, "lockdown"));
    cr_expect_null(rows_find(&rows, "ibs"));
    cr_expect_null(rows_find(&rows, "container"));
    cr_expect_eq(doctor_verdict(&rows, &m.tries), 0);
}

/* As in a virtual machine with kvm-clock. */
Test(doctor, batches_without_times_of_their_own)
{
    struct doctor_machine m = machine();
    examine(&m);
    cr_expect_null(rows_find(&rows, "large-pebs-times"));
    m.tries.tsc = -ENOTSUP;
    examine(&m);
    says("large-pebs-times", FATHOM_FINDING_NOTE, "the time at which it was emptied");
    files_put("sys/bus/event_source/devices/cpu/caps/pmu_name", "haswell\n");
    examine(&m);
    cr_expect_null(rows_find(&rows, "large-pebs-times"), "there are no batches");
    m.tries.tsc = 0;
    files_put("sys/bus/event_source/devices/cpu/caps/pmu_name", "skylake\n");
    files_put("proc/sys/kernel/osrelease", "5.15.0-91-generic\n");
    examine(&m);
    says("large-pebs-times", FATHOM_FINDING_NOTE, "Linux 6.1 does not");
}

/* Debian's kernel refuses all at 3, Ubuntu's at 4. */
Test(doctor, a_plain_user_at_level_3_and_4)
{
    for (int level = 3; level <= 4; level++) {
        struct doctor_machine m = machine();
        char text[8];
        snprintf(text, sizeof text, "%d\n", level);
        files_put("proc/sys/kernel/perf_event_paranoid", text);
        m.tries.user = m.tries.registers = m.tries.hardware = -EACCES;
        examine(&m);
        says("sampling", FATHOM_FINDING_FAIL, "perf_event_open is refused");
        mended_by("sampling", "sudo sysctl kernel.perf_event_paranoid=2");
        says("paranoid", FATHOM_FINDING_NOTE, "nothing");
        says("pmu", FATHOM_FINDING_LIMIT, "may not sample");
        cr_expect_null(rows_find(&rows, "by-cpu"), "nothing more is said where nothing works");
        cr_expect_eq(doctor_verdict(&rows, &m.tries), -EACCES);
    }
}

Test(doctor, the_level_does_not_bind_root)
{
    struct doctor_machine m = machine();
    m.tries = (struct tries){0};
    files_put("proc/sys/kernel/perf_event_paranoid", "4\n");
    files_put("proc/self/status", ROOT);
    examine(&m);
    says("sampling", FATHOM_FINDING_OK, "all processes");
    says("paranoid", FATHOM_FINDING_OK, "does not bind");
    says("capabilities", FATHOM_FINDING_OK, "CAP_PERFMON, CAP_BPF");
    says("stacks", FATHOM_FINDING_OK, "loads");
    says("locked-memory", FATHOM_FINDING_OK, "any size");
    says("kernel-mode", FATHOM_FINDING_OK, "are shown");
    says("ptrace", FATHOM_FINDING_OK, "not restricted for this user");
    cr_expect_eq(doctor_verdict(&rows, &m.tries), 0);
    for (size_t i = 0; i < rows.count; i++)
        cr_expect_neq(rows.at[i].state, FATHOM_FINDING_LIMIT, "%s", rows.at[i].id);
}

/* In a rootless container all capabilities are there, and none counts. */
Test(doctor, root_of_a_namespace)
{
    struct doctor_machine m = machine();
    files_put("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t2\n");
    files_put("proc/self/uid_map", "         0       1000          1\n");
    examine(&m);
    says("capabilities", FATHOM_FINDING_NOTE, "none that matter");
    says("container", FATHOM_FINDING_NOTE, "namespace");
    says("locked-memory", FATHOM_FINDING_LIMIT, "518 KiB");
    m.tries.user = -EPERM;
    files_put("proc/self/uid_map", "         0          0 4294967295\n");
    examine(&m);
    says("container", FATHOM_FINDING_NOTE, "seccomp");
    says("sampling", FATHOM_FINDING_FAIL, "refused");
    cr_expect_null(rows_find(&rows, "sampling")->command, "no setting would help");
}

Test(doctor, no_perf_events_at_all)
{
    struct doctor_machine m = machine();
    char path[160];
    snprintf(path, sizeof path, "%s/sys/kernel/perf_event_paranoid", proc);
    unlink(path);
    m.tries.user = -ENOSYS;
    examine(&m);
    says("sampling", FATHOM_FINDING_FAIL, "without perf events");
    cr_expect_eq(doctor_verdict(&rows, &m.tries), -ENOSYS);
}

Test(doctor, a_virtual_machine_without_counters)
{
    struct doctor_machine m = machine();
    files_put("proc/cpuinfo",
              "vendor_id\t: GenuineIntel\nmodel name\t: Xeon\nflags\t\t: fpu hypervisor lahf_lm\n");
    snprintf(sys, sizeof sys, "%s/none", files_root);
    m.tries.hardware = -ENOENT;
    examine(&m);
    says("cpu", FATHOM_FINDING_OK, "in a virtual machine");
    says("pmu", FATHOM_FINDING_LIMIT, "no PMU");
    cr_expect_null(rows_find(&rows, "pebs"));
    cr_expect_null(rows_find(&rows, "large-pebs"));
    cr_expect_null(rows_find(&rows, "lbr"));
    cr_expect_eq(doctor_verdict(&rows, &m.tries), 0);
}

Test(doctor, what_older_cpus_and_kernels_lack)
{
    struct doctor_machine m = machine();
    files_put("sys/bus/event_source/devices/cpu/caps/pmu_name", "haswell\n");
    files_put("proc/sys/kernel/osrelease", "5.11.0\n");
    examine(&m);
    says("kernel", FATHOM_FINDING_LIMIT, "5.11.0");
    cr_expect(strstr(rows_find(&rows, "kernel")->costs, "build-ids"));
    says("pebs", FATHOM_FINDING_OK, "format 2, records without a timestamp");
    says("large-pebs", FATHOM_FINDING_LIMIT, "no timestamp");
    files_put("sys/bus/event_source/devices/cpu/caps/pmu_name", "icelake\n");
    examine(&m);
    says("pebs", FATHOM_FINDING_OK, "format 4 or later (adaptive");
    says("large-pebs", FATHOM_FINDING_OK, "record --passive");
    says("large-pebs-data", FATHOM_FINDING_LIMIT, "weights");
    files_put("proc/sys/kernel/osrelease", "6.15.0\n");
    files_put("sys/bus/event_source/devices/cpu/caps/pmu_name", "not_yet_made\n");
    examine(&m);
    says("kernel", FATHOM_FINDING_OK, "6.15");
    says("pebs", FATHOM_FINDING_OK, "not known");
    cr_expect_null(rows_find(&rows, "registers"), "the fault is mended");
    cr_expect_null(rows_find(&rows, "large-pebs-data"));
}

Test(doctor, a_kernel_that_is_locked_down)
{
    struct doctor_machine m = machine();
    files_put("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
    m.tries.registers = -EPERM;
    examine(&m);
    says("lockdown", FATHOM_FINDING_LIMIT, "confidentiality");
    says("registers", FATHOM_FINDING_LIMIT, "are refused");
    files_put("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    examine(&m);
    says("lockdown", FATHOM_FINDING_NOTE, "integrity");
}

Test(doctor, amd_and_hybrid_cpus)
{
    struct doctor_machine m = machine();
    files_put("proc/cpuinfo", "vendor_id\t: AuthenticAMD\nmodel name\t: EPYC\nflags\t\t: fpu\n");
    files_put("sys/bus/event_source/devices/ibs_op/type", "9\n");
    examine(&m);
    says("ibs", FATHOM_FINDING_OK, "ibs_op");
    cr_expect_null(rows_find(&rows, "pebs"));
    files_put("proc/cpuinfo", "vendor_id\t: GenuineIntel\nmodel name\t: i7\nflags\t\t: fpu\n");
    char path[160];
    snprintf(path, sizeof path, "%s/bus/event_source/devices/cpu", sys);
    char moved[168];
    snprintf(moved, sizeof moved, "%s_core", path);
    cr_assert_eq(rename(path, moved), 0);
    files_put("sys/bus/event_source/devices/cpu_atom/type", "10\n");
    examine(&m);
    says("cpu", FATHOM_FINDING_OK, "of two kinds");
    files_put("sys/bus/event_source/devices/cpu_lowpower/type", "11\n");
    examine(&m);
    says("cpu", FATHOM_FINDING_OK, "of three kinds");
    says("pebs", FATHOM_FINDING_OK, "level 3");
}

Test(doctor, settings_that_restrict)
{
    struct doctor_machine m = machine();
    files_put("proc/sys/kernel/perf_event_max_sample_rate", "12500\n");
    files_put("proc/sys/kernel/yama/ptrace_scope", "3\n");
    files_put("proc/sys/kernel/kptr_restrict", "2\n");
    files_put("proc/sys/kernel/nmi_watchdog", "1\n");
    files_put("proc/self/limits",
              "Max open files            1024                 1024                 files     \n");
    m.runtime = NULL;
    m.tries.kernel = 0;
    m.tries.hardware = -EBUSY;
    examine(&m);
    says("sample-rate", FATHOM_FINDING_NOTE, "12500");
    says("ptrace", FATHOM_FINDING_LIMIT, "forbidden");
    says("kernel-mode", FATHOM_FINDING_OK, "hidden");
    mended_by("kernel-mode", "sudo sysctl kernel.kptr_restrict=1");
    says("watchdog", FATHOM_FINDING_NOTE, "one of the counters");
    says("files", FATHOM_FINDING_LIMIT, "1024: enough to attach to about 8 threads");
    says("locked-memory", FATHOM_FINDING_OK, "any size");
    says("runtime", FATHOM_FINDING_LIMIT, "not found");
    says("pmu", FATHOM_FINDING_LIMIT, "refused");
}

/* Files that are empty, too long, or not what they should be. */
Test(doctor, nonsense)
{
    static char much[40000];
    static const char *const files[] = {"proc/cpuinfo",
                                        "proc/self/status",
                                        "proc/self/limits",
                                        "proc/self/uid_map",
                                        "proc/sys/kernel/osrelease",
                                        "proc/sys/kernel/perf_event_paranoid",
                                        "sys/devices/system/cpu/online",
                                        "sys/bus/event_source/devices/cpu/caps/pmu_name",
                                        "sys/bus/event_source/devices/cpu/caps/max_precise",
                                        "sys/kernel/security/lockdown"};
    const char *texts[] = {
        "", "\n\n\n", "99999999999999999999999", "0-4294967295,0-99999999999", "Uid\nCapEff:\nflags", much};
    memset(much, ':', sizeof much - 1);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        struct doctor_machine m = machine();
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
            files_put(files[i], texts[t]);
        examine(&m);
        cr_expect_not_null(rows_find(&rows, "sampling"));
        cr_expect_geq(m.facts.cpu.online, 1);
    }
}
