/* How `fathom doctor --hardware` judges what it recorded, and what it says is not available, on machines that are not this one. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/doctor/trial.h"
#include "tests/api/files.h"

static char proc[80], devices[96];

static void set_up(void)
{
    files_begin();
    snprintf(proc, sizeof proc, "%s/proc", files_root);
    snprintf(devices, sizeof devices, "%s/devices", files_root);
    mkdir(proc, 0700);
    mkdir(devices, 0700);
    setenv("LIBPFM_FORCE_PMU", "none", 1);
}

TestSuite(trial, .init = set_up, .fini = files_end);

static const struct hardware_trial *find(const char *id)
{
    for (size_t i = 0; i < trial_count; i++)
        if (strcmp(hardware_trials[i].id, id) == 0)
            return &hardware_trials[i];
    cr_assert_fail("no check %s", id);
    return NULL;
}

static void judged(const char *id, struct trial_seen seen, enum trial_state state, const char *word)
{
    struct trial_verdict verdict;
    const struct hardware_trial *trial = find(id);
    trial->judge(trial, &seen, &verdict);
    cr_expect_eq(verdict.state, state, "%s is %s: %s", id, trial_states[verdict.state], verdict.why);
    cr_expect(strstr(verdict.why, word), "%s: '%s' is not in: %s", id, word, verdict.why);
}

static struct trial_seen paths(uint64_t proved, uint64_t first, uint64_t astray)
{
    return (struct trial_seen){.precise = 3,
                               .samples = 2100,
                               .steps = 2000,
                               .proved = proved,
                               .by_way = {first, proved - first - astray},
                               .astray = astray};
}

Test(trial, paths)
{
    judged("precise-compared", paths(1990, 663, 0), TRIAL_RIGHT, "99.5% have a proved path");
    judged("precise-compared", paths(1600, 530, 0), TRIAL_RIGHT, "80.0%");
    judged("precise-compared", paths(1400, 467, 0), TRIAL_WRONG,
           "70.0% have a proved path (right: at least 75%)");
    judged("precise-compared", paths(1990, 663, 1), TRIAL_WRONG, "1 by ways that do not exist");
    judged("precise-compared", paths(1990, 995, 0), TRIAL_WRONG,
           "50.0% by the first caller (right: 33.3% +- 5.7)");
    judged("precise-compared", (struct trial_seen){.precise = 3, .steps = 20}, TRIAL_WRONG,
           "only 20 samples");
    struct trial_seen late = paths(1990, 663, 0);
    late.precise = 0;
    judged("precise-compared", late, TRIAL_WRONG, "not precise");
    judged("clock-compared", late, TRIAL_RIGHT, "proved");
    judged("cycles-unwound", late, TRIAL_RIGHT, "proved");
    judged("clock-unwound", (struct trial_seen){.samples = 2000, .steps = 2000}, TRIAL_WRONG, "0.0%");
}

Test(trial, interrupts)
{
    const struct trial_seen single = {
        .precise = 3, .samples = 3000, .timed = 3000, .counted = true, .interrupts = 3010};
    struct trial_seen batches = single, uncounted = single, untimed;
    batches.interrupts = 12;
    untimed = batches;
    untimed.timed = 20;
    uncounted.counted = false;
    judged("interrupts", single, TRIAL_RIGHT, "3000 samples with 3010 interrupts");
    judged("interrupts", batches, TRIAL_WRONG, "about as many");
    judged("batches", single, TRIAL_WRONG, "1.0 for each");
    judged("batches", batches, TRIAL_RIGHT, "250.0 for each");
    judged("batches-data", batches, TRIAL_RIGHT, "250.0 for each");
    judged("batches", untimed, TRIAL_WRONG, "0.7% with a time of their own");
    judged("batches", uncounted, TRIAL_WRONG, "/proc/interrupts");
    batches.precise = 0;
    judged("batches", batches, TRIAL_WRONG, "not precise");
    batches.interrupts = 0; /* counted by nobody */
    judged("interrupts", batches, TRIAL_WRONG, "0 interrupts");
}

Test(trial, data)
{
    const struct trial_seen good = {.precise = 2, .samples = 1000, .addressed = 980, .slow = 1000};
    struct trial_seen fast = good, elsewhere = good;
    fast.slow = 900;
    elsewhere.addressed = 500;
    judged("load-latency", good, TRIAL_RIGHT, "98.0% have an address");
    judged("load-latency", fast, TRIAL_WRONG, "90.0% took 64 cycles or more (right: at least 95%)");
    judged("dtlb-miss", fast, TRIAL_RIGHT, "98.0%");
    judged("cache-miss", elsewhere, TRIAL_WRONG, "50.0%");
    judged("l1-miss", (struct trial_seen){0}, TRIAL_WRONG, "only 0 samples");
}

static int takes_all(const struct perf_event_attr *attr)
{
    (void)attr;
    return 0;
}

/* As where PEBS records have no baseline. */
static int takes_no_vectors(const struct perf_event_attr *attr)
{
    return attr->precise_ip && attr->sample_regs_intr >> 32 ? -EOPNOTSUPP : 0;
}

static int (*probe)(const struct perf_event_attr *attr) = takes_all;

/* The reason; "": it is possible. */
static const char *absent(const char *id, const struct doctor_machine *machine)
{
    const struct pmus pmus = {devices, probe, "6.8.0"};
    const char *reason = trial_absent(find(id), machine, &pmus);
    return reason ? reason : "";
}

/* Root on a Granite Rapids. */
static struct doctor_machine machine(void)
{
    files_put("devices/cpu/type", "4\n");
    files_put("devices/cpu/caps/pmu_name", "granite_rapids\n");
    files_put("devices/cpu/caps/max_precise", "3\n");
    files_put("devices/cpu/format/event", "config:0-7\n");
    files_put("devices/cpu/format/umask", "config:8-15\n");
    files_put("devices/cpu/format/ldlat", "config1:0-15\n");
    return (struct doctor_machine){
        .facts.cpu = {.vendor = "GenuineIntel", .pmu = true, .pebs.max_precise = 3}};
}

Test(trial, nothing_is_absent_on_a_bare_machine)
{
    struct doctor_machine m = machine();
    for (size_t i = 0; i < trial_count; i++)
        cr_expect_str_eq(absent(hardware_trials[i].id, &m), "", "%s", hardware_trials[i].id);
}

Test(trial, without_counters)
{
    struct doctor_machine m = machine();
    m.facts.cpu.pmu = false;
    m.tries.hardware = -ENOENT;
    for (size_t i = 0; i < trial_count; i++)
        cr_expect_str_eq(absent(hardware_trials[i].id, &m),
                         hardware_trials[i].needs & TRIAL_NEEDS_COUNTERS ? "no hardware counters" : "", "%s",
                         hardware_trials[i].id);
}

Test(trial, what_is_missing)
{
    struct doctor_machine m = machine();
    m.tries.program = -EPERM;
    cr_expect_str_eq(absent("precise-compared", &m), "the BPF program that compares stacks is not loaded");
    cr_expect_str_eq(absent("interrupts", &m), "");
    probe = takes_no_vectors;
    cr_expect(strstr(absent("batches", &m), "neither time nor registers"));
    cr_expect(strstr(absent("batches-data", &m), "neither time nor registers"));
    cr_expect_str_eq(absent("cache-miss", &m), "");
    files_put("devices/cpu/caps/pmu_name", "haswell\n"); /* unknown to libpfm4 here, so that names are, too */
    cr_expect_str_eq(absent("cache-miss", &m), "this CPU has no such event");
    strcpy(m.facts.cpu.vendor, "AuthenticAMD");
    cr_expect_str_eq(absent("batches", &m), "this CPU has no PEBS");
    cr_expect_str_eq(absent("cycles-unwound", &m), "");
    m.tries.hardware = -EACCES;
    cr_expect_str_eq(absent("cycles-unwound", &m), "this user may not sample hardware counters");
    cr_expect_str_eq(absent("clock-unwound", &m), "");
    m.tries.user = -EACCES;
    cr_expect_str_eq(absent("clock-unwound", &m), "this user may not sample");
}

/* Zen 4: what missed the L3 can be sampled, the rest only among all operations. */
Test(trial, on_a_cpu_by_amd)
{
    struct doctor_machine m = machine();
    strcpy(m.facts.cpu.vendor, "AuthenticAMD");
    files_put("devices/cpu/caps/pmu_name", "generic\n");
    files_put("devices/cpu/format/event", "config:0-7,32-35\n");
    cr_expect_str_eq(absent("cache-miss", &m), "samples of this CPU's event have no address");
    files_put("devices/ibs_op/type", "11\n");
    files_put("devices/ibs_op/format/cnt_ctl", "config:19\n");
    files_put("devices/ibs_op/format/l3missonly", "config:16\n");
    cr_expect_str_eq(absent("cache-miss", &m), "");
    cr_expect(strstr(absent("l1-miss", &m), "all micro-operations"));
    cr_expect_str_eq(absent("batches-data", &m), "this CPU has no PEBS");
}

Test(trial, counts_interrupts_of_all_cpus)
{
    uint64_t count = 0;
    const struct fact_places places = {proc, files_root};
    cr_expect_not(trial_interrupts(&places, &count));
    files_put("proc/interrupts", "            CPU0       CPU1\n"
                                 "  0:         39          0   IO-APIC    2-edge      timer\n"
                                 "NMI:          9          7   Non-maskable interrupts\n"
                                 "PMI:        100      20023   Performance monitoring interrupts\n");
    cr_expect(trial_interrupts(&places, &count));
    cr_expect_eq(count, 20123);
}
