/* rig.c - see rig.h. */
#include "tests/infer/rig.h"

#include <criterion/criterion.h>
#include <string.h>

#include "infer/statics/statics.h"

static const struct build_id id = {4, {1, 2, 3, 4}};

void rig_begin(struct rig *r)
{
    memset(r, 0, sizeof *r);
    r->trie = trie_new();
    uint32_t image = trie_image(r->trie, "/bin/program", &id);
    for (unsigned i = 0; i < RIG_FUNCTIONS; i++)
        r->functions[i] = trie_function(r->trie, image, 0x1000 + 16 * i, NULL);
}

uint32_t rig_child(struct rig *r, uint32_t parent, unsigned function, uint32_t height, uint64_t passes,
                   uint64_t self)
{
    uint32_t node = trie_child(r->trie, parent, r->functions[function], height, 0);
    cr_assert_neq(node, TRIE_NONE);
    trie_add(r->trie, node, passes, self);
    return node;
}

void rig_finish(struct rig *r)
{
    cr_assert_eq(pathmap_over(r->trie, &r->map, NULL), 0);
    uint32_t image = pathmap_find_image(r->map, "/bin/program", &id, NULL);
    for (unsigned i = 0; i < RIG_FUNCTIONS; i++)
        r->numbers[i] = pathmap_find_function(r->map, image, 0x1000 + 16 * i);
    rig_use(r, NULL, NULL);
}

void rig_use(struct rig *r, struct statics *calls, const struct automaton_options *options)
{
    automaton_free(r->automaton);
    graph_free(r->graph);
    if (calls)
        statics_sort(calls);
    r->graph = graph_new(r->map, calls, NULL, (struct graph_scope){0});
    r->automaton = automaton_new(r->graph, options);
    cr_assert_not_null(r->automaton);
}

void rig_end(struct rig *r)
{
    automaton_free(r->automaton);
    graph_free(r->graph);
    pathmap_close(r->map);
    trie_free(r->trie);
}

size_t rig_path(const struct rig *r, uint32_t function, uint32_t height, uint32_t rank,
                struct automaton_step *steps, size_t max)
{
    struct automaton_answer answer;
    struct automaton_step step;
    size_t depth = 0, at;
    if (automaton_find(r->automaton, function, height, &answer) < 0 || rank >= answer.best)
        return 0;
    for (uint32_t path = answer.path[rank]; path != AUTOMATON_END; depth++)
        cr_assert_eq(automaton_step(r->automaton, path, &step, &path), 0);
    at = depth;
    for (uint32_t path = answer.path[rank]; path != AUTOMATON_END;) {
        cr_assert_eq(automaton_step(r->automaton, path, &step, &path), 0);
        at--;
        if (at + max >= depth)
            steps[depth > max ? at - (depth - max) : at] = step;
    }
    return depth;
}

const char *rig_letters(const struct rig *r, unsigned function, uint32_t height, uint32_t rank)
{
    static char text[64];
    struct automaton_step steps[30];
    size_t depth = rig_path(r, r->numbers[function], height, rank, steps, 30);
    size_t at = 0;
    for (size_t i = 0; i < depth && i < 30; i++) {
        char letter = '?';
        for (unsigned f = 0; f < RIG_FUNCTIONS; f++) {
            if (r->numbers[f] == steps[i].function)
                letter = (char)('a' + f);
        }
        if (steps[i].open)
            text[at++] = '~';
        text[at++] = letter;
    }
    text[at] = 0;
    return text;
}

unsigned rig_random(uint64_t *seed, unsigned limit)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*seed >> 33) % limit;
}
