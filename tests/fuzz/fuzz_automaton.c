/*
 * fuzz_automaton.c - a fuzz target for the graph and the height automaton: any map and any calls, with rises
 * that damaged tables can give, end in answers that hold what automaton.h promises.
 *
 * The input: one byte, the number of nodes; for each 4 bytes (parent, function, bytes of stack / 8, passes);
 * then calls of 8 bytes (kind, callee, caller, 0, rise).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "infer/model/automaton.h"
#include "infer/statics/statics.h"

#define FUNCTIONS 16
#define CALLS     64
#define CLASSES   4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static const struct build_id id = {4, {1, 2, 3, 4}};

/* Functions with odd numbers are of a hooked image. */
static struct trie *make_trie(const uint8_t *nodes, unsigned count)
{
    struct trie *trie = trie_new();
    uint32_t functions[FUNCTIONS], made[256], heights[256];
    uint32_t images[2] = {trie_image(trie, "/bin/a", &id), trie_image(trie, "/bin/b", NULL)};
    trie_set_hooked(trie, images[1]);
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        functions[f] = trie_function(trie, images[f & 1], 0x1000 + f, NULL);
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *n = nodes + (size_t)4 * i;
        uint32_t parent = i ? made[n[0] % i] : TRIE_ROOT, above = i ? heights[n[0] % i] : 0;
        heights[i] = above + 8 + 8 * (uint32_t)n[2];
        made[i] = trie_child(trie, parent, functions[n[1] % FUNCTIONS], heights[i], 0);
        trie_add(trie, made[i], n[3], n[3] / 2);
    }
    return trie;
}

static struct pathmap *make_map(struct trie *trie)
{
    void *data;
    size_t size;
    struct pathmap *map;
    require(trie_serialise(trie, &data, &size, NULL) == 0);
    require(pathmap_open_memory(data, size, &map, NULL) == 0);
    return map;
}

struct world {
    struct static_edge calls[CALLS];
    struct static_edge through[CLASSES][CALLS];
    uint32_t targets[CLASSES][CALLS];
    struct static_class classes[CLASSES];
    struct statics all;
    uint32_t ends[1];
};

/* Kind: bit 0: through a pointer, of the class in bits 1 and 2; bit 3: from a frame of open size. */
static void make_calls(struct world *w, const struct pathmap *map, const uint8_t *data, size_t size)
{
    uint32_t functions = pathmap_function_count(map);
    memset(w, 0, sizeof *w);
    for (; size >= 8 && w->all.count + w->all.class_count < CALLS - CLASSES; data += 8, size -= 8) {
        uint32_t rise, callee = data[1] % functions;
        memcpy(&rise, data + 4, sizeof rise);
        struct static_edge edge = {callee, data[2] % functions, rise, data[0] & 8, 1, 0};
        struct static_class *class = &w->classes[data[0] >> 1 & 3];
        unsigned c = data[0] >> 1 & 3;
        if (!(data[0] & 1)) {
            w->calls[w->all.count++] = edge;
            continue;
        }
        bool known = false;
        for (size_t i = 0; i < class->target_count; i++)
            known |= w->targets[c][i] == callee;
        if (class->count < CALLS)
            w->through[c][class->count++] = edge;
        if (!known)
            w->targets[c][class->target_count++] = callee;
    }
    for (unsigned c = 0; c < CLASSES; c++) {
        w->classes[c].share = 1;
        w->classes[c].edges = w->through[c];
        w->classes[c].targets = w->targets[c];
    }
    w->all.edges = w->calls;
    w->all.classes = w->classes;
    w->all.class_count = CLASSES;
    w->ends[0] = functions - 1;
    w->all.ends = w->ends;
    w->all.end_count = 1;
}

static void check_answer(struct automaton *automaton, const struct automaton_answer *answer, uint32_t f,
                         uint32_t height)
{
    double sum = 0;
    require(answer->best > 0 && answer->best <= 12);
    for (uint32_t r = 0; r < answer->best; r++) {
        require(r == 0 || answer->probability[r] <= answer->probability[r - 1]);
        sum += answer->probability[r];
        uint32_t path = answer->path[r], below = height;
        for (bool first = true; path != AUTOMATON_END; first = false) {
            struct automaton_step step;
            require(automaton_step(automaton, path, &step, &path) == 0);
            require(first ? step.function == f && step.height == height : step.height + 8 <= below);
            below = step.height;
        }
    }
    require(sum <= 1.01);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size - 1 < (size_t)4 * data[0])
        return 0;
    struct trie *trie = make_trie(data + 1, data[0]);
    struct pathmap *map = make_map(trie);
    struct world *w = malloc(sizeof *w);
    require(w != NULL);
    make_calls(w, map, data + 1 + (size_t)4 * data[0], size - 1 - (size_t)4 * data[0]);
    statics_sort(&w->all);
    struct graph *graph = graph_new(map, &w->all, NULL, (struct graph_scope){0});
    const struct automaton_options options = {.best = 12, .bytes = 150000};
    struct automaton *automaton = automaton_new(graph, &options);
    require(automaton != NULL);
    static const uint32_t heights[] = {0, 64, 264, 1000, UINT32_MAX};
    for (uint32_t f = 0; f < pathmap_function_count(map); f++) {
        for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
            struct automaton_answer answer;
            int rc = automaton_find(automaton, f, heights[i], &answer);
            require(rc == 0 || rc == -ENOENT || rc == -ENOSPC);
            if (rc == 0)
                check_answer(automaton, &answer, f, heights[i]);
        }
    }
    automaton_free(automaton);
    graph_free(graph);
    free(w);
    pathmap_close(map);
    trie_free(trie);
    return 0;
}
