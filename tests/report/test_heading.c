/* The heading: what was recorded, how sure the contexts are, what went wrong. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "tests/report/report_tree.h"

static const char *const reasons[] = {"none", "not in the map", "outside known code", "no base"};

#define VERIFIED   "          verified: each return address on the stack was that of a stack unwound before\n"
#define UNWOUND    "          unwound: the sample's own stack was copied and unwound\n"
#define NEVER_SEEN "          never seen: put together of calls that other samples or the code have\n"

static void expect(const struct view_heading *heading, const char *unit, const char *wanted)
{
    char *text = report_heading(heading, &(struct view_options){.unit = unit, .verbose = true});
    cr_expect(strcmp(text, wanted) == 0, "wanted:\n%sgot:\n%s", wanted, text);
    free(text);
}

Test(heading, tells_whose_inlined_functions_are_left_out)
{
    struct view_heading heading = {.samples = 1,
                                   .uninlined = {"one", "two", "three", "four", "five", "six", "7", "8"},
                                   .uninlined_count = 1,
                                   .uninlined_bytes = 70u << 20};
    for (unsigned i = 0; i < 2; i++) {
        char *text = report_heading(&heading, &(struct view_options){.unit = "samples"});
        const char *wanted =
            i ? "\ninlined:  functions inlined in one, two, three, four and 5 more are not shown: 70.0 MiB "
                "of "
                "debug information (--inline reads it)\n"
              : "\ninlined:  functions inlined in one are not shown: 70.0 MiB of debug information (--inline "
                "reads it)\n";
        cr_expect_not_null(strstr(text, wanted), "%s", text);
        free(text);
        heading.uninlined_count = 9;
    }
}

Test(heading, tells_who_ran_unless_nearly_all_is_of_one)
{
    struct view_heading heading = {.samples = 1,
                                   .weight = 1000,
                                   .processes = {{"cc1", 700}, {"as\n", 200}, {"", 99}},
                                   .process_count = 3,
                                   .other_processes = 1};
    struct view_options options = {.unit = "samples"};
    char *text = report_heading(&heading, &options);
    cr_expect_not_null(strstr(text, "\nwho ran:  70.0% cc1, 20.0% as?, 9.9% [unknown], 0.1% 1 other name "
                                    "(--view groups; --by, --process-tree)\n"),
                       "%s", text);
    free(text);
    for (unsigned i = 0; i < 2; i++) {
        heading.processes[0].weight = i ? 991 : 989;
        text = report_heading(&heading, &options);
        cr_expect_eq(strstr(text, "who ran:") != NULL, i == 0, "%s", text);
        free(text);
    }
}

Test(heading, tells_how_sure_the_contexts_are)
{
    expect(&(struct view_heading){.command = "sqlite3 bench.db",
                                  .event = "cpu-clock",
                                  .map = "sqlite.fmap",
                                  .samples = 1000,
                                  .weight = 1000,
                                  .proved = 911,
                                  .verified = 700,
                                  .unwound = 200,
                                  .chains = 11,
                                  .inferred = 72,
                                  .compared = 10,
                                  .seen = 42,
                                  .unknown = 17,
                                  .unknown_by_reason = {[1] = 9, [2] = 3, [3] = 5},
                                  .reason_text = reasons,
                                  .reason_count = 4,
                                  .expected = 960.4,
                                  .audit_samples = 120,
                                  .audits_checked = 10,
                                  .audits_right = 9},
           "samples",
           "command:  sqlite3 bench.db\n"
           "map:      sqlite.fmap\n"
           "samples:  1000 of cpu-clock\n"
           "paths:    91.1% proved (70.0% verified, 20.0% unwound, 1.1% by call chains), 7.2% inferred (1.0% "
           "compared in part, 4.2% seen at the same height, 2.0% never seen), 1.7% unknown (0.9% not in the "
           "map, 0.5% no base, 0.3% outside known code); 96.0% expected on the right path\n" VERIFIED UNWOUND
           "          by call chains: the sample has its callers' addresses, and each call was checked\n"
           "          compared in part: some of the return addresses, or the depth alone, were those of a "
           "stack unwound before\n"
           "          seen at the same height: other samples, or a map, have paths to the same function with "
           "as deep a stack\n" NEVER_SEEN "stacks:   120 of this recording were unwound and learned from\n"
           "measured: 9 of 10 unwound stacks held back for checking were inferred right\n"
           "\n");
}

static void expect_range(double least, double most, const char *wanted)
{
    struct view_heading heading = {.samples = 1000, .weight = 1000, .inferred = 1000, .expected = 800};
    heading.expected_least = least;
    heading.expected_most = most;
    char text[300];
    snprintf(text, sizeof text,
             "samples:  1000\npaths:    0.0%% proved, 100.0%% inferred (never seen), 0.0%% unknown; 80.0%% "
             "expected on the right path%s\n" NEVER_SEEN "\n",
             wanted);
    expect(&heading, "samples", text);
}

Test(heading, tells_a_range_that_is_wide)
{
    expect_range(610.4, 950.2, " (61.0% to 95.0%)");
    expect_range(795, 815.1, " (79.5% to 81.5%)");
    expect_range(791, 810.9, "");
    expect_range(0, 0, "");
}

/* Where no stack of the run tells how much is right, the heading says what does. */
Test(heading, tells_what_a_map_alone_is_judged_by)
{
    struct view_heading heading = {.samples = 1000,
                                   .weight = 1000,
                                   .inferred = 1000,
                                   .expected = 600,
                                   .expected_most = 970,
                                   .expected_parts = 3};
    const char *const texts[] = {
        [EXPECTED_BY_RUN] = "60.0% expected on the right path (0.0% to 97.0%)",
        [EXPECTED_BY_INPUTS] =
            "60.0% expected on the right path (0.0% to 97.0%), as the map's 3 inputs predict each other",
        [EXPECTED_BY_SLICES] =
            "no more than 60.0% expected on the right path (0.0% to 97.0%): the map is of one input",
        [EXPECTED_BY_NOTHING] =
            "not known how much is on the right path (0.0% to 97.0%): the map was not tried"};
    for (enum expected_by by = EXPECTED_BY_RUN; by <= EXPECTED_BY_NOTHING; by++) {
        char text[400];
        snprintf(text, sizeof text,
                 "samples:  1000\npaths:    0.0%% proved, 100.0%% inferred (never seen), 0.0%% unknown; "
                 "%s\n" NEVER_SEEN "\n",
                 texts[by]);
        heading.expected_by = by;
        expect(&heading, "samples", text);
    }
}

Test(heading, tells_the_limits_that_inference_met)
{
    struct view_heading heading = {.samples = 3, .weight = 3, .proved = 3, .verified = 3, .expected = 3};
    heading.inferences = (struct inferences){.open = 2};
    expect(
        &heading, "samples",
        "samples:  3\npaths:    100.0% proved (verified), 0.0% inferred, 0.0% unknown; 100.0% expected on "
        "the right path\n" VERIFIED
        "open:     2 contexts may have come through frames without a fixed size (alloca): their heights are "
        "only likely ones\n\n");
    heading.inferences = (struct inferences){.given_up = 10, .impossible = 3};
    expect(&heading, "samples",
           "samples:  3\npaths:    100.0% proved (verified), 0.0% inferred, 0.0% unknown; 100.0% expected on "
           "the right path\n" VERIFIED
           "given up: 10 contexts not searched, as their stacks are too deep for inference's memory: train a "
           "map\n"
           "no path:  3 contexts at a height that no calls, observed or found in the binaries, lead to\n\n");
}

Test(heading, tells_how_many_precise_samples_were_not_compared)
{
    expect(&(struct view_heading){.samples = 100,
                                  .weight = 100,
                                  .proved = 94,
                                  .verified = 94,
                                  .inferred = 6,
                                  .seen = 6,
                                  .returned = 5,
                                  .expected = 100},
           "samples",
           "samples:  100\n"
           "paths:    94.0% proved (verified), 6.0% inferred (seen at the same height), 0.0% unknown; 100.0% "
           "expected on the right path\n" VERIFIED
           "          seen at the same height: other samples, or a map, have paths to the same function with "
           "as deep a stack\n"
           "          not compared: 5.0%, of precise samples whose function may have returned before their "
           "stack "
           "could be read\n\n");
}

Test(heading, all_is_only_said_of_all)
{
    struct view_heading heading = {.samples = 3,
                                   .weight = 10000,
                                   .proved = 9999,
                                   .unwound = 9999,
                                   .expected = 9999,
                                   .unknown = 1,
                                   .unknown_by_reason = {[1] = 1},
                                   .reason_text = reasons,
                                   .reason_count = 4};
    expect(&heading, "page-faults",
           "weight:   10000 page-faults\n"
           "samples:  3\n"
           "paths:    99.9% proved (unwound), 0.0% inferred, <0.1% unknown (<0.1% not in the map); 99.9% "
           "expected on the right path\n" UNWOUND "\n");
    heading = (struct view_heading){.samples = 3, .weight = 3, .proved = 3, .verified = 3, .expected = 3};
    expect(&heading, "samples",
           "samples:  3\npaths:    100.0% proved (verified), 0.0% inferred, 0.0% unknown; 100.0% expected on "
           "the right path\n" VERIFIED "\n");
    heading = (struct view_heading){0};
    expect(&heading, "samples", "samples:  0\npaths:    0.0% proved, 0.0% inferred, 0.0% unknown\n\n");
}

Test(heading, warns_of_what_is_missing_and_of_control_characters_only_what_they_are)
{
    expect(&(struct view_heading){.command = "evil\033[2J\n",
                                  .samples = 4,
                                  .weight = 4,
                                  .inferred = 4,
                                  .expected = 1,
                                  .training = "evil\033[2J",
                                  .rests_on_inference = 4,
                                  .lost = 5,
                                  .throttled = 6,
                                  .damaged = 7,
                                  .unresolved = 3,
                                  .walks_compared = 9,
                                  .walks_differing = 8,
                                  .truncated = true},
           "samples",
           "command:  evil?[2J?\n"
           "samples:  4\n"
           "paths:    0.0% proved, 100.0% inferred (never seen), 0.0% unknown; 25.0% expected on the right "
           "path\n" NEVER_SEEN
           "training: 100.0% of the weight depends on inference; \"fathom train -- evil?[2J\" would learn "
           "its paths\n"
           "warning:  no unwound stack was used: paths are based only on the binaries' code, and many may be "
           "wrong (record longer, or with a larger --audit; or train a map)\n"
           "warning:  5 records were lost because the rings were full (use a larger --ring or sample less "
           "often): shares are of the rest\n"
           "warning:  the kernel throttled sampling 6 times: busy periods are underweighted\n"
           "warning:  7 damaged records were left out\n"
           "warning:  3 stacks are not known, as they refer to records that are missing or damaged\n"
           "warning:  8 of 9 stacks that were kept to check are unwound otherwise here than while recording: "
           "others may be, too (record with --keep-stacks, and all are unwound here)\n"
           "warning:  the recording ends early: its last part is missing\n"
           "\n");
}

/* The last line of a heading; the caller's. */
static char *last_line(const struct view_heading *heading, const char *unit)
{
    char *text = report_heading(heading, &(struct view_options){.unit = unit});
    text[strlen(text) - 2] = '\0'; /* of the last line, and of the empty one */
    const char *line = strrchr(text, '\n');
    char *copy = strdup(line ? line + 1 : text);
    free(text);
    return copy;
}

Test(heading, tells_how_much_had_no_sample_where_threads_ended_too_soon)
{
    struct view_heading heading = {.samples = 20,
                                   .weight = 20000000,
                                   .user_only = true,
                                   .by_thread = true,
                                   .counted = 320000000,
                                   .counted_share = 1,
                                   .started = 3000,
                                   .unsampled = 2990};
    char *line = last_line(&heading, "ns");
    cr_expect_str_eq(line,
                     "warning:  300 ms of 320 ms that were counted had no sample: 2990 of 3000 threads ended "
                     "before their first one, and time in the kernel has none (sample more often, or record "
                     "with --per-cpu always, which needs permission)",
                     "%s", line);
    free(line);
    line = last_line(&heading, "cycles");
    cr_expect(strstr(line,
                     " M cycles that were counted had no sample: 2990 of 3000 threads ended before their "
                     "first one (sample more often"),
              "%s", line);
    free(line);
    struct view_heading others[] = {heading, heading, heading, heading};
    others[0].by_thread = false;  /* by CPUs all have their share */
    others[1].unsampled = 299;    /* kernel time */
    others[2].counted = 22000000; /* hardly any */
    others[3].counted = 0;        /* not told */
    for (int i = 0; i < 4; i++) {
        line = last_line(&others[i], "ns");
        cr_expect_null(strstr(line, "counted"), "%d: %s", i, line);
        free(line);
    }
}

Test(heading, tells_what_to_do_where_stacks_have_no_base)
{
    struct view_heading heading = {
        .samples = 20, .weight = 200, .unknown = 180, .base_unknown = 180, .foreign = true};
    char *line = last_line(&heading, "samples");
    cr_expect_str_eq(
        line,
        "warning:  the recording does not contain the bases of stacks, and for 90.0% of the weight they "
        "could not be determined: record with \"fathom record\", or with \"perf record "
        "--intr-regs=sp,ip,bp --call-graph dwarf,32768\", or give a trained map (--map)",
        "%s", line);
    free(line);
    heading.map = "a.fmap";
    line = last_line(&heading, "samples");
    cr_expect_null(strstr(line, "--map"), "%s", line);
    cr_expect_not_null(strstr(line, "the bases of stacks"), "%s", line);
    free(line);
    heading.foreign = false;
    line = last_line(&heading, "samples");
    cr_expect(strstr(line, "90.0% of the weight is in processes that ended before"), "%s", line);
    free(line);
    heading.base_unknown = 2;
    line = last_line(&heading, "samples");
    cr_expect_null(strstr(line, "the bases of stacks"), "%s", line);
    free(line);
}

Test(heading, tells_what_to_do_with_a_recording_of_another_tool)
{
    struct view_heading heading = {
        .samples = 20, .weight = 200, .unknown = 180, .bare = 180, .foreign = true};
    char *line = last_line(&heading, "samples");
    cr_expect_str_eq(
        line,
        "warning:  90.0% of the weight was recorded without registers, and its contexts cannot be "
        "found: record with \"fathom record\", or with \"perf record --intr-regs=sp,ip,bp "
        "--call-graph dwarf,32768\"",
        "%s", line);
    free(line);
    heading = (struct view_heading){.samples = 20,
                                    .weight = 200,
                                    .inferred = 200,
                                    .rests_on_inference = 200,
                                    .training = "",
                                    .foreign = true};
    line = last_line(&heading, "samples");
    cr_expect(
        strstr(line, "many may be wrong (record with \"fathom record\", which unwinds some; or train a map)"),
        "%s", line);
    free(line);
}

Test(heading, tells_when_unwound_stacks_are_few_or_of_something_else)
{
    struct view_heading heading = {
        .samples = 20, .weight = 200, .inferred = 200, .rests_on_inference = 200, .audit_samples = 3};
    char *line = last_line(&heading, "samples");
    cr_expect(strstr(line, "3 unwound stacks show only a small part of what runs"), "%s", line);
    cr_expect(strstr(line, "(record longer, or with a larger --audit; or train a map)"), "%s", line);
    free(line);
    heading.followed = true;
    line = last_line(&heading, "samples");
    cr_expect(strstr(line, "--dumps; of stacks above 60 KB none is unwound; or train a map)"), "%s", line);
    free(line);
    heading.followed = false;
    heading.audit_samples = 30;
    line = last_line(&heading, "samples");
    cr_expect_null(strstr(line, "surer"), "%s", line);
    free(line);
    heading.other_event = true;
    line = last_line(&heading, "page-faults");
    cr_expect(strstr(line, "were sampled by time and say little about where this event happens"), "%s", line);
    free(line);
    heading.rests_on_inference = 2;
    line = last_line(&heading, "page-faults");
    cr_expect_null(strstr(line, "surer"), "%s", line);
    free(line);
}

Test(heading, tells_when_others_had_the_counter)
{
    struct view_heading heading = {.samples = 20, .weight = 20, .counted = 20, .counted_share = 0.42};
    char *line = last_line(&heading, "cycles");
    cr_expect_str_eq(line,
                     "warning:  the event was counted only 42% of the time, as it shared the counter with "
                     "others: weights are what was counted, not scaled up",
                     "%s", line);
    free(line);
    heading.counted_share = 0.999;
    line = last_line(&heading, "cycles");
    cr_expect_null(strstr(line, "counted"), "%s", line);
    free(line);
}

Test(heading, has_three_lines_and_what_is_wrong_unless_more_is_asked_for)
{
    struct view_heading heading = {.command = "sqlite3 bench.db",
                                   .event = "cpu-clock:u",
                                   .map = "sqlite.fmap",
                                   .user_only = true,
                                   .samples = 3490,
                                   .weight = 3490000000,
                                   .proved = 3490000000,
                                   .verified = 3490000000,
                                   .expected = 3490000000,
                                   .audit_samples = 120,
                                   .audits_checked = 10,
                                   .audits_right = 9,
                                   .training = "sqlite3 bench.db",
                                   .rests_on_inference = 4,
                                   .inferences = {.open = 2},
                                   .lost = 5,
                                   .lost_weight = 10000000};
    char *text = report_heading(&heading, &(struct view_options){.unit = "ns"});
    cr_expect_str_eq(
        text,
        "time:     3.49 s of CPU time in user space (the kernel was not sampled)\n"
        "samples:  3490 of cpu-clock:u\n"
        "paths:    100.0% proved (verified), 0.0% inferred, 0.0% unknown; 100.0% expected on the right path\n"
        "warning:  5 records were lost, about 10.0 ms (0.3% of all) because the rings were full (use a "
        "larger --ring or sample less often): shares are of the rest\n"
        "\n",
        "%s", text);
    free(text);
}

Test(heading, says_that_frames_are_an_interpreters)
{
    const char *wanted =
        "frames:   libpython3.11.so.1.0 runs a program: these are the interpreter's frames, not that "
        "program's functions\n";
    struct view_heading heading = {
        .samples = 1, .weight = 1, .proved = 1, .interpreter = "libpython3.11.so.1.0"};
    char *text = report_heading(&heading, &(struct view_options){.unit = "samples"});
    cr_expect_not_null(strstr(text, wanted), "%s", text);
    cr_expect_not_null(strstr(text, "those of CPython are named where"), "%s", text);
    free(text);
    heading.native = true;
    text = report_heading(&heading, &(struct view_options){.unit = "samples"});
    cr_expect_not_null(strstr(text, "--native leaves out those of CPython that are known\n"), "%s", text);
    cr_expect_null(strstr(text, "are named where"), "%s", text);
    free(text);
    heading.interpreter = NULL;
    text = report_heading(&heading, &(struct view_options){.unit = "samples"});
    cr_expect_null(strstr(text, "interpreter"), "%s", text);
    free(text);
    heading.scripts_inlined = true;
    text = report_heading(&heading, &(struct view_options){.unit = "samples"});
    cr_expect_not_null(
        strstr(text, "script:   functions that V8 has inlined into others are not in the paths"), "%s", text);
    free(text);
    heading.scripts_apart = true;
    text = report_heading(&heading, &(struct view_options){.unit = "samples"});
    cr_expect_not_null(strstr(text, "script:   what the interpreter runs was read at other instants"), "%s",
                       text);
    free(text);
}

Test(heading, says_what_java_needs_where_its_frames_are_missing)
{
    for (int partial = 0; partial <= 500; partial += 500) {
        struct view_heading heading = {.samples = 1000,
                                       .weight = 1000,
                                       .proved = 1000,
                                       .partial = (uint64_t)partial,
                                       .interpreter = "libjvm.so"};
        char *text = report_heading(&heading, &(struct view_options){.unit = "samples"});
        cr_expect_eq(strstr(text, "-XX:+PreserveFramePointer") != NULL, partial > 0, "%s", text);
        cr_expect_not_null(strstr(text, "names (fathom record --java-map, or java"), "%s", text);
        cr_expect_null(strstr(text, "interpreter"), "%s", text);
        free(text);
    }
}

/* The first line of a heading of time; the caller's. */
static char *first_line(const struct view_heading *heading)
{
    char *text = report_heading(heading, &(struct view_options){.unit = "ns"});
    text[strcspn(text, "\n")] = '\0';
    return text;
}

Test(heading, begins_with_the_time_and_how_much_of_it_was_in_the_kernel)
{
    const struct view_heading kernel = {.samples = 60,
                                        .weight = 60000000,
                                        .user_only = true,
                                        .by_thread = true,
                                        .cpu_time = 200000000,
                                        .lost_weight = 40000000};
    struct view_heading others[] = {kernel, kernel, kernel, kernel, kernel, kernel, kernel};
    others[1].cpu_time = 0; /* not told */
    others[2].started = 10;
    others[2].unsampled = 2; /* it was theirs */
    others[3].cpu_time = 100500000;
    others[4].user_only = false;
    others[5].by_thread = others[6].by_thread = false; /* samples of a CPU: by chance */
    others[6].cpu_time = 115000000;                    /* 60 samples: within 2/sqrt(60), 15.5 ms */
    static const char in_kernel[] = "time:     60.0 ms of CPU time in user space; 100 ms more (50.0% of all) "
                                    "in the kernel, not sampled (record --kernel)";
    const char *wanted[] = {in_kernel,
                            "time:     60.0 ms of CPU time in user space (the kernel was not sampled)",
                            "time:     60.0 ms of CPU time in user space (the kernel was not sampled)",
                            "time:     60.0 ms of CPU time in user space",
                            "time:     60.0 ms of CPU time",
                            in_kernel,
                            "time:     60.0 ms of CPU time in user space"};
    for (int i = 0; i < 7; i++) {
        char *line = first_line(&others[i]);
        cr_expect_str_eq(line, wanted[i], "%d: %s", i, line);
        free(line);
    }
}

/* A damaged recording may tell of any weight. */
Test(heading, the_most_weight_is_expected_as_all_of_it)
{
    struct view_heading heading = {
        .samples = 1, .weight = UINT64_MAX, .proved = UINT64_MAX, .expected = (double)UINT64_MAX};
    char *text = report_heading(&heading, &(struct view_options){.unit = "samples"});
    cr_expect_not_null(strstr(text, "; 100.0% expected on the right path\n"), "%s", text);
    free(text);
}
