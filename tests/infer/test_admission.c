/* Which paths can be in which setting: a map made by hand of two programs and a library. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "infer/contexts/resolver.h"
#include "infer/model/automaton.h"
#include "infer/model/extend.h"
#include "pathmap/map/partial.h"
#include "process/partial.h"

/* One letter each: `_start` and main of two programs, and of the library start_thread, what a thread does
 * at its end, the loader's first function, two functions that threads are started with, and one that all
 * call. */
enum { S, M, T, N, T0, E, L, W, V, X, FUNCTIONS };
static const unsigned image_of[FUNCTIONS] = {0, 0, 1, 1, 2, 2, 2, 0, 0, 2};

struct scene {
    struct image_cache *images;
    struct processes *processes;
    struct origins *origins;
    struct settings *settings;
    struct trie *trie;
    struct statics statics;
    struct static_start starts[4];
    struct static_edge edges[16];
    uint32_t functions[FUNCTIONS]; /* of the trie */
    struct pathmap *map;
    struct admission *admission;
};

static const char *const paths[] = {"/bin/one", "/bin/two", "/lib/library.so"};

static void apply(struct scene *s, uint32_t pid, unsigned image)
{
    struct record r = {.kind = RECORD_MMAP, .pid = pid, .tid = pid};
    r.mmap.address = 0x10000 * (image + 1);
    r.mmap.length = 0x1000;
    r.mmap.executable = true;
    r.mmap.path = paths[image];
    r.mmap.build_id_size = 20;
    r.mmap.build_id[0] = (uint8_t)(image + 1);
    cr_assert_eq(processes_apply(s->processes, &r, NULL), 0);
}

static void begin(struct scene *s)
{
    memset(s, 0, sizeof *s);
    s->images = image_cache_new(NULL);
    s->processes = processes_new(s->images, NULL);
    s->origins = origins_new();
    s->settings = settings_new();
    s->trie = trie_new();
    for (unsigned f = 0; f < FUNCTIONS; f++) {
        struct build_id id = {20, {(uint8_t)(image_of[f] + 1)}};
        uint32_t image = trie_image(s->trie, paths[image_of[f]], &id);
        s->functions[f] = trie_function(s->trie, image, 0x100 + 16 * f, NULL);
    }
    for (unsigned pid = 1; pid <= 2; pid++) {
        apply(s, pid, pid - 1);
        apply(s, pid, 2);
    }
    s->starts[0] = (struct static_start){s->functions[S], SETTING_START_PROGRAM, true};
    s->starts[1] = (struct static_start){s->functions[T], SETTING_START_PROGRAM, true};
    s->starts[2] = (struct static_start){s->functions[T0], SETTING_START_THREAD, true};
    s->starts[3] = (struct static_start){s->functions[L], SETTING_START_PROGRAM, false};
    s->statics.starts = s->starts;
    s->statics.start_count = 4;
    s->statics.edges = s->edges;
}

/* A call that the binaries show. */
static void edge(struct scene *s, unsigned callee, uint32_t caller, uint32_t rise)
{
    s->edges[s->statics.count++] = (struct static_edge){
        s->functions[callee], caller == STATIC_ROOT ? STATIC_ROOT : s->functions[caller], rise, false, 0, 0};
}

/* A path of the map, one letter's height after the other. */
static uint32_t path(struct scene *s, const unsigned *functions, const uint32_t *heights, size_t depth)
{
    uint32_t node = TRIE_ROOT;
    for (size_t i = 0; i < depth; i++) {
        node = trie_child(s->trie, node, s->functions[functions[i]], heights[i], 0);
        cr_assert_neq(node, TRIE_NONE);
        trie_add(s->trie, node, 1, i + 1 == depth);
    }
    return node;
}
#define PATH(s, depth, ...) path(s, (const unsigned[]){__VA_ARGS__}, depth, sizeof depth / sizeof *depth)

static uint32_t in(struct scene *s, unsigned pid, enum setting_start start, uint32_t of)
{
    struct sample sample = {.pid = pid, .tid = pid, .sp = 64};
    struct setting setting;
    uint32_t number;
    cr_assert_eq(settings_of(s->settings, s->origins, process_find(s->processes, pid), &sample, &number), 0);
    setting = settings_at(s->settings, number);
    setting.start = start;
    setting.called = of == FUNCTIONS ? ORIGIN_UNKNOWN : s->functions[of];
    cr_assert_eq(settings_number(s->settings, setting, &number), 0);
    return number;
}

static void finish(struct scene *s)
{
    cr_assert_eq(pathmap_over(s->trie, &s->map, NULL), 0);
    s->admission = admission_new(s->settings, s->map, &s->statics);
    cr_assert(s->admission);
}

static void end(struct scene *s)
{
    admission_free(s->admission);
    pathmap_close(s->map);
    trie_free(s->trie);
    settings_free(s->settings);
    origins_free(s->origins);
    processes_free(s->processes);
    image_cache_free(s->images);
}

static uint32_t function_of(const struct scene *s, unsigned f)
{
    struct build_id id = {20, {(uint8_t)(image_of[f] + 1)}};
    return pathmap_find_function(s->map, pathmap_find_image(s->map, paths[image_of[f]], &id, NULL),
                                 0x100 + 16 * f);
}

/* Whether the only path of this CID can be there, told in three ways. */
static bool allowed(const struct scene *s, uint32_t setting, unsigned f, uint32_t height)
{
    uint32_t first, answer;
    cr_assert_eq(pathmap_find(s->map, function_of(s, f), height, &first), 1u);
    bool is = admission_allows(s->admission, setting, first);
    bool *all = admission_nodes(s->admission, setting);
    cr_expect_eq(all[first], is);
    free(all);
    struct resolver *resolver = resolver_new(s->map, NULL);
    resolver_admit(resolver, s->admission);
    cr_expect_eq(resolver_find(resolver, setting, function_of(s, f), height, &answer), is);
    resolver_free(resolver);
    return is;
}

Test(admission, paths_begin_as_stacks_do)
{
    struct scene s;
    begin(&s);
    static const uint32_t program[] = {8, 64, 128}, thread[] = {0, 72, 136}, loader[] = {0, 88};
    static const uint32_t coroutine[] = {0, 40}, middle[] = {8, 64, 96, 160};
    PATH(&s, program, S, M, X);
    PATH(&s, thread, T0, W, X);
    PATH(&s, loader, L, X);
    PATH(&s, coroutine, V, X);
    PATH(&s, middle, S, M, T0, X);
    uint32_t main_thread = in(&s, 1, SETTING_START_PROGRAM, FUNCTIONS);
    uint32_t other_thread = in(&s, 1, SETTING_START_THREAD, FUNCTIONS);
    uint32_t shared = in(&s, 1, SETTING_START_OTHER, FUNCTIONS);
    finish(&s);
    static const struct {
        uint32_t height;
        bool by_program, by_thread, by_coroutine;
    } of[] = {{128, true, false, false},
              {136, false, true, false},
              {88, true, false, false},
              {40, false, true, true}, /* a thread that clone started with another function */
              {160, false, false, false}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        cr_expect_eq(allowed(&s, main_thread, X, of[i].height), of[i].by_program, "%u", of[i].height);
        cr_expect_eq(allowed(&s, other_thread, X, of[i].height), of[i].by_thread, "%u", of[i].height);
        cr_expect_eq(allowed(&s, shared, X, of[i].height), of[i].by_coroutine, "%u", of[i].height);
        cr_expect(allowed(&s, SETTING_ANY, X, of[i].height));
    }
    end(&s);
}

/* A handler on an alternate stack, and one whose alternate stack is in the thread's own. */
Test(admission, handlers_are_where_signals_have_a_stack)
{
    struct scene s;
    begin(&s);
    static const uint32_t heights[][2] = {{UNWIND_SIGNAL_HEIGHT, 72}, {400, 464}};
    for (unsigned i = 0; i < 2; i++) {
        uint32_t node = partial_node(s.trie, PARTIAL_SIGNAL);
        node = trie_child(s.trie, node, s.functions[V], heights[i][0], 0);
        trie_add(s.trie, trie_child(s.trie, node, s.functions[X], heights[i][1], 0), 1, 1);
    }
    const uint32_t main_thread = in(&s, 1, SETTING_START_PROGRAM, FUNCTIONS),
                   other_thread = in(&s, 1, SETTING_START_THREAD, FUNCTIONS),
                   shared = in(&s, 1, SETTING_START_OTHER, FUNCTIONS);
    finish(&s);
    cr_expect(!allowed(&s, main_thread, X, 72) && !allowed(&s, other_thread, X, 72));
    cr_expect(allowed(&s, shared, X, 72) && allowed(&s, SETTING_ANY, X, 72));
    cr_expect(allowed(&s, main_thread, X, 464) && allowed(&s, other_thread, X, 464));
    end(&s);
}

Test(admission, functions_are_mapped)
{
    struct scene s;
    begin(&s);
    static const uint32_t one[] = {8, 64, 128}, two[] = {8, 64, 144}, both[] = {8, 64, 160};
    PATH(&s, one, S, M, X);
    PATH(&s, two, T, N, X);
    PATH(&s, both, T, M, X);
    uint32_t first = in(&s, 1, SETTING_START_PROGRAM, FUNCTIONS);
    uint32_t second = in(&s, 2, SETTING_START_PROGRAM, FUNCTIONS);
    apply(&s, 2, 0); /* the second process maps the first program, too */
    uint32_t later = in(&s, 2, SETTING_START_PROGRAM, FUNCTIONS);
    finish(&s);
    cr_expect(allowed(&s, first, X, 128) && !allowed(&s, second, X, 128) && allowed(&s, later, X, 128));
    cr_expect(!allowed(&s, first, X, 144) && allowed(&s, second, X, 144) && allowed(&s, later, X, 144));
    cr_expect(!allowed(&s, first, X, 160) && !allowed(&s, second, X, 160) && allowed(&s, later, X, 160));
    cr_expect_eq(admission_alike(s.admission, first), first);
    cr_expect_eq(admission_alike(s.admission, second), second);
    uint32_t answer, unknown = settings_count(s.settings);
    cr_expect_eq(admission_alike(s.admission, unknown), SETTING_ANY, "it was added later");
    struct resolver *resolver = resolver_new(s.map, NULL);
    resolver_admit(resolver, s.admission);
    cr_expect_eq(resolver_find(resolver, unknown, function_of(&s, X), 160, &answer), 1);
    resolver_free(resolver);
    end(&s);
}

Test(admission, what_a_thread_was_started_with_stays)
{
    struct scene s;
    begin(&s);
    static const uint32_t first[] = {0, 72, 136}, second[] = {0, 72, 152}, end_of[] = {0, 48, 168};
    PATH(&s, first, T0, W, X);
    PATH(&s, second, T0, V, X);
    PATH(&s, end_of, T0, E, X);
    edge(&s, T0, STATIC_ROOT, 0);
    edge(&s, E, T0, 48);
    uint32_t by_w = in(&s, 1, SETTING_START_THREAD, W), unknown = in(&s, 1, SETTING_START_THREAD, FUNCTIONS);
    finish(&s);
    cr_expect(allowed(&s, by_w, X, 136) && allowed(&s, unknown, X, 136));
    cr_expect(!allowed(&s, by_w, X, 152) && allowed(&s, unknown, X, 152));
    cr_expect(allowed(&s, by_w, X, 168), "its own code calls that at the thread's end");
    end(&s);
}

/* Settings that differ in nothing that the map knows are one. */
Test(admission, what_the_map_does_not_know_is_alike)
{
    struct scene s;
    begin(&s);
    static const uint32_t one[] = {8, 64};
    PATH(&s, one, S, M);
    uint32_t before = in(&s, 1, SETTING_START_PROGRAM, FUNCTIONS);
    struct record r = {.kind = RECORD_MMAP, .pid = 1, .tid = 1};
    r.mmap.address = 0x900000;
    r.mmap.length = 0x1000;
    r.mmap.executable = true;
    r.mmap.path = "/lib/never_seen.so";
    cr_assert_eq(processes_apply(s.processes, &r, NULL), 0);
    uint32_t after = in(&s, 1, SETTING_START_PROGRAM, FUNCTIONS);
    uint32_t thread = in(&s, 1, SETTING_START_THREAD, FUNCTIONS);
    finish(&s);
    cr_expect_neq(before, after);
    cr_expect_eq(admission_alike(s.admission, after), admission_alike(s.admission, before));
    cr_expect_neq(admission_alike(s.admission, thread), admission_alike(s.admission, before));
    cr_expect_eq(admission_alike(s.admission, SETTING_ANY), SETTING_ANY);
    end(&s);
}

/* What calls lead to a CID, in letters, when paths are looked for in a setting; "" for none. */
static const char *found(struct scene *s, uint32_t setting, unsigned function, uint32_t height)
{
    static const char letters[] = "SMTNteLWVX";
    static char text[16];
    struct extension extension;
    uint32_t count = settings_count(s->settings), *wider = malloc(count * sizeof *wider);
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(settings_wider(s->settings, i, &wider[i]), 0);
    finish(s);
    for (uint32_t i = 0; i < count; i++)
        wider[i] = admission_alike(s->admission, wider[i]);
    struct wanted wanted = {s->functions[function], height, admission_alike(s->admission, setting), 1, 0, 0};
    struct extend_input input = {
        .trie = s->trie, .map = s->map, .statics = &s->statics, .admission = s->admission, .wider = wider};
    cr_assert_eq(extend_paths(&input, &wanted, 1, &extension, NULL), 0);
    uint32_t node = extension.count ? extension.paths[0].node : TRIE_ROOT;
    cr_expect_leq(extension.count, 1u);
    /* The map over the grown trie tells the path. */
    admission_free(s->admission);
    s->admission = NULL;
    cr_assert_eq(pathmap_update(s->map, NULL), 0);
    uint32_t functions[8];
    int depth = node == TRIE_ROOT ? 0 : pathmap_path(s->map, pathmap_number(s->map, node), functions, 8);
    memset(text, '?', sizeof text); /* a root */
    for (int i = 0; i < depth; i++)
        for (unsigned f = 0; f < FUNCTIONS; f++)
            if (function_of(s, f) == functions[i])
                text[i] = letters[f];
    text[depth] = 0;
    free(wider);
    extension_free(&extension);
    return text;
}

/* Both programs' main and the thread's function call x with the same frames. */
static void all_call(struct scene *s)
{
    begin(s);
    edge(s, S, STATIC_ROOT, 8);
    edge(s, T, STATIC_ROOT, 8);
    edge(s, T0, STATIC_ROOT, 0);
    edge(s, M, S, 56);
    edge(s, N, T, 56);
    edge(s, W, T0, 64);
    edge(s, X, M, 64);
    edge(s, X, N, 64);
    edge(s, X, W, 64);
}

Test(admission, calls_lead_where_the_setting_lets_them)
{
    static const struct {
        unsigned pid;
        enum setting_start start;
        const char *path;
    } of[] = {{1, SETTING_START_PROGRAM, "SMX"},
              {2, SETTING_START_PROGRAM, "TNX"},
              {1, SETTING_START_THREAD, "tWX"},
              {2, SETTING_START_THREAD, ""}, /* W is in the first program */
              {1, SETTING_START_OTHER, ""}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct scene s;
        all_call(&s);
        cr_expect_str_eq(found(&s, in(&s, of[i].pid, of[i].start, FUNCTIONS), X, 128), of[i].path, "%zu", i);
        end(&s);
    }
}

/* What a handler calls was not seen: its path has the root that its own has. */
Test(admission, calls_lead_on_from_a_handler)
{
    static const enum setting_start starts[] = {SETTING_START_OTHER, SETTING_START_PROGRAM};
    for (size_t i = 0; i < 2; i++) {
        struct scene s;
        begin(&s);
        uint32_t node = partial_node(s.trie, PARTIAL_SIGNAL);
        trie_add(s.trie, node, 1, 0);
        trie_add(s.trie, trie_child(s.trie, node, s.functions[V], UNWIND_SIGNAL_HEIGHT, 0), 1, 1);
        edge(&s, W, V, 56);
        edge(&s, X, W, 64);
        cr_expect_str_eq(found(&s, in(&s, 1, starts[i], FUNCTIONS), X, 136), i ? "" : "?VWX");
        end(&s);
    }
}

Test(admission, jumps_lead_on_through_what_is_mapped)
{
    static const unsigned jumper[] = {W, N}; /* in the first program, in the second */
    for (size_t i = 0; i < sizeof jumper / sizeof *jumper; i++) {
        struct scene s;
        all_call(&s);
        for (size_t e = 0; e < s.statics.count; e++)
            if (s.edges[e].callee == s.functions[X])
                s.edges[e].through = s.functions[jumper[i]] + 1;
        cr_expect_str_eq(found(&s, in(&s, 1, SETTING_START_PROGRAM, FUNCTIONS), X, 128), i ? "" : "SMX");
        end(&s);
    }
}
