/* maps.c - see maps.h. */
#include "tests/disambig/maps.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/hash.h"

void maps_begin(struct maps *m, uint32_t functions)
{
    static const struct build_id none;
    m->map = NULL;
    m->functions = functions;
    m->trie = trie_new();
    cr_assert_not_null(m->trie);
    uint32_t image = trie_image(m->trie, "/bin/program", &none);
    trie_set_hooked(m->trie, image);
    for (uint32_t f = 0; f < functions; f++) {
        char name[2] = {(char)('a' + f % 26), 0};
        cr_assert_eq(trie_function(m->trie, image, 0x1000 + 16ul * f, name), f);
    }
}

void maps_add(struct maps *m, const char *path, uint32_t last, uint64_t samples)
{
    uint32_t node = TRIE_ROOT, height = 0;
    for (; *path; path++) {
        height += path[1] ? 16 : last;
        node = trie_child(m->trie, node, (uint32_t)(*path - 'a'), height, 1);
        cr_assert_neq(node, TRIE_NONE);
        trie_add(m->trie, node, 1, 0);
    }
    trie_add(m->trie, node, 0, samples);
}

void maps_grow(struct maps *m, uint64_t seed, unsigned walks)
{
    uint64_t random = seed;
    for (unsigned w = 0; w < walks; w++) {
        uint32_t node = TRIE_ROOT, function = 0, height = 8;
        unsigned depth = 1 + (unsigned)(hash_random(&random) % 9);
        for (unsigned d = 0; d < depth; d++) {
            uint64_t r = hash_random(&random);
            node = trie_child(m->trie, node, function, height, d ? 1 + r % 2 : 0);
            cr_assert_neq(node, TRIE_NONE);
            trie_add(m->trie, node, 1 + r / 8 % 100, r / 1024 % 4 ? 0 : r / 4096 % 50);
            function = (uint32_t)(hash_u64(function * 4 + r / 65536 % 4) % m->functions);
            height += 16 + 16 * (function % 3) + 8 * (r % 2);
        }
    }
}

void maps_ready(struct maps *m)
{
    cr_assert_eq(pathmap_over(m->trie, &m->map, NULL), 0);
}

void maps_end(struct maps *m)
{
    pathmap_close(m->map);
    trie_free(m->trie);
}

static uint64_t height_of(const struct pathmap *map, uint32_t node, const uint32_t *pads,
                          const bool *unshifted)
{
    struct pathmap_node at = pathmap_node(map, node);
    uint64_t height = at.height;
    while (at.parent != PATHMAP_NONE) {
        bool shifted = !unshifted || !unshifted[node];
        node = at.parent;
        at = pathmap_node(map, node);
        height += shifted ? pads[at.function] : 0;
    }
    return height;
}

struct maps_count maps_count(const struct pathmap *map, const uint32_t *pads, const bool *unshifted)
{
    struct maps_count c = {0};
    uint32_t nodes = pathmap_node_count(map);
    uint64_t *heights = malloc((nodes + 1) * sizeof *heights);
    cr_assert_not_null(heights);
    bool sampled = pathmap_sampled(map);
    for (uint32_t i = 0; i < nodes; i++)
        heights[i] = height_of(map, i, pads, unshifted);
    for (uint32_t i = 0; i < nodes; i++) {
        struct pathmap_node x = pathmap_node(map, i);
        bool precise = true, first = true;
        for (uint32_t j = 0; j < nodes; j++) {
            struct pathmap_node y = pathmap_node(map, j);
            if (x.function != y.function || heights[i] != heights[j])
                continue;
            precise &= x.path == y.path;
            first &= x.path != y.path || j >= i;
        }
        uint64_t weight = sampled ? x.self : x.passes;
        c.weight += weight;
        c.precise += precise ? weight : 0;
        c.paths += first;
        c.paths_precise += first && precise;
        c.deepest = heights[i] > c.deepest ? heights[i] : c.deepest;
    }
    free(heights);
    return c;
}
