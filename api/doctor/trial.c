/* trial.c - the table of checks, and their judgement; see trial.h. */
#include "api/doctor/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Minimum number of samples: a workload has hundreds to thousands in its 2 s. */
#define SAMPLES_LEAST 50
/* Minimum share of samples with a proved path. The stack of a precise sample is not used if its function may have returned meanwhile:
 * 12% of them if it is read 10 instructions later, 24% if 50 (docs/reliability.md). */
#define PROVED_LEAST 0.75
/* Tolerance for a way's share of the time, besides chance: a call of double length takes less than twice as long. */
#define SHARE_MARGIN  0.015
#define SHARE_SIGMAS  4
#define ADDRESS_LEAST 0.9  /* the loader and the C library access other memory */
#define SLOW_LEAST    0.95 /* the CPU's filter and the recorded latency are not measured at the same place */
/* Samples per interrupt. A batch is 64 KiB (PEBS_BUFFER_SIZE in arch/x86/events/intel/ds.c) of records below 1 KiB: at least 64, and
 * batches that end at a context switch take no interrupt. Without batches it is 1. */
#define BATCH_LEAST  16
#define TIMED_LEAST  0.95 /* one in BATCH_LEAST if all of a batch have the same time */
#define SINGLE_LEAST 0.5
#define SINGLE_MOST  2.0

const char *const trial_states[TRIAL_STATES] = {
    [TRIAL_RIGHT] = "right", [TRIAL_WRONG] = "wrong", [TRIAL_ABSENT] = "not available here"};

static void __attribute__((format(printf, 3, 4)))
judge(struct trial_verdict *out, bool right, const char *why, ...)
{
    va_list args;
    va_start(args, why);
    out->state = right ? TRIAL_RIGHT : TRIAL_WRONG;
    vsnprintf(out->why, sizeof out->why, why, args);
    va_end(args);
}

static double share_of(uint64_t of, uint64_t all)
{
    return all ? (double)of / (double)all : 0;
}

/* Judges a recording with too few samples as wrong: false. */
static bool judge_enough(uint64_t samples, const char *what, struct trial_verdict *out)
{
    if (samples < SAMPLES_LEAST)
        judge(out, false, "only %" PRIu64 " samples%s, of some hundreds", samples, what);
    return samples >= SAMPLES_LEAST;
}

static void judge_paths(const struct hardware_trial *trial, const struct trial_seen *seen,
                        struct trial_verdict *out)
{
    if (trial->needs & TRIAL_NEEDS_PEBS && !seen->precise) {
        judge(out, false, "the event is not precise");
        return;
    }
    if (!judge_enough(seen->steps, " in the function with the work", out))
        return;
    const double proved = share_of(seen->proved, seen->steps),
                 share = share_of(seen->by_way[0], seen->proved), true_share = workload_shares[0];
    const double chance =
        SHARE_SIGMAS * sqrt(true_share * (1 - true_share) / (seen->proved ? (double)seen->proved : 1));
    judge(out, !seen->astray && proved >= PROVED_LEAST && fabs(share - true_share) <= SHARE_MARGIN + chance,
          "of %" PRIu64 " samples %.1f%% have a proved path (right: at least %.0f%%), of these %.1f%% by the "
          "first caller (right: %.1f%% +- %.1f), and %" PRIu64 " by ways that do not exist (right: none)",
          seen->steps, 100 * proved, 100 * PROVED_LEAST, 100 * share, 100 * true_share,
          100 * (SHARE_MARGIN + chance), seen->astray);
}

static bool judge_counted(const struct trial_seen *seen, struct trial_verdict *out)
{
    if (!seen->counted)
        judge(out, false, "/proc/interrupts does not tell interrupts of counters (PMI)");
    return seen->counted && judge_enough(seen->samples, "", out);
}

static void judge_batches(const struct hardware_trial *trial, const struct trial_seen *seen,
                          struct trial_verdict *out)
{
    (void)trial;
    if (!judge_counted(seen, out))
        return;
    const double each = (double)seen->samples / (seen->interrupts ? (double)seen->interrupts : 1),
                 timed = share_of(seen->timed, seen->samples);
    judge(out, seen->precise && each >= BATCH_LEAST && timed >= TIMED_LEAST,
          "%" PRIu64 " samples with %" PRIu64
          " interrupts: %.1f for each (right: at least %d), %.1f%% with a time "
          "of their own (right: at least %.0f%%)%s",
          seen->samples, seen->interrupts, each, BATCH_LEAST, 100 * timed, 100 * TIMED_LEAST,
          seen->precise ? "" : "; the event is not precise");
}

/* Shows that interrupts are counted at all. */
static void judge_single(const struct hardware_trial *trial, const struct trial_seen *seen,
                         struct trial_verdict *out)
{
    (void)trial;
    if (!judge_counted(seen, out))
        return;
    const double each = seen->interrupts ? (double)seen->samples / (double)seen->interrupts : INFINITY;
    judge(out, each >= SINGLE_LEAST && each <= SINGLE_MOST,
          "%" PRIu64 " samples with %" PRIu64 " interrupts (right: about as many)", seen->samples,
          seen->interrupts);
}

static void judge_data(const struct hardware_trial *trial, const struct trial_seen *seen,
                       struct trial_verdict *out)
{
    if (!judge_enough(seen->samples, "", out))
        return;
    const double addressed = share_of(seen->addressed, seen->samples);
    bool slow = share_of(seen->slow, seen->samples) >= SLOW_LEAST;
    char latency[80] = "";
    if (trial->latency)
        snprintf(latency, sizeof latency,
                 ", and %.1f%% took %" PRIu64 " cycles or more (right: at least %.0f%%)",
                 100 * share_of(seen->slow, seen->samples), trial->latency, 100 * SLOW_LEAST);
    judge(out, addressed >= ADDRESS_LEAST && (slow || !trial->latency),
          "of %" PRIu64
          " samples %.1f%% have an address in the memory that is read (right: at least %.0f%%)%s",
          seen->samples, 100 * addressed, 100 * ADDRESS_LEAST, latency);
}

/* Arguments of fathom. */
#define ARGUMENTS(...)                                                                                       \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }
#define RECORD(...)    ARGUMENTS("record", "--no-cache", __VA_ARGS__)
#define UNWOUND(event) ARGUMENTS("evaluate", "--stack", "8192", "-e", event)
#define DATA(name, named, rate)                                                                              \
    .id = name, .title = name, .arguments = RECORD("-e", named, "-c", rate), .event = named,                 \
    .workload = FATHOM_WORKLOAD_MEMORY, .needs = TRIAL_NEEDS_COUNTERS, .judge = judge_data,                  \
    .right = "the event opens, and its samples have addresses"

const struct hardware_trial hardware_trials[] = {
    {.id = "clock-compared",
     .title = "clock, compared",
     .arguments = RECORD("-e", "cpu-clock", "-F", "1000"),
     .workload = FATHOM_WORKLOAD_CALLS,
     .needs = TRIAL_NEEDS_PROGRAM,
     .judge = judge_paths,
     .right = "a timer's samples, whose stacks are compared, have the paths that the workload takes"},
    {.id = "clock-unwound",
     .title = "clock, unwound",
     .arguments = UNWOUND("cpu-clock"),
     .workload = FATHOM_WORKLOAD_CALLS,
     .judge = judge_paths,
     .right = "the same of samples with a copy of their stack each"},
    {.id = "faults-data",
     .title = "page faults, data",
     .arguments = RECORD("-e", "page-faults", "-c", "16", "--data"),
     .workload = FATHOM_WORKLOAD_MEMORY,
     .judge = judge_data,
     .right = "page faults have addresses"},
    {.id = "precise-compared",
     .title = "precise, compared",
     .arguments = ARGUMENTS("record", "--no-cache"),
     .workload = FATHOM_WORKLOAD_CALLS,
     .needs = TRIAL_NEEDS_PROGRAM | TRIAL_NEEDS_COUNTERS | TRIAL_NEEDS_PEBS,
     .judge = judge_paths,
     .right = "precise cycles, the default, have the paths that the workload takes"},
    {.id = "cycles-unwound",
     .title = "cycles, unwound",
     .arguments = UNWOUND("cycles"),
     .workload = FATHOM_WORKLOAD_CALLS,
     .needs = TRIAL_NEEDS_COUNTERS,
     .judge = judge_paths,
     .right = "the same of cycles with a copy of the stack each"},
    {.id = "interrupts",
     .title = "interrupts",
     .arguments = ARGUMENTS("record", "--no-cache"),
     .workload = FATHOM_WORKLOAD_CALLS,
     .needs = TRIAL_NEEDS_COUNTERS | TRIAL_NEEDS_PEBS,
     .judge = judge_single,
     .right = "by default, an interrupt for each sample"},
    {.id = "batches",
     .title = "batches",
     .arguments = RECORD("--passive"),
     .workload = FATHOM_WORKLOAD_CALLS,
     .needs = TRIAL_NEEDS_COUNTERS | TRIAL_NEEDS_PEBS | TRIAL_NEEDS_BATCHES,
     .judge = judge_batches,
     .right = "with --passive, many samples for each interrupt, each with its own time"},
    {.id = "batches-data",
     .title = "batches of misses",
     .arguments = RECORD("--passive", "-e", "cache-miss", "-c", "10007"),
     .event = "cache-miss",
     .workload = FATHOM_WORKLOAD_MEMORY,
     .needs = TRIAL_NEEDS_COUNTERS | TRIAL_NEEDS_PEBS | TRIAL_NEEDS_BATCHES,
     .judge = judge_batches,
     .right = "the same of samples with data addresses"},
    {DATA("load-latency", "load-latency:64", "2003"), .latency = 64},
    {DATA("cache-miss", "cache-miss", "10007")},
    {DATA("l1-miss", "l1-miss", "10007")},
    {DATA("l2-miss", "l2-miss", "10007")},
    {DATA("dtlb-miss", "dtlb-miss", "10007")},
};
const size_t trial_count = sizeof hardware_trials / sizeof *hardware_trials;
