/* The formats for other programs: the same sums in each, and names that would break them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "infer/contexts/certainty.h"
#include "profile/levels.h"
#include "report/export/export.h"
#include "report/export/profile.pb-c.h"
#include "report/format.h"

static struct metrics metrics = {.count = 2};
static struct event event = {.name = "cache-misses:u"};

struct tree {
    struct cct *cct;
    struct frames *frames;
};

static struct contexts kept_samples; /* its samples are those of what is exported */

static struct tree tree_new(void)
{
    metrics.at[0] = &metric_table[0];
    metrics.at[1] = &metric_table[1];
    metrics.event = &event;
    return (struct tree){cct_new(2), frames_new()};
}

static void tree_free(struct tree *t)
{
    cct_free(t->cct);
    frames_free(t->frames);
}

static void add(struct tree *t, const char *a, const char *b, const char *c, uint64_t weight)
{
    const char *names[] = {a, b, c};
    uint32_t items[3], count = 0;
    for (int i = 0; i < 3 && names[i]; i++)
        items[count++] = frames_named(t->frames, names[i], "prog", (uint64_t)i);
    cct_add(t->cct, items, count, (uint64_t[]){weight, 1});
}

static uint32_t add_line(struct tree *t, const char *name, const char *path, uint64_t line)
{
    struct frame frame = {.kind = FRAME_LINE, .name = name, .source = path, .address = line};
    return frames_add(t->frames, &frame);
}

static char *export(struct tree *t, const char *format, const struct view_options *view)
{
    struct contexts contexts = kept_samples;
    contexts.tree = t->cct;
    contexts.frames = t->frames;
    contexts.metrics = &metrics;
    struct view_heading heading = {.command = "prog <&>", .event = event.name, .samples = 4, .weight = 100};
    struct report report = {.contexts = &contexts, .heading = &heading, .view = view};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const struct format *f = format_table;
    while (f->name && strcmp(f->name, format) != 0)
        f++;
    cr_assert_not_null(f->name, "%s", format);
    struct fathom_error err = {0};
    cr_assert_eq(f->write(&report, out, &err), 0, "%s", err.text);
    fclose(out);
    return text;
}

static struct tree small_tree(void)
{
    struct tree t = tree_new();
    add(&t, "main", "run", "copy", 60);
    add(&t, "main", "run", NULL, 20);
    add(&t, "main", "run", "run", 15);
    cct_weigh(t.cct, cct_root(t.cct), (uint64_t[]){5, 1});
    return t;
}

static void expect(struct tree *t, const char *format, const char *wanted)
{
    char *text = export(t, format, &(struct view_options){.unit = "cache-misses"});
    cr_expect(strcmp(text, wanted) == 0, "wanted:\n%sgot:\n%s", wanted, text);
    free(text);
}

Test(exports, csv)
{
    struct tree t = small_tree();
    expect(&t, "csv",
           "weight,samples,sure,path,image\r\n"
           "5,1,,\"[contexts not kept]\",\"\"\r\n"
           "20,1,,\"main;run\",\"prog\"\r\n"
           "60,1,,\"main;run;copy\",\"prog\"\r\n"
           "15,1,,\"main;run;run\",\"prog\"\r\n");
    tree_free(&t);
}

/* A recursion counts once: 95 below main, of which 15 again. */
Test(exports, callgrind)
{
    struct tree t = small_tree();
    expect(
        &t, "callgrind",
        "# callgrind format\nversion: 1\ncreator: fathom\ncmd: prog <&>\npositions: line\n"
        "event: weight : cache-misses:u\nevent: samples : samples\nevents: weight samples\nsummary: 100 4\n"
        "\nob=???\nfl=???\nfn=(0) [contexts not kept]\n0 5 1\n"
        "\nob=prog\nfl=???\nfn=(1) main\ncob=prog\ncfi=???\ncfn=(2) run\ncalls=1 0\n0 95 3\n"
        "\nob=prog\nfl=???\nfn=(2)\n0 20 1\ncob=prog\ncfi=???\ncfn=(3) copy\ncalls=1 0\n0 60 1\n"
        "cob=prog\ncfi=???\ncfn=(4) run\ncalls=1 0\n0 15 1\n"
        "\nob=prog\nfl=???\nfn=(3)\n0 60 1\n"
        "\nob=prog\nfl=???\nfn=(4)\n0 15 1\n");
    tree_free(&t);
}

Test(exports, json)
{
    struct tree t = tree_new();
    add(&t, "main", "a\"\\\x1b[31m", NULL, 7);
    char *text = export(&t, "json", &(struct view_options){0});
    cr_expect_not_null(strstr(text, "{\"format\": \"fathom-contexts\",\n \"version\": 1,\n"), "%s", text);
    cr_expect_not_null(strstr(text,
                              "{\"name\": \"a\\\"\\\\?[31m\", \"kind\": \"function\", \"image\": \"prog\", "
                              "\"address\": \"0x1\"}"),
                       "%s", text);
    cr_expect_not_null(strstr(text, "\"contexts\": [{\"parent\": -1, \"frame\": 0, \"self\": [0, 0]},\n"
                                    "  {\"parent\": 0, \"frame\": 1, \"self\": [7, 1]}]}\n"),
                       "%s", text);
    free(text);
    tree_free(&t);
}

Test(exports, speedscope)
{
    struct tree t = small_tree();
    char *text = export(&t, "speedscope", &(struct view_options){0});
    cr_expect_not_null(strstr(text, "\"samples\": [[4], [0, 1], [0, 1, 2], [0, 1, 3]], "
                                    "\"weights\": [5, 20, 60, 15], \"startValue\": 0, \"endValue\": 100}"),
                       "%s", text);
    free(text);
    tree_free(&t);
}

/* Each thread has a profile of its own, in the order of time, equal samples one after the other. */
Test(exports, speedscope_of_samples)
{
    struct tree t = small_tree();
    struct cct_node *root = cct_root(t.cct), *main = cct_child(t.cct, root, 0),
                    *run = cct_child(t.cct, main, 1);
    struct placed_sample samples[] = {{.time = 1, .node = run, .comm = "one", .pid = 7, .tid = 7},
                                      {.time = 2, .node = main, .comm = "two", .pid = 7, .tid = 8},
                                      {.time = 3, .node = main, .comm = "one", .pid = 7, .tid = 7},
                                      {.time = 4, .node = run, .comm = "one", .pid = 7, .tid = 7},
                                      {.time = 5, .node = run, .comm = "one", .pid = 7, .tid = 7}};
    uint64_t values[] = {3, 1, 4, 1, 5, 1, 6, 1, 7, 1};
    kept_samples = (struct contexts){.samples = samples, .sample_values = values, .sample_count = 5};
    char *text = export(&t, "speedscope", &(struct view_options){0});
    const char *one =
        "\"name\": \"weight: one/7\", \"unit\": \"none\", \"samples\": [[0, 1], [0], [0, 1], [0, 1]], "
        "\"weights\": [3, 5, 6, 7], \"startValue\": 0, \"endValue\": 21}";
    const char *two = "\"name\": \"weight: two/8\", \"unit\": \"none\", \"samples\": [[0]], \"weights\": [4]";
    const char *wanted[] = {one, two, "\"name\": \"samples: one/7\""};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        cr_expect_not_null(strstr(text, wanted[i]), "%s not in\n%s", wanted[i], text);
    free(text);
    tree_free(&t);
    kept_samples = (struct contexts){0};
}

/* Lines are positions in the functions above them: of a call, of its own, and of an inlined function in another file. */
Test(exports, callgrind_with_lines)
{
    struct tree t = tree_new();
    uint32_t main = frames_named(t.frames, "main", "prog", 1), run = frames_named(t.frames, "run", "prog", 2),
             call = add_line(&t, "a.c:3", "/src/a.c", 3), again = add_line(&t, "a.c:4", "/src/a.c", 4),
             own = add_line(&t, "b.c:9", "/src/b.c", 9), other = add_line(&t, "b.h:2", "/other/b.h", 2);
    cct_add(t.cct, (uint32_t[]){main, call, run, own}, 4, (uint64_t[]){50, 1});
    cct_add(t.cct, (uint32_t[]){main, again, run, own}, 4, (uint64_t[]){20, 1});
    cct_add(t.cct, (uint32_t[]){main, again, run, other}, 4, (uint64_t[]){10, 1});
    char *text = export(&t, "callgrind", &(struct view_options){0});
    cr_expect_not_null(strstr(text, "summary: 80 3\n\n"
                                    "ob=prog\nfl=(1) /src/a.c\nfn=(1) main\n"
                                    "cob=prog\ncfi=(2) /src/b.c\ncfn=(2) run\ncalls=1 0\n3 50 1\n"
                                    "cob=prog\ncfi=(2)\ncfn=(2)\ncalls=1 0\n4 30 2\n\n"
                                    "ob=prog\nfl=(2)\nfn=(2)\n9 70 2\nfi=(3) /other/b.h\n2 10 1\n"),
                       "%s", text);
    free(text);
    tree_free(&t);
}

/* Two threads; one path in two categories has two stacks of the same functions, and callers come first. */
Test(exports, firefox)
{
    struct tree t = small_tree();
    struct cct_node *root = cct_root(t.cct), *main = cct_child(t.cct, root, 0),
                    *run = cct_child(t.cct, main, 1);
    struct placed_sample samples[] = {
        {.time = 1000000, .node = run, .comm = "one", .pid = 7, .tid = 7, .certainty = CERTAINTY_PROVED},
        {.time = 1500000, .node = main, .comm = "two", .pid = 7, .tid = 8, .certainty = CERTAINTY_UNKNOWN},
        {.time = 3000000, .node = run, .comm = "one", .pid = 7, .tid = 7, .certainty = CERTAINTY_INFERRED}};
    uint64_t values[] = {3, 1, 4, 1, 5, 1};
    kept_samples = (struct contexts){.samples = samples, .sample_values = values, .sample_count = 3};
    char *text = export(&t, "firefox", &(struct view_options){0});
    const char *wanted[] = {
        "\"stackTable\": {\"length\": 5, \"prefix\": [null, 0, null, null, 3], \"frame\": [0, 1, 2, 3, 4]}",
        "\"func\": [0, 1, 0, 0, 1], \"category\": [1, 1, 0, 2, 2]",
        "\"samples\": {\"length\": 2, \"stack\": [1, 4], \"time\": [0.000000, 2.000000], \"weightType\": "
        "\"samples\", \"weight\": [3, 5]}",
        "\"samples\": {\"length\": 1, \"stack\": [2], \"time\": [0.500000], \"weightType\": \"samples\", "
        "\"weight\": [4]}",
        "\"name\": \"two\", \"processName\": \"two\", \"pid\": \"7\", \"tid\": \"8\", \"isMainThread\": "
        "false",
        "\"interval\": 2.000000"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        cr_expect_not_null(strstr(text, wanted[i]), "%s not in:\n%s", wanted[i], text);
    free(text);
    tree_free(&t);
}

/* The message of a gzipped profile. */
static Fathom__Pprof__Profile *export_pprof(struct tree *t)
{
    struct contexts contexts = kept_samples;
    contexts.tree = t->cct;
    contexts.frames = t->frames;
    contexts.metrics = &metrics;
    struct report report = {
        .contexts = &contexts, .heading = &(struct view_heading){0}, .view = &(struct view_options){0}};
    char *zipped;
    size_t size;
    static uint8_t bytes[65536];
    FILE *out = open_memstream(&zipped, &size);
    cr_assert_eq(pprof_write(&report, out, &(struct fathom_error){0}), 0);
    fclose(out);
    z_stream z = {.next_in = (uint8_t *)zipped,
                  .avail_in = (unsigned)size,
                  .next_out = bytes,
                  .avail_out = sizeof bytes};
    cr_assert(inflateInit2(&z, 15 + 16) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END);
    inflateEnd(&z);
    free(zipped);
    Fathom__Pprof__Profile *profile = fathom__pprof__profile__unpack(NULL, z.total_out, bytes);
    cr_assert_not_null(profile);
    return profile;
}

/* The program's file is the first; names of threads are UTF-8. */
Test(exports, pprof)
{
    struct tree t = tree_new();
    uint32_t path[] = {frames_named(t.frames, "_start", "ld-linux-x86-64.so.2", 1),
                       frames_named(t.frames, "start_thread", "libc.so.6", 2),
                       frames_named(t.frames, "work", "program", 3)};
    cct_add(t.cct, path, 3, (uint64_t[]){3, 1});
    struct cct_node *node = cct_root(t.cct);
    for (int i = 0; i < 3; i++)
        node = cct_child(t.cct, node, path[i]);
    struct placed_sample sample = {.time = 1, .node = node, .comm = "prog", .pid = 7, .tid = 7};
    kept_samples =
        (struct contexts){.samples = &sample, .sample_values = (uint64_t[]){3, 1}, .sample_count = 1};
    Fathom__Pprof__Profile *p = export_pprof(&t);
    cr_expect(p->n_mapping == 3 && p->n_sample == 1);
    cr_expect_str_eq(p->string_table[p->mapping[0]->filename], "program");
    fathom__pprof__profile__free_unpacked(p, NULL);
    sample.comm = "a\n\xff";
    p = export_pprof(&t);
    cr_expect_str_eq(p->string_table[p->sample[0]->label[0]->str], "a??");
    fathom__pprof__profile__free_unpacked(p, NULL);
    tree_free(&t);
}

static uint32_t add_level(struct tree *t, enum level level, uint64_t depth, const char *name)
{
    return frames_add(t->frames,
                      &(struct frame){.kind = FRAME_LEVEL, .name = name, .address = level | depth << 8});
}

/* Readers of pprof group by labels; a process has its own. */
Test(exports, levels_are_labels_for_pprof)
{
    struct tree t = tree_new();
    uint32_t path[] = {
        add_level(&t, LEVEL_CGROUP, 0, "/a"),        add_level(&t, LEVEL_PID, 0, "cc1/7"),
        add_level(&t, LEVEL_PROGRAMS, 0, "make"),    add_level(&t, LEVEL_PROGRAMS, 1, "sh"),
        add_level(&t, LEVEL_PROGRAMS, 2, "cc1"),     frames_named(t.frames, "main", "program", 1),
        frames_named(t.frames, "work", "program", 2)};
    struct cct_node *node = cct_root(t.cct);
    cct_add(t.cct, path, 7, (uint64_t[]){3, 1});
    for (int i = 0; i < 7; i++)
        node = cct_child(t.cct, node, path[i]);
    struct placed_sample sample = {.time = 1, .node = node, .comm = "program", .pid = 7, .tid = 7};
    kept_samples =
        (struct contexts){.samples = &sample, .sample_values = (uint64_t[]){3, 1}, .sample_count = 1};
    Fathom__Pprof__Profile *p = export_pprof(&t);
    cr_assert(p->n_location == 2 && p->n_function == 2 && p->sample[0]->n_location_id == 2);
    cr_assert_eq(p->sample[0]->n_label, 6);
    Fathom__Pprof__Label **labels = p->sample[0]->label + 4;
    cr_expect_str_eq(p->string_table[labels[0]->key], "programs");
    cr_expect_str_eq(p->string_table[labels[0]->str], "make > sh > cc1");
    cr_expect_str_eq(p->string_table[labels[1]->key], "cgroup");
    cr_expect_str_eq(p->string_table[labels[1]->str], "/a");
    fathom__pprof__profile__free_unpacked(p, NULL);
    tree_free(&t);
}

/* What has no paths is as without levels. */
Test(exports, levels_are_no_functions)
{
    const char *const formats[] = {"callgrind", "dot"};
    for (int i = 0; i < 2; i++) {
        char *texts[2];
        for (int with = 0; with < 2; with++) {
            struct tree t = tree_new();
            uint32_t path[] = {0, frames_named(t.frames, "main", "program", 1),
                               frames_named(t.frames, "work", "program", 2)};
            path[0] = add_level(&t, LEVEL_COMM, 0, "program");
            cct_add(t.cct, path + !with, 2 + (unsigned)with, (uint64_t[]){3, 1});
            kept_samples = (struct contexts){0};
            texts[with] = export(&t, formats[i], &(struct view_options){0});
            tree_free(&t);
        }
        cr_expect_str_eq(texts[1], texts[0], "%s", formats[i]);
        free(texts[0]);
        free(texts[1]);
    }
    struct tree t = tree_new();
    uint32_t path[] = {add_level(&t, LEVEL_COMM, 0, "program"), frames_named(t.frames, "main", "program", 1)};
    cct_add(t.cct, path, 2, (uint64_t[]){3, 1});
    char *text = export(&t, "json", &(struct view_options){0});
    cr_expect_not_null(strstr(text, "{\"name\": \"program\", \"kind\": \"level\", \"level\": \"comm\"}"),
                       "%s", text);
    free(text);
    tree_free(&t);
}

/* pprof's -lines and -list want a function's line in its location, not as a function. */
Test(exports, pprof_lines)
{
    struct tree t = tree_new();
    uint32_t path[] = {frames_named(t.frames, "main", "program", 1), add_line(&t, "a.c:12", "/src/a.c", 12),
                       frames_named(t.frames, "work", "program", 2),
                       add_line(&t, "b:c.h:7", "include/b:c.h", 7)};
    cct_add(t.cct, path, 4, (uint64_t[]){3, 1});
    struct cct_node *node = cct_root(t.cct);
    for (int i = 0; i < 4; i++)
        node = cct_child(t.cct, node, path[i]);
    struct placed_sample sample = {.time = 1, .node = node, .comm = "program", .pid = 7, .tid = 7};
    kept_samples =
        (struct contexts){.samples = &sample, .sample_values = (uint64_t[]){3, 1}, .sample_count = 1};
    Fathom__Pprof__Profile *p = export_pprof(&t);
    cr_assert(p->n_location == 2 && p->n_function == 2 && p->sample[0]->n_location_id == 2);
    const struct {
        const char *name, *file;
        int64_t line;
    } wanted[] = {{"work", "include/b:c.h", 7}, {"main", "/src/a.c", 12}}; /* from the leaf outwards */
    for (int i = 0; i < 2; i++) {
        const Fathom__Pprof__Line *line = p->location[p->sample[0]->location_id[i] - 1]->line[0];
        const Fathom__Pprof__Function *f = p->function[line->function_id - 1];
        cr_expect_eq(line->line, wanted[i].line);
        cr_expect_str_eq(p->string_table[f->name], wanted[i].name);
        cr_expect_str_eq(p->string_table[f->filename], wanted[i].file);
    }
    fathom__pprof__profile__free_unpacked(p, NULL);
    tree_free(&t);
}

/* The text of a box begins at its own place, and names are no markup. */
Test(exports, svg)
{
    struct tree t = tree_new();
    add(&t, "main", "<script>alert(1)</script>", NULL, 60);
    add(&t, "main", "b]]>&\"", NULL, 20);
    cct_add(t.cct, (uint32_t[]){frames_label(t.frames, FRAME_LABEL, "thread/1")}, 1, (uint64_t[]){10, 1});
    cct_add(t.cct, (uint32_t[]){frames_label(t.frames, FRAME_UNSURE, "[unsure]")}, 1, (uint64_t[]){10, 1});
    char *text = export(&t, "svg", &(struct view_options){.unit = "ns"});
    cr_expect_null(strstr(text, "<script"), "%s", text);
    cr_expect_not_null(strstr(text, "&lt;script&gt;alert(1)&lt;/script&gt; (prog): 60.0%, 60 ns"), "%s",
                       text);
    cr_expect_not_null(strstr(text, "b]]&gt;&amp;&quot; (prog): 20.0%"), "%s", text);
    cr_expect_not_null(strstr(text, "<rect x=\"718.00\" y=\"46.0\" width=\"236.00\""), "%s", text);
    const char *unsure = strstr(text, "<title>[unsure]: 10.0%"),
               *thread = strstr(text, "<title>thread/1: 10.0%");
    cr_assert(unsure && thread && unsure < thread, "%s", text);
    const char *hatch = strstr(unsure, "url(#unknown)");
    cr_expect(hatch && hatch < thread && !strstr(thread, "url(#unknown)"), "a thread is known: %s", text);
    free(text);
    tree_free(&t);
}

/* "<0.1%" is no markup either. */
Test(exports, svg_of_a_light_box)
{
    struct tree t = tree_new();
    add(&t, "main", NULL, NULL, 9996);
    add(&t, "light", NULL, NULL, 4);
    char *text = export(&t, "svg", &(struct view_options){.unit = "ns"});
    cr_expect_not_null(strstr(text, "<title>light (prog): &lt;0.1%, 4 ns</title>"), "%s", text);
    free(text);
    tree_free(&t);
}

Test(exports, dot_leaves_out_what_is_light)
{
    struct tree t = tree_new();
    add(&t, "main", "heavy \"quoted\"", NULL, 999);
    add(&t, "main", "light", NULL, 1);
    char *text = export(&t, "dot", &(struct view_options){.min_percent = 0.5});
    cr_expect_not_null(strstr(text, "f1 [label=\"heavy \\\"quoted\\\"\\nprog\\n99.9% of 99.9%\""), "%s",
                       text);
    cr_expect_not_null(strstr(text, "f0 -> f1 [label=\"99.9%\""), "%s", text);
    cr_expect_null(strstr(text, "light"));
    free(text);
    tree_free(&t);
}

/* Nothing at all, a very deep path, and an item without a frame. */
Test(exports, odd_trees)
{
    for (const struct format *f = format_table; f->name; f++) {
        if (f->recording || f->code)
            continue;
        struct tree t = tree_new();
        free(export(&t, f->name, &(struct view_options){0}));
        uint32_t *path = malloc(100000 * sizeof *path), item = frames_named(t.frames, "again", "prog", 1);
        for (int i = 0; i < 100000; i++)
            path[i] = item;
        cct_add(t.cct, path, 100000, (uint64_t[]){1, 1});
        free(export(&t, f->name, &(struct view_options){0}));
        free(path);
        cct_add(t.cct, (uint32_t[]){77}, 1, (uint64_t[]){1, 1});
        struct contexts contexts = {.tree = t.cct, .frames = t.frames, .metrics = &metrics};
        struct report report = {
            .contexts = &contexts, .heading = &(struct view_heading){0}, .view = &(struct view_options){0}};
        FILE *out = fopen("/dev/null", "w");
        cr_expect_eq(f->write(&report, out, &(struct fathom_error){0}), -ERANGE, "%s", f->name);
        fclose(out);
        tree_free(&t);
    }
}
