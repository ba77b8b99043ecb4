/*
 * make_page.c - "make_page small|large|script|waits|changes": a page of known contents on standard output, for tests that
 * look at it in a browser.
 *
 * small: two threads, whose samples are of hostile names, unknown contexts and paths that are not sure.
 * Weights: main parse 40, main `<script>alert(1)</script>` 30, main parse lex 20 (half sure), an unknown
 * context 10. The first thread has the first half of the time and "parse" alone. The samples of "parse" are
 * at the beginning of page_parse() below, those of "lex" of page_lex(). A second event, page-faults, has main
 * parse lex 5 in the first thread. large: 100,000 contexts. script: samples of
 * functions of page.py, below main and the interpreter's loop: work 10 (line 3), work leaf 30 (lines 3 and 7), work sort leaf 40 (lines 4 and 7;
 * sort is machine code), work work leaf 15 (lines 3, 3 and 7), and main alone 5. waits: 4 s of two threads, all of their time: the first waits 1.5 s for a
 * lock, then 0.5 s for a CPU, runs for 1 s, and sleeps for 1 s; the second polls for 0.1 s until 0.6 s, and then until 1 s, which stands for 0.8 s. changes: from A to B, where main parse goes from
 * 40% to 60%, main `<script>alert(1)</script>` from 30% to 0, main lex from 0 to 10%, and main emit stays at
 * 30%.
 */
#include <stdlib.h>
#include <string.h>

#include "image/cache.h"
#include "infer/contexts/certainty.h"
#include "report/export/export.h"
#include "report/format.h"

enum { LARGE = 100000 };

static struct metrics metrics = {.count = 2};
static struct event event = {.name = "cache-misses:u"};
static struct cct *tree;
static struct frames *frames;
static struct placed_sample samples[LARGE];
static uint64_t values[2 * LARGE];
static size_t sample_count;

/* The code that samples are in. A page shows its source. */
int page_parse(int x);
int page_lex(int x);
int page_parse(int x)
{
    return x * 3; /* parse */
}
int page_lex(int x)
{
    return x * 5; /* </script><script>alert(3)</script> */
}

static struct image *own_image;
static void at_function(const char *name)
{
    for (uint32_t i = 0; own_image && i < image_function_count(own_image); i++) {
        const struct image_function *f = image_function(own_image, i);
        if (f->name && strcmp(f->name, name) == 0) {
            samples[sample_count - 1].image = own_image;
            samples[sample_count - 1].address = f->address;
        }
    }
}

static void add(const uint32_t *items, size_t count, uint64_t weight, uint32_t thread, uint64_t time,
                float sure)
{
    struct cct_node *node = cct_add(tree, items, count, (uint64_t[]){weight, 1});
    samples[sample_count] =
        (struct placed_sample){.time = time,
                               .node = node,
                               .comm = thread == 1 ? "reader" : "<b>writer</b>",
                               .pid = 1,
                               .tid = thread,
                               .probability = sure,
                               .certainty = sure > 0 ? CERTAINTY_PROVED : CERTAINTY_UNKNOWN};
    values[2 * sample_count] = weight;
    values[2 * sample_count + 1] = 1;
    sample_count++;
}

static uint32_t function(const char *name)
{
    return frames_named(frames, name, "prog", 0);
}

static void fill_small(void)
{
    char *endless = malloc(10001);
    memset(endless, 'x', 10000);
    endless[10000] = 0;
    uint32_t top = function("main"), parse = function("parse"), lex = function("lex"),
             script = function("<script>alert(1)</script>"), escape = function("\x1b[31mred \"</script>"),
             unknown = frames_label(frames, FRAME_UNKNOWN_CONTEXT, "[unknown context]");
    for (unsigned i = 0; i < 10; i++) {
        uint64_t time = 1000000000 + i * 100000000ul;
        add((uint32_t[]){top, parse}, 2, 4, 1, time, 1);
        at_function("page_parse");
        add((uint32_t[]){top, script, escape, function(endless)}, 4, 3, 2, time + 1000000000, 1);
        add((uint32_t[]){top, parse, lex}, 3, 2, 2, time + 1000000000, 0.5f);
        at_function("page_lex");
        add((uint32_t[]){unknown, lex}, 2, 1, 2, time + 1000000000, 0);
        at_function("page_lex");
    }
    free(endless);
}

/* The second event of the small page: one sample. */
static void fill_faults(struct contexts *contexts, struct view_heading *heading)
{
    static struct event counted = {.name = "page-faults:u"};
    static struct metrics faults;
    static struct placed_sample sample;
    static uint64_t value[2] = {5, 1};
    uint32_t items[] = {function("main"), function("parse"), function("lex")};
    faults = metrics;
    faults.event = &counted;
    struct cct *counts = cct_new(faults.count);
    sample = samples[0];
    sample.node = cct_add(counts, items, 3, value);
    *contexts = (struct contexts){.tree = counts,
                                  .frames = frames,
                                  .metrics = &faults,
                                  .samples = &sample,
                                  .sample_values = value,
                                  .sample_count = 1};
    *heading =
        (struct view_heading){.event = counted.name, .samples = 1, .weight = 5, .proved = 5, .expected = 5};
}

static uint32_t script(const char *name, uint32_t line)
{
    return frames_add(
        frames,
        &(struct frame){
            .kind = FRAME_SCRIPT, .name = name, .image = "page.py", .address = line, .source = "page.py"});
}

static uint32_t line(uint32_t number)
{
    char text[32];
    snprintf(text, sizeof text, "page.py:%u", number);
    return frames_add(
        frames, &(struct frame){
                    .kind = FRAME_LINE, .name = text, .image = "", .address = number, .source = "page.py"});
}

static void fill_script(void)
{
    const uint32_t top = function("main"), loop = function("loop"), sort = function("sort"),
                   work = script("work", 1), leaf = script("leaf", 6), third = line(3), fourth = line(4),
                   seventh = line(7);
    add((uint32_t[]){top, loop, work, third}, 4, 10, 1, 1000000000, 1);
    add((uint32_t[]){top, loop, work, third, leaf, seventh}, 6, 30, 1, 1100000000, 1);
    add((uint32_t[]){top, loop, work, fourth, sort, loop, leaf, seventh}, 8, 40, 2, 1200000000, 1);
    add((uint32_t[]){top, loop, work, third, work, third, leaf, seventh}, 8, 15, 1, 1300000000, 1);
    add((uint32_t[]){top}, 1, 5, 1, 1400000000, 1);
}

static void add_wait(const char *where, unsigned wait, uint64_t ms, uint32_t thread, uint64_t ends)
{
    const uint32_t items[] = {function("main"), function(where),
                              frames_label(frames, FRAME_LABEL, wait_reason_label(wait))};
    add(items, wait ? 3 : 2, ms * 1000000, thread, ends * 1000000, 1);
    samples[sample_count - 1].wait = (uint8_t)wait;
}

static void fill_waits(void)
{
    event = (struct event){.name = EVENT_WALL_NAME,
                           .attr = {.type = PERF_TYPE_SOFTWARE,
                                    .config = PERF_COUNT_SW_TASK_CLOCK,
                                    .config1 = EVENT_WAITS_MARK,
                                    .config2 = EVENT_WALL_MARK}};
    add_wait("serve", WAIT_POLL, 100, 2, 1600);
    add_wait("serve", WAIT_POLL, 800, 2, 2000);
    add_wait("enter", WAIT_LOCK, 1500, 1, 3000);
    add_wait("enter", WAIT_RUNNABLE, 500, 1, 3000);
    add_wait("count", 0, 1000, 1, 4000);
    add_wait("rest", WAIT_SLEEP, 1000, 1, 5000);
}

/* Many short and some deep paths. */
static void fill_large(void)
{
    uint32_t items[64], random = 1;
    char name[32];
    for (unsigned i = 0; cct_count(tree) < LARGE && i < LARGE; i++) {
        size_t depth = 4 + i % 32;
        for (size_t d = 0; d < depth; d++) {
            random = random * 1664525 + 1013904223;
            static const unsigned fan_out[] = {4, 8, 16, 512};
            snprintf(name, sizeof name, "function_%u",
                     d < depth - 4 ? (unsigned)d : (random >> 16) % fan_out[d - (depth - 4)]);
            items[d] = function(name);
        }
        add(items, depth, 1 + random % 100, i % 16, 1000000000 + i * 1000ul, 1);
    }
}

static struct contexts contexts_of_all(void)
{
    return (struct contexts){.tree = tree,
                             .frames = frames,
                             .metrics = &metrics,
                             .samples = samples,
                             .sample_values = values,
                             .sample_count = sample_count};
}

/* Side 0 or 1. */
static int add_side(struct difference *difference, unsigned side, struct fathom_error *err)
{
    static const unsigned parts[2][4] = {{4, 3, 0, 3}, {6, 0, 1, 3}};
    static const char *const names[] = {"parse", "<script>alert(1)</script>", "lex", "emit"};
    tree = cct_new(metrics.count);
    frames = frames_new();
    sample_count = 0;
    if (!tree || !frames)
        return -1;
    for (unsigned i = 0; i < 200; i++)
        for (unsigned f = 0; f < 4; f++)
            for (unsigned n = 0; n < parts[side][f]; n++)
                add((uint32_t[]){function("main"), function(names[f])}, 2, 1, 1,
                    1000000000 + sample_count * 1000000, 1);
    struct contexts contexts = contexts_of_all();
    int rc = difference_add(difference, side, &contexts, err);
    frames_free(frames);
    cct_free(tree);
    return rc;
}

static int write_changes(struct fathom_error *err)
{
    struct difference *difference = difference_new(&(struct difference_options){.least_percent = 0.1});
    struct changes changes;
    int rc = difference ? 0 : -1;
    for (unsigned side = 0; rc == 0 && side < 2; side++)
        rc = add_side(difference, side, err);
    if (rc == 0)
        rc = difference_find(difference, &changes, err);
    if (rc == 0)
        rc = changes_html_write(
            &(struct changes_report){.changes = &changes,
                                     .names = {"</script><script>alert(2)</script>", "new.data"},
                                     .event = event.name,
                                     .unit = event.name},
            stdout, err);
    difference_free(difference);
    return rc;
}

int main(int argc, char **argv)
{
    struct fathom_error err = {0};
    for (uint32_t i = 0; i < metrics.count; i++)
        metrics.at[i] = &metric_table[i];
    metrics.event = &event;
    if (argc == 2 && strcmp(argv[1], "changes") == 0)
        return write_changes(&err) < 0;
    tree = cct_new(metrics.count);
    frames = frames_new();
    if (!tree || !frames || argc != 2)
        return 2;
    const bool large = strcmp(argv[1], "large") == 0, small = strcmp(argv[1], "small") == 0,
               waits = strcmp(argv[1], "waits") == 0;
    struct fathom_error why;
    struct image_cache *images = image_cache_new(NULL);
    if (!images || (small && image_cache_get(images, "/proc/self/exe", NULL, &own_image, &why) < 0))
        return 2;
    (large ? fill_large : small ? fill_small : waits ? fill_waits : fill_script)();
    struct contexts contexts = contexts_of_all();
    struct view_heading heading = {.command = "prog </script><script>alert(2)</script>",
                                   .event = event.name,
                                   .samples = sample_count,
                                   .weight = cct_total(tree),
                                   .proved = small ? 90 : cct_total(tree),
                                   .unknown = small ? 10 : 0,
                                   .expected = 80};
    struct view_options view = {.listed = LISTED_DEFAULT, .images = images};
    struct report second, report = {.contexts = &contexts, .heading = &heading, .view = &view};
    struct contexts faults;
    struct view_heading other;
    if (small) {
        fill_faults(&faults, &other);
        second = (struct report){.contexts = &faults, .heading = &other, .view = &view};
        report.next = &second;
    }
    const struct format *format = format_table;
    while (strcmp(format->name, "html") != 0)
        format++;
    int rc = format->write(&report, stdout, &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.text);
    if (small)
        cct_free(faults.tree);
    image_cache_free(images);
    frames_free(frames);
    cct_free(tree);
    return rc < 0;
}
