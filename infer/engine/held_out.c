/* held_out.c - see held_out.h. */
#include "infer/engine/held_out.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "pathmap/map/partial.h"

/* marks the stack numbers of audit samples: announced stacks count from 1, too */
#define OF_AUDITS (UINT64_C(1) << 31)

struct held_out {
    const struct trie *trie;
    struct table *samples; /* row of a sample -> (its stack's number << 32 | node) */
    uint32_t *functions;   /* scratch: of one path */
    size_t function_capacity;
};

bool held_out_has(unsigned number, const struct learned *learned)
{
    return learned->stack && (learned->stack - 1) % HELD_OUT_FOLDS == HELD_OUT_FOLDS - 1 - number;
}

struct held_out *held_out_new(const struct trie *trie)
{
    struct held_out *h = allocate(struct held_out, .trie = trie, .samples = table_new());
    return whole_or_free(h, h->samples, free);
}

void held_out_free(struct held_out *h)
{
    if (!h)
        return;
    table_free(h->samples);
    free(h->functions);
    free(h);
}

int held_out_note(struct held_out *h, const struct observation *o, bool audit)
{
    if (o->learned.node == TRIE_NONE || partial_is_apart(trie_height(h->trie, o->learned.node)))
        return 0;
    const uint64_t stack = o->learned.stack | (audit ? OF_AUDITS : 0);
    return table_set(h->samples, o->record->sample.row, stack << 32 | o->learned.node) ? 0 : -ENOMEM;
}

int held_out_agrees(struct held_out *h, const struct sample *sample, const struct pathmap *map, uint32_t node,
                    struct held_stack *stack)
{
    const uint64_t *known = table_find(h->samples, sample->row);
    if (!known)
        return -ENOENT;
    int depth = trie_path(h->trie, (uint32_t)*known, &h->functions, &h->function_capacity);
    if (depth < 0)
        return -ENOMEM;
    *stack =
        (struct held_stack){*known >> 32, checksum_of(h->functions, (size_t)depth * sizeof *h->functions)};
    for (; depth && node != PATHMAP_NONE; depth--) {
        struct pathmap_node n = pathmap_node(map, node);
        if (n.function != h->functions[depth - 1])
            return 0;
        node = n.parent;
    }
    return depth == 0 && node == PATHMAP_NONE;
}
