/* Which events a user gets who may load no BPF programs, on a machine with PEBS that this one need not be. */
#include <criterion/criterion.h>

#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/collector_data.h"
#include "perfdata/stack_record.h"

static char devices[64];

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", devices, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(text, file);
    fclose(file);
}

static void set_up(void)
{
    char path[128];
    strcpy(devices, "/tmp/fathom-prepare.XXXXXX");
    cr_assert_not_null(mkdtemp(devices));
    chmod(devices, 0755);
    for (const char *const *name = (const char *const[]){"cpu", "cpu/caps", NULL}; *name; name++) {
        snprintf(path, sizeof path, "%s/%s", devices, *name);
        cr_assert_eq(mkdir(path, 0755), 0);
        chmod(path, 0755);
    }
    put("cpu/type", "4\n");
    put("cpu/caps/max_precise", "3\n");
    put("cpu/caps/pmu_name", "skylake\n");
}

static void tear_down(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", devices);
    cr_assert_eq(system(command), 0);
}

TestSuite(prepare, .init = set_up, .fini = tear_down);

static int takes_all(const struct perf_event_attr *attr)
{
    (void)attr;
    return 0;
}

static void keep(void *context, enum log_level level, const char *text)
{
    char *kept = context;
    (void)level;
    strncat(kept, text, 4000 - strlen(kept));
}

/* What a process that is nobody's tells of its collection. */
struct told {
    int rc;
    size_t asked, count;
    struct perf_event_attr first, last;
    bool copied;
    size_t clocks;
};

/* As `fathom record` asks for it. */
static struct told prepare(uint64_t frequency, bool batches, const char *says)
{
    char said[4096] = "";
    const struct log log = {keep, said};
    const struct pmus pmus = {devices, takes_all, "6.1.0"};
    struct collector_options options = {
        .event = {.pmus = &pmus, .frequency = frequency, .batches = batches},
        .audit_hz = 10,
        .audit_stack_size = 65528,
        .audit_instead = true,
        .audit_adapts = true,
        .verify = {.wish = batches ? VERIFY_NEVER : VERIFY_BY_DEFAULT, .compared = STACK_RECORD_ALL},
        .scope = COLLECT_BY_THREAD,
        .log = &log};
    struct told told = {0};
    int ends[2], status = -1;
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        static struct collector c;
        struct fathom_error err = {0};
        if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setresuid(65534, 65534, 65534) != 0))
            _exit(77);
        c.options = &options;
        told.rc = collector_prepare(&c, &err);
        told.asked = c.asked;
        told.count = c.event_count;
        told.first = c.events[0].attr;
        told.last = c.events[c.event_count - 1].attr;
        told.copied = c.copied;
        told.clocks = c.clock_count;
        _exit(write(ends[1], &told, sizeof told) != sizeof told || c.verify || (says && !strstr(said, says)));
    }
    close(ends[1]);
    cr_assert_eq(read(ends[0], &told, sizeof told), (ssize_t)sizeof told);
    close(ends[0]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0, "it said something else than '%s', or loaded the program", says ? says : "");
    cr_assert_eq(told.rc, 0);
    return told;
}

Test(prepare, without_the_program_each_interrupt_copies_the_stack)
{
    struct told told = prepare(0, false, "each sample has a copy of its stack");
    cr_expect(told.copied);
    cr_expect_eq(told.asked, 1u);
    cr_expect_eq(told.first.precise_ip, 0u, "the stack at the interrupt is that of the sample");
    cr_expect_eq(told.first.config, PERF_COUNT_HW_CPU_CYCLES);
    cr_expect(told.first.sample_type & PERF_SAMPLE_STACK_USER);
    cr_expect_eq(told.first.sample_stack_user, 16384u);
    cr_expect(told.first.freq);
    cr_expect_eq(told.first.sample_freq, 500u);
    cr_expect_eq(told.count, 2u, "one clock besides, for stacks that are larger");
    cr_expect_eq(told.clocks, 0u);
    cr_expect_gt(told.last.sample_stack_user, 65000u);
}

/* As in a virtual machine with counters, and on CPUs by AMD. */
Test(prepare, so_it_is_without_precise_events)
{
    put("cpu/caps/max_precise", "0\n");
    struct told told = prepare(0, false, "each sample has a copy of its stack");
    cr_expect(told.copied);
    cr_expect_eq(told.first.sample_stack_user, 16384u);
}

Test(prepare, what_was_asked_for_stays)
{
    struct told often = prepare(4000, false, "stacks are read by a clock");
    cr_expect_not(often.copied);
    cr_expect_eq(often.first.precise_ip, 3u);
    cr_expect_eq(often.clocks, 2u);
    struct told passive = prepare(0, true, "in batches");
    cr_expect_not(passive.copied);
    cr_expect_eq(passive.first.precise_ip, 3u);
    cr_expect_not(passive.first.freq);
}
