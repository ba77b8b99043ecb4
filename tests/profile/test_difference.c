/*
 * Differences of made recordings: two of the same program are no change (but for at most 5%), a known one is found, and functions
 * are the same across builds.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "infer/contexts/certainty.h"
#include "profile/difference.h"
#include "profile/matching.h"

enum { FUNCTIONS = 40, SAMPLES = 4000, PERIOD_NS = 1000000 };

struct recording {
    struct contexts contexts;
    struct metrics metrics;
    struct cct *tree;
    struct frames *frames;
    struct placed_sample *samples;
    uint64_t *values;
    size_t count;
};

static void recording_start(struct recording *r, size_t capacity)
{
    *r = (struct recording){
        .tree = cct_new(1), .frames = frames_new(), .metrics = {.at = {metric_table}, .count = 1}};
    r->samples = calloc(capacity, sizeof *r->samples);
    r->values = calloc(capacity, sizeof *r->values);
    cr_assert(r->tree && r->frames && r->samples && r->values);
}

static void recording_clear(struct recording *r)
{
    cct_free(r->tree);
    frames_free(r->frames);
    free(r->samples);
    free(r->values);
}

/* "main;run": functions of `image`. */
static struct cct_node *path_of(struct recording *r, const char *path, const char *image)
{
    uint32_t items[16];
    size_t count = 0;
    char *copy = strdup(path), *rest = copy;
    for (char *name; (name = strsep(&rest, ";"));)
        items[count++] = frames_named(r->frames, name, image, 0x1000 + strlen(image));
    free(copy);
    return cct_add(r->tree, items, count, (uint64_t[]){0});
}

/* A sample every millisecond. */
static struct placed_sample *add(struct recording *r, struct cct_node *node)
{
    struct placed_sample *s = &r->samples[r->count];
    *s = (struct placed_sample){
        .time = 1000000000 + r->count * PERIOD_NS, .node = node, .comm = "", .probability = 1};
    cct_weigh(r->tree, node, (uint64_t[]){PERIOD_NS});
    r->values[r->count++] = PERIOD_NS;
    return s;
}

static const struct contexts *contexts_of(struct recording *r)
{
    r->contexts = (struct contexts){.tree = r->tree,
                                    .frames = r->frames,
                                    .metrics = &r->metrics,
                                    .samples = r->samples,
                                    .sample_values = r->values,
                                    .sample_count = r->count};
    return &r->contexts;
}

static double uniform(uint64_t *state)
{
    return (double)(hash_random(state) >> 11) / 9007199254740992.0;
}

/* A program that stays in a function for `stay` samples on average; function 3 is `more` times as frequent as usual; run: how
 * much the functions' frequencies vary from run to run. */
static void record(struct recording *r, double stay, double more, double run, uint64_t *state)
{
    struct cct_node *nodes[FUNCTIONS];
    double weights[FUNCTIONS], sum = 0;
    recording_start(r, SAMPLES);
    for (unsigned f = 0; f < FUNCTIONS; f++) {
        weights[f] = (f % 7 + 1) * (f == 3 ? more : 1) * (1 + run * (uniform(state) - 0.5));
        sum += weights[f];
        char path[64];
        snprintf(path, sizeof path, "main;part%u;f%u", f % 5, f);
        nodes[f] = path_of(r, path, "prog");
    }
    unsigned now = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        if (i == 0 || uniform(state) * stay < 1) {
            double at = uniform(state) * sum;
            for (now = 0; now + 1 < FUNCTIONS && at >= weights[now]; now++)
                at -= weights[now];
        }
        add(r, nodes[now]);
    }
}

/* How many rows are called; *found: whether f3 is one of them. */
static size_t compare(struct recording *runs, size_t a, size_t b, double *found)
{
    struct difference *d = difference_new(&(struct difference_options){.least_percent = 0.1});
    struct changes changes;
    struct fathom_error err = {0};
    for (size_t i = 0; i < a + b; i++)
        cr_assert_eq(difference_add(d, i >= a, contexts_of(&runs[i]), &err), 0, "%s", err.text);
    cr_assert_eq(difference_find(d, &changes, &err), 0, "%s", err.text);
    size_t called = 0;
    for (uint32_t i = 0; i < frames_count(changes.frames); i++) {
        const struct change *c = &changes.selves[i];
        cr_assert(!c->compared || c->called == (fabs(c->b - c->a) > c->bound),
                  "the bound tells what is called");
        if (c->called && strcmp(frames_at(changes.frames, i)->name, "f3") == 0)
            *found += c->b > c->a;
    }
    called = changes.called;
    cr_assert_gt(changes.compared, 40u);
    difference_free(d);
    return called;
}

struct outcome {
    double any, found; /* comparisons that call anything, or f3: parts */
};

static struct outcome try_often(unsigned often, size_t side, double stay, double more, double run)
{
    struct outcome o = {0};
    uint64_t state = 11;
    for (unsigned i = 0; i < often; i++) {
        struct recording runs[6];
        for (size_t r = 0; r < 2 * side; r++)
            record(&runs[r], stay, r < side ? 1 : more, run, &state);
        o.any += compare(runs, side, side, &o.found) > 0;
        for (size_t r = 0; r < 2 * side; r++)
            recording_clear(&runs[r]);
    }
    o.any /= often;
    o.found /= often;
    printf(
        "# %zu a side, %g samples in a function, %g of it, %g from run to run: %.3f call any, %.3f the one\n",
        side, stay, more, run, o.any, o.found);
    return o;
}

/* 0.05, and what 100 tries can be off. */
Test(same, two_recordings_are_seldom_different)
{
    cr_expect_lt(try_often(100, 1, 1, 1, 0).any, 0.1);
    cr_expect_lt(try_often(100, 1, 10, 1, 0).any, 0.1);
    cr_expect_lt(try_often(100, 1, 50, 1, 0).any, 0.1);
}

Test(same, several_recordings_are_seldom_different)
{
    cr_expect_lt(try_often(60, 3, 1, 1, 0).any, 0.12);
    cr_expect_lt(try_often(60, 3, 10, 1, 0.3).any, 0.12);
    cr_expect_lt(try_often(60, 2, 10, 1, 0.3).any, 0.12);
}

Test(changed, is_found)
{
    cr_expect_gt(try_often(20, 1, 1, 2, 0).found, 0.9);
    cr_expect_gt(try_often(20, 3, 1, 2, 0).found, 0.9);
    cr_expect_gt(try_often(20, 3, 10, 6, 0.2).found, 0.9);
}

static const struct change *function(const struct changes *changes, const char *name, const char *image)
{
    for (uint32_t i = 0; i < frames_count(changes->frames); i++) {
        const struct frame *f = frames_at(changes->frames, i);
        if (strcmp(f->name, name) == 0 && strcmp(f->image, image) == 0)
            return &changes->selves[i];
    }
    return NULL;
}

/* Phases ---------------------------------------------------------------------------------------------------------- */

/* How a program works in phases of one of four functions each, by turns. */
struct phases {
    size_t count;
    bool vary;   /* they are of random length, of an exponential law */
    double more; /* the second, sixth, ... is so many times as long */
};

static void record_phases(struct recording *r, const struct phases *p, uint64_t *state)
{
    struct cct_node *nodes[4];
    double mean = 2048.0 / (double)p->count;
    recording_start(r, 16384 * 2);
    for (unsigned f = 0; f < 4; f++) {
        char path[64];
        snprintf(path, sizeof path, "main;phase%u;f%u", f, f);
        nodes[f] = path_of(r, path, "prog");
    }
    for (size_t i = 0; i < p->count; i++) {
        double length = (i % 4 == 1 ? p->more : 1) * mean * (p->vary ? -log(1 - uniform(state)) : 1);
        for (size_t n = 0; n < (size_t)length + 1 && r->count < 16384 * 2; n++)
            add(r, nodes[uniform(state) < 0.1 ? hash_random(state) % 4 : i % 4]);
    }
}

struct said {
    double any, whole, changed, unclear; /* parts of comparisons: of any row, of the weight, of function 1 */
    double recordings;                   /* the most that were said to tell an unclear function 1 */
};

static struct said compare_phases(const struct phases *p, unsigned often, size_t side, bool absolute)
{
    struct said said = {0};
    uint64_t state = 5;
    struct phases before = *p;
    before.more = 1;
    for (unsigned i = 0; i < often; i++) {
        struct difference *d =
            difference_new(&(struct difference_options){.least_percent = 0.1, .absolute = absolute});
        struct changes changes;
        struct fathom_error err = {0};
        for (unsigned r = 0; r < 2 * side; r++) {
            struct recording run;
            record_phases(&run, r < side ? &before : p, &state);
            cr_assert_eq(difference_add(d, r >= side, contexts_of(&run), &err), 0);
            recording_clear(&run);
        }
        cr_assert_eq(difference_find(d, &changes, &err), 0);
        const struct change *one = function(&changes, "f1", "prog");
        said.any += (double)(changes.called > 0) / often;
        said.whole += (double)(changes.whole.called || changes.whole.unclear) / often;
        cr_expect(side > 1 ? !changes.whole.unclear : !changes.whole.called, "one a side cannot tell");
        said.changed += (double)one->called / often;
        said.unclear += (double)one->unclear / often;
        if (one->unclear)
            said.recordings = fmax(said.recordings, one->recordings);
        difference_free(d);
    }
    printf(
        "# %zu a side, %zu phases%s, %g times%s: %.2f any, %.2f whole, %.2f changed, %.2f unclear, %g would "
        "tell\n",
        side, p->count, p->vary ? " of random length" : "", p->more, absolute ? ", weights" : "", said.any,
        said.whole, said.changed, said.unclear, said.recordings);
    return said;
}

/* Of random lengths, which differ from run to run: the same program is not said to have changed. */
Test(phases, that_vary_are_no_change)
{
    for (size_t count = 2, absolute = 0; count <= 128; count *= 1 + 3 * absolute, absolute = !absolute)
        cr_expect_lt(compare_phases(&(struct phases){count, true, 1}, 100, 1, absolute).any, 0.12);
}

/* Nor is one whose phases do not vary, and its weight is no other. */
Test(phases, that_are_the_same_are_no_change)
{
    for (size_t count = 2, absolute = 0; count <= 128; count *= 1 + 3 * absolute, absolute = !absolute) {
        struct said said = compare_phases(&(struct phases){count, false, 1}, 40, 1, absolute);
        cr_expect(said.any < 0.12 && said.whole < 0.12);
    }
}

/* A function that takes twice as long, in few phases: the weight is more, and the function has changed, or it is said that one
 * recording a side cannot tell; and as many as are said to tell it do. */
Test(phases, of_one_that_takes_longer_are_told)
{
    for (size_t count = 2, absolute = 0; count <= 128; count *= 1 + 3 * absolute, absolute = !absolute) {
        struct phases p = {count, false, 2};
        struct said said = compare_phases(&p, 20, 1, absolute);
        cr_expect_gt(said.whole, 0.9);
        cr_expect_gt(said.changed + said.unclear, 0.9);
        cr_expect(isfinite(said.recordings));
        if (said.unclear > 0) {
            said = compare_phases(&p, 4, (size_t)fmin(said.recordings, 8), absolute);
            cr_expect(said.changed > 0.9 && said.whole > 0.9);
        }
    }
}

/* Odd recordings ------------------------------------------------------------------------------------------------- */

/* Two recordings of 1000 samples by turns of the paths, "|" between them, of files of these names. */
static struct difference *compare_two(const char *const paths[2], const char *const images[2],
                                      struct changes *out)
{
    struct difference *d = difference_new(&(struct difference_options){.least_percent = 0});
    struct fathom_error err = {0};
    for (unsigned side = 0; side < 2; side++) {
        struct recording r;
        struct cct_node *nodes[8];
        size_t count = 0;
        char *copy = strdup(paths[side]), *rest = copy;
        recording_start(&r, 1000);
        for (char *path; (path = strsep(&rest, "|"));)
            nodes[count++] = path_of(&r, path, images[side]);
        for (size_t i = 0; i < 1000; i++)
            add(&r, nodes[i % count]);
        free(copy);
        cr_assert_eq(difference_add(d, side, contexts_of(&r), &err), 0, "%s", err.text);
        recording_clear(&r);
    }
    cr_assert_eq(difference_find(d, out, &err), 0, "%s", err.text);
    return d;
}

Test(odd, a_path_that_one_side_alone_has)
{
    struct changes c;
    struct difference *d = compare_two((const char *const[]){"main;a|main;b", "main;a|main;c"},
                                       (const char *const[]){"prog", "prog"}, &c);
    cr_expect(!function(&c, "a", "prog")->called);
    cr_expect(function(&c, "b", "prog")->called && function(&c, "b", "prog")->b == 0);
    cr_expect(function(&c, "c", "prog")->called && function(&c, "c", "prog")->a == 0);
    cr_expect_eq(cct_count(c.tree), 5u);
    difference_free(d);
}

Test(odd, other_builds_are_matched)
{
    const char *const names[][2] = {
        {"libz.so.1.2.13", "libz.so.1.3"}, {"lua5.3", "lua5.4"}, {"before", "after"}};
    for (size_t i = 0; i < 3; i++) {
        struct changes c;
        struct difference *d =
            compare_two((const char *const[]){"main;a|main;b", "main;a|main;b"}, names[i], &c);
        cr_expect_eq(c.called, 0u);
        cr_expect_float_eq(function(&c, "a", names[i][1])->a, 0.5, 1e-9);
        cr_expect_null(function(&c, "a", names[i][0]));
        difference_free(d);
    }
    /* Files that have nothing in common are not. */
    struct changes c;
    struct difference *d = compare_two((const char *const[]){"main;a|main;b|main;c", "go;x|go;y|go;b"},
                                       (const char *const[]){"before", "after"}, &c);
    cr_expect(function(&c, "b", "before")->b == 0 && function(&c, "b", "after")->a == 0);
    difference_free(d);
}

Test(odd, equal_names_in_other_files_differ)
{
    struct matching *m = matching_new();
    struct frames *frames = frames_new();
    const char *const images[] = {"liba.so.1", "libb.so.1"};
    uint32_t numbers[2][2], *items;
    for (unsigned side = 0; side < 2; side++)
        for (unsigned i = 0; i < 2; i++)
            numbers[side][i] = matching_add(
                m,
                &(struct frame){.kind = FRAME_FUNCTION, .name = "init", .image = images[i], .address = side},
                side);
    cr_assert_eq(matching_finish(m, frames, &items), 0);
    cr_expect_eq(items[numbers[0][0]], items[numbers[1][0]]);
    cr_expect_eq(items[numbers[0][1]], items[numbers[1][1]]);
    cr_expect_neq(items[numbers[0][0]], items[numbers[0][1]]);
    free(items);
    frames_free(frames);
    matching_free(m);
}

/* Of two files of one side whose names are the same without versions, neither is taken for the other side's. */
Test(odd, versions_that_are_not_unique_stay)
{
    struct matching *m = matching_new();
    struct frames *frames = frames_new();
    const char *const images[] = {"libx.so.1", "libx.so.2", "libx.so.3"};
    uint32_t numbers[3], *items;
    for (unsigned i = 0; i < 3; i++)
        numbers[i] = matching_add(
            m, &(struct frame){.kind = FRAME_FUNCTION, .name = i == 2 ? "c" : "a", .image = images[i]},
            i == 2);
    cr_assert_eq(matching_finish(m, frames, &items), 0);
    for (unsigned i = 0; i < 3; i++)
        cr_expect_str_eq(frames_at(frames, items[numbers[i]])->image, images[i]);
    free(items);
    frames_free(frames);
    matching_free(m);
}

Test(odd, names_without_versions)
{
    const char *const names[][2] = {{"libc.so.6", "libc.so"},
                                    {"libfoo-1.2.so.3", "libfoo.so"},
                                    {"python3.11", "python"},
                                    {"prog-v12", "prog"},
                                    {"prog", "prog"},
                                    {"7", "7"},
                                    {"libm.software", "libm.software"},
                                    {"", ""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char out[64];
        matching_without_version(names[i][0], out, sizeof out);
        cr_expect_str_eq(out, names[i][1]);
    }
    char cut[6];
    matching_without_version("long-name.so.1", cut, sizeof cut);
    cr_expect_str_eq(cut, "long-");
}

Test(odd, nothing_to_compare_is_told)
{
    struct recording r;
    struct fathom_error err = {0};
    struct difference *d = difference_new(&(struct difference_options){0});
    recording_start(&r, 1);
    cr_expect_eq(difference_add(d, 0, contexts_of(&r), &err), -ENODATA);
    difference_free(d);
    recording_clear(&r);
}

/* Where all may be on another path, nothing is called. */
Test(odd, what_is_not_sure_is_no_change)
{
    for (unsigned sure = 0; sure < 2; sure++) {
        struct difference *d = difference_new(&(struct difference_options){0});
        struct changes c;
        struct fathom_error err = {0};
        for (unsigned side = 0; side < 2; side++) {
            struct recording r;
            recording_start(&r, 1000);
            struct cct_node *a = path_of(&r, "main;a", "prog"), *b = path_of(&r, "main;b", "prog");
            for (unsigned i = 0; i < 1000; i++)
                add(&r, i % 10 < (side ? 6 : 4) ? a : b)->probability = sure ? 1 : 0.5f;
            cr_assert_eq(difference_add(d, side, contexts_of(&r), &err), 0);
            recording_clear(&r);
        }
        cr_assert_eq(difference_find(d, &c, &err), 0);
        cr_expect_eq(function(&c, "a", "prog")->called, sure);
        difference_free(d);
    }
}

/* Counted calls are exact, and any change is one; weights have their own noise. */
Test(odd, counts_are_exact)
{
    struct difference *d = difference_new(&(struct difference_options){.absolute = true});
    struct changes c;
    struct fathom_error err = {0};
    for (unsigned side = 0; side < 2; side++) {
        struct recording r;
        recording_start(&r, 1);
        cct_weigh(r.tree, path_of(&r, "main;a", "prog"), (uint64_t[]){1000});
        cct_weigh(r.tree, path_of(&r, "main;b", "prog"), (uint64_t[]){1000 + side});
        struct contexts contexts = {.tree = r.tree, .frames = r.frames};
        cr_assert_eq(difference_add(d, side, &contexts, &err), 0);
        recording_clear(&r);
    }
    cr_assert_eq(difference_find(d, &c, &err), 0);
    cr_expect(!function(&c, "a", "prog")->called);
    cr_expect(function(&c, "b", "prog")->called);
    cr_expect_eq(function(&c, "b", "prog")->b, 1001);
    difference_free(d);
}
