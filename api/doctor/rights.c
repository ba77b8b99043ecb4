/* rights.c - the rows about this user's rights and limits; see doctor.h. */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/doctor/doctor.h"
#include "collector/events/remedy.h"
#include "collector/rings/ring.h"

#define EVENTS_OPENED 4      /* per thread or CPU, at most: collector/prepare.c */
#define RATE_DEFAULT  100000 /* the kernel's perf_event_max_sample_rate */

static const struct {
    unsigned number;
    const char *name, *use;
} capabilities[] = {
    {CAP_PERFMON, "CAP_PERFMON", "other users' processes, the kernel, whole CPUs"},
    {CAP_BPF, "CAP_BPF", "comparing stacks"},
    {CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "other users' processes"},
    {CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "all of these on kernels before 5.8"},
    {CAP_SYSLOG, "CAP_SYSLOG", "names of kernel functions"},
};

static bool is_refusal(int rc)
{
    return rc == -EACCES || rc == -EPERM;
}

/* Explains why even a clock in user mode is refused. */
static void add_refused(const struct facts *facts, int rc, struct rows *rows)
{
    long paranoid = facts->settings.paranoid;
    if (paranoid == FACT_NONE) {
        rows_add(rows, "sampling", "sampling", FATHOM_FINDING_FAIL,
                 "impossible: this kernel was built without perf events, or a container hides them");
        rows_costs(rows, "nothing can be recorded");
        rows_mend(rows, "in a container: run fathom on the host, with -p");
        return;
    }
    rows_add(rows, "sampling", "sampling", FATHOM_FINDING_FAIL, "impossible: perf_event_open is refused (%s)",
             strerror(-rc));
    rows_costs(rows, "nothing can be recorded; report, map and the like work on files from elsewhere");
    if (is_refusal(rc) && !facts_privileged(facts) && paranoid > PARANOID_USER) {
        rows_mend(rows, "run as root, or let all users sample their own processes:");
        rows_command(rows, "sudo sysctl kernel.perf_event_paranoid=%d", PARANOID_USER);
    } else if (is_refusal(rc)) {
        rows_mend(rows, "a container or a security module forbids it: run on the host, or allow "
                        "perf_event_open (docker: --security-opt seccomp=unconfined --cap-add PERFMON)");
    }
}

static void add_sampling(const struct doctor_machine *machine, struct rows *rows)
{
    if (machine->tries.user)
        add_refused(&machine->facts, machine->tries.user, rows);
    else
        rows_add(rows, "sampling", "sampling", FATHOM_FINDING_OK, "user mode of %s",
                 facts_privileged(&machine->facts) ? "all processes" : "this user's own processes");
}

/* What a level permits to users without CAP_PERFMON. */
static const char *permitted_by(long paranoid)
{
    if (paranoid <= PARANOID_TRACEPOINTS)
        return "everything, to everyone";
    if (paranoid <= PARANOID_CPUS)
        return "own processes, the kernel and whole CPUs, but no tracepoints' data";
    if (paranoid <= PARANOID_KERNEL)
        return "own processes, in the kernel too, but no whole CPUs";
    return paranoid <= PARANOID_USER ? "own processes, in user mode"
                                     : "nothing on Debian's and Ubuntu's kernels";
}

static void add_paranoid(const struct facts *facts, struct rows *rows)
{
    long paranoid = facts->settings.paranoid;
    if (paranoid == FACT_NONE)
        return;
    bool free = facts_privileged(facts);
    rows_add(rows, "paranoid", "perf_event_paranoid",
             free || paranoid <= PARANOID_USER ? FATHOM_FINDING_OK : FATHOM_FINDING_NOTE, "%ld: %s%s",
             paranoid, permitted_by(paranoid), free ? "; does not bind this user" : "");
}

/* Capabilities belong to the file, so everyone who may run it gets them. */
static void give_capabilities(const struct doctor_machine *machine, struct rows *rows)
{
    if (machine->self_quoted[0])
        rows_command(rows, "sudo setcap cap_perfmon,cap_bpf=ep %s", machine->self_quoted);
}

static void add_user(const struct doctor_machine *machine, struct rows *rows)
{
    const struct facts *facts = &machine->facts;
    char has[160] = "", misses[400] = "";
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        bool can = !facts->user.namespaced && facts->user.capabilities >> capabilities[i].number & 1;
        size_t has_used = strlen(has), misses_used = strlen(misses);
        if (can)
            snprintf(has + has_used, sizeof has - has_used, "%s%s", has_used ? ", " : "",
                     capabilities[i].name);
        else if (capabilities[i].number != CAP_SYS_ADMIN || !facts_kernel_since(facts, 5, 8))
            snprintf(misses + misses_used, sizeof misses - misses_used, "%s%s (%s)", misses_used ? "; " : "",
                     capabilities[i].name, capabilities[i].use);
    }
    rows_add(rows, "capabilities", "capabilities", misses[0] ? FATHOM_FINDING_NOTE : FATHOM_FINDING_OK,
             "user %u has %s", facts->user.id, has[0] ? has : "none that matter");
    if (misses[0])
        rows_costs(rows, "without %s", misses);
    if (!facts_privileged(facts) || !facts_can(facts, CAP_BPF)) {
        rows_mend(rows, "run as root, or give fathom the rights; everyone who may run it then has them:");
        give_capabilities(machine, rows);
    }
    if (facts->user.namespaced || facts->user.filtered) {
        rows_add(rows, "container", "container", FATHOM_FINDING_NOTE, "%s",
                 facts->user.namespaced
                     ? "a user namespace of its own: capabilities in it do not count for perf and BPF"
                     : "system calls are filtered (seccomp), as in containers");
        rows_mend(rows, "if something is refused, run on the host");
    }
}

static void add_cpus(const struct doctor_machine *machine, struct rows *rows)
{
    if (machine->tries.user)
        return;
    if (machine->tries.by_cpu == 0) {
        rows_add(rows, "by-cpu", "whole CPUs", FATHOM_FINDING_OK, "can be sampled");
        return;
    }
    rows_add(rows, "by-cpu", "whole CPUs", FATHOM_FINDING_NOTE, "cannot be sampled, only threads");
    rows_costs(rows, "processes shorter than a period are missed, as each thread counts anew");
    rows_mend(rows, "run as root, or:");
    rows_command(rows, "sudo sysctl kernel.perf_event_paranoid=%d", PARANOID_CPUS);
}

static void add_kernel_samples(const struct doctor_machine *machine, struct rows *rows)
{
    const struct facts *facts = &machine->facts;
    long restricted = facts->settings.kptr_restrict;
    bool allowed = machine->tries.kernel == 0;
    bool names =
        (restricted == 1 && facts_can(facts, CAP_SYSLOG)) ||
        (restricted <= 0 && (facts_can(facts, CAP_SYSLOG) || facts->settings.paranoid <= PARANOID_KERNEL));
    rows_add(rows, "kernel-mode", "kernel mode", allowed ? FATHOM_FINDING_OK : FATHOM_FINDING_NOTE,
             "%s; addresses of its functions are %s", allowed ? "may be sampled" : "may not be sampled",
             names ? "shown" : "hidden");
    if (!allowed) {
        rows_costs(rows, "time in the kernel, and tracepoints in it, cannot be seen");
        rows_mend(rows, "run as root, or:");
        rows_command(rows, "sudo sysctl kernel.perf_event_paranoid=%d", PARANOID_KERNEL);
    }
    if (allowed && restricted > 1) {
        rows_mend(rows, "kernel.kptr_restrict is %ld; addresses are shown to root with:", restricted);
        rows_command(rows, "sudo sysctl kernel.kptr_restrict=1");
    }
}

static void add_program(const struct doctor_machine *machine, struct rows *rows)
{
    const struct tries *tries = &machine->tries;
    if (tries->program == 0) {
        rows_add(rows, "stacks", "comparing stacks", FATHOM_FINDING_OK,
                 "the BPF program loads: paths are those of unwound stacks");
    } else if (is_refusal(tries->program)) {
        rows_add(rows, "stacks", "comparing stacks", FATHOM_FINDING_LIMIT,
                 "the BPF program may not be loaded");
        if (machine->facts.cpu.pmu)
            rows_costs(rows, "by default cycles are sampled 500 times a second, some instructions late, and "
                             "each sample has a copy of its stack; of other events, stacks are read by a "
                             "clock, and paths partly inferred");
        else
            rows_costs(rows, "stacks are read by a clock, and paths partly inferred");
        rows_mend(rows, REMEDY_PROGRAM ":");
        give_capabilities(machine, rows);
    } else {
        rows_add(rows, "stacks", "comparing stacks", FATHOM_FINDING_LIMIT, "%s", tries->program_error.text);
        rows_costs(rows, "stacks are read by a clock, and paths partly inferred");
        rows_mend(rows, "Linux 5.10 or later with CONFIG_BPF_SYSCALL");
    }
    long refused = machine->facts.settings.unprivileged_bpf_disabled;
    rows_add(rows, "bpf", "BPF", refused == FACT_NONE ? FATHOM_FINDING_LIMIT : FATHOM_FINDING_OK,
             "%s; kernel types (BTF) are %s",
             refused == FACT_NONE ? "this kernel has none, or it is hidden"
             : refused > 0        ? "for privileged users alone"
                                  : "for all users, but not for samples",
             machine->facts.settings.btf ? "there" : "not there, and not needed");
    if (tries->tracefs == 0) {
        rows_add(rows, "tracefs", "tracefs", FATHOM_FINDING_OK, "can be read");
        return;
    }
    rows_add(rows, "tracefs", "tracefs", FATHOM_FINDING_NOTE, "cannot be read (%s)",
             strerror(-tries->tracefs));
    rows_costs(rows, "no tracepoints; the first samples of children may have no stack");
    rows_mend(rows, "run as root");
}

static void add_locked(const struct facts *facts, struct rows *rows)
{
    bool free = facts_can(facts, CAP_IPC_LOCK) || facts->settings.paranoid <= PARANOID_TRACEPOINTS;
    free = free && facts->settings.paranoid != FACT_NONE;
    long each = facts->settings.mlock_kb == FACT_NONE ? RING_MLOCK_KB : facts->settings.mlock_kb;
    uint64_t room = ring_room(each, facts->limits.locked, facts->cpu.online),
             page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (free || room == UINT64_MAX) {
        rows_add(rows, "locked-memory", "locked memory", FATHOM_FINDING_OK,
                 "rings of any size (perf_event_mlock_kb is %ld)", each);
        return;
    }
    bool small = room < RING_STACKS + page;
    rows_add(rows, "locked-memory", "locked memory", small ? FATHOM_FINDING_LIMIT : FATHOM_FINDING_OK,
             "%" PRIu64 " KiB for the ring of each CPU (perf_event_mlock_kb %ld, RLIMIT_MEMLOCK %" PRIu64
             " KiB)",
             room >> 10, each, facts->limits.locked >> 10);
    if (!small)
        return;
    rows_costs(rows, "samples are lost more easily when many come at once: %u KiB are wanted",
               (unsigned)(RING_STACKS + page) >> 10);
    rows_mend(rows, REMEDY_RING ":");
    rows_command(rows, "sudo sysctl kernel.perf_event_mlock_kb=%u", (unsigned)(RING_STACKS + page) >> 10);
}

static void add_files(const struct facts *facts, struct rows *rows)
{
    uint64_t most = facts->limits.files_most, each = (uint64_t)EVENTS_OPENED * facts->cpu.online;
    if (most == UINT64_MAX) {
        rows_add(rows, "files", "open files", FATHOM_FINDING_OK, "no limit");
        return;
    }
    bool few = most / each < 100;
    rows_add(rows, "files", "open files", few ? FATHOM_FINDING_LIMIT : FATHOM_FINDING_OK,
             "%" PRIu64 ": enough to attach to about %" PRIu64 " threads at once", most, most / each);
    if (few) {
        rows_costs(rows, REMEDY_FILES);
        rows_mend(rows, "raise the limit:");
        rows_command(rows, "ulimit -n 65536");
    }
}

static void add_rate(const struct facts *facts, struct rows *rows)
{
    long rate = facts->settings.max_sample_rate;
    if (rate == FACT_NONE)
        return;
    bool low = rate < RATE_DEFAULT;
    rows_add(rows, "sample-rate", "sample rate", low ? FATHOM_FINDING_NOTE : FATHOM_FINDING_OK,
             "at most %ld a second on each CPU", rate);
    if (low) {
        rows_costs(rows,
                   "higher frequencies are refused, and faster events throttled: the kernel lowers this if "
                   "interrupts take long (perf_cpu_time_max_percent is %ld)",
                   facts->settings.cpu_time_percent == FACT_NONE ? 0 : facts->settings.cpu_time_percent);
        rows_command(rows, "sudo sysctl kernel.perf_event_max_sample_rate=%d", RATE_DEFAULT);
    }
}

static void add_training(const struct doctor_machine *machine, struct rows *rows)
{
    const struct facts *facts = &machine->facts;
    long scope = facts->settings.ptrace_scope;
    bool free = scope == FACT_NONE || scope <= 0 || (scope < 3 && facts_can(facts, CAP_SYS_PTRACE));
    rows_add(rows, "ptrace", "attaching",
             free         ? FATHOM_FINDING_OK
             : scope == 1 ? FATHOM_FINDING_NOTE
                          : FATHOM_FINDING_LIMIT,
             "%s",
             scope == FACT_NONE ? "not restricted (no Yama)"
             : free             ? "not restricted for this user (yama.ptrace_scope)"
             : scope == 1       ? "to own children alone (yama.ptrace_scope is 1)"
                                : "forbidden (yama.ptrace_scope is 2 or 3)");
    if (!free) {
        rows_costs(
            rows,
            "%s: where stacks begin cannot be read, but for a process's first, and is inferred from samples",
            scope == 1 ? "with -p" : "of all processes");
        rows_mend(rows, scope == 3 ? "3 stays until the next boot: set less before" : "run as root, or:");
        rows_command(rows, "sudo sysctl kernel.yama.ptrace_scope=0");
    }
    bool probes = machine->tries.uprobes == 0;
    rows_add(rows, "uprobes", "uprobes", probes ? FATHOM_FINDING_OK : FATHOM_FINDING_NOTE, "%s",
             probes                       ? "can be created"
             : facts->settings.uprobe_pmu ? "only root may create them"
                                          : "this kernel has none, or tracefs is not there");
    if (!probes) {
        rows_costs(rows,
                   "static and set-user-ID programs are trained by samples, and not all calls are seen");
        rows_mend(rows, "run train as root");
    }
    rows_add(rows, "runtime", "training runtime", machine->runtime ? FATHOM_FINDING_OK : FATHOM_FINDING_LIMIT,
             "%s", machine->runtime ? machine->runtime : "libfathom-probe.so is not found");
    if (!machine->runtime) {
        rows_costs(rows, "train and calls cannot hook a program's functions");
        rows_mend(rows, "reinstall fathom, or set FATHOM_PROBE_LIBRARY to the file");
    }
}

void doctor_rights(const struct doctor_machine *machine, struct rows *rows)
{
    rows->group = "rights";
    add_sampling(machine, rows);
    add_paranoid(&machine->facts, rows);
    add_user(machine, rows);
    add_cpus(machine, rows);
    add_kernel_samples(machine, rows);
    rows->group = "stacks";
    add_program(machine, rows);
    rows->group = "limits";
    add_locked(&machine->facts, rows);
    add_files(&machine->facts, rows);
    add_rate(&machine->facts, rows);
    rows->group = "training";
    add_training(machine, rows);
}

int doctor_verdict(const struct rows *rows, const struct tries *tries)
{
    if (tries->user)
        return tries->user == -EACCES || tries->user == -EPERM ? -EACCES : -ENOSYS;
    const struct fathom_finding *record = rows_find(rows, "record"), *file = rows_find(rows, "file");
    if (record && record->state == FATHOM_FINDING_FAIL)
        return -EACCES;
    return file && file->state == FATHOM_FINDING_FAIL ? -ENOEXEC : 0;
}
