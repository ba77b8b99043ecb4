/* numbering.c - see numbering.h. */
#include "infer/samples/numbering.h"

#include <stdlib.h>

bool numbering_make(struct numbering *out, struct trie *trie, const struct pathmap *map)
{
    uint32_t in_map = pathmap_function_count(map), in_trie = trie_function_count(trie);
    out->to_trie = malloc(((size_t)in_map + 1) * sizeof *out->to_trie);
    out->to_map = malloc(((size_t)in_trie + 1) * sizeof *out->to_map);
    if (!out->to_trie || !out->to_map)
        return false;
    for (uint32_t i = 0; i < in_trie; i++)
        out->to_map[i] = PATHMAP_NONE;
    for (uint32_t i = 0; i < in_map; i++) {
        struct pathmap_function f = pathmap_function(map, i);
        struct pathmap_image image = pathmap_image(map, f.image);
        uint32_t number = trie_image(trie, image.path, &image.build_id);
        number = number == TRIE_NONE ? TRIE_NONE : trie_function(trie, number, f.address, f.name);
        if (number == TRIE_NONE)
            return false;
        out->to_trie[i] = number;
        if (number < in_trie)
            out->to_map[number] = i;
    }
    return true;
}

void numbering_clear(struct numbering *n)
{
    free(n->to_trie);
    free(n->to_map);
    *n = (struct numbering){0};
}
