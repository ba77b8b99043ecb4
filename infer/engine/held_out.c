/* held_out.c - see held_out.h. */
#include "infer/engine/held_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

struct held_path {
    struct trainer_path path;
    uint64_t stack; /* its number */
};

struct held_out {
    struct trie *trie;
    struct trainer *trainer;
    struct pathmap *map;   /* of the trie; NULL before held_out_done() */
    struct table *moments; /* of samples -> number of their stack, among all, and node of the trie */
    struct table *numbers; /* of announced stacks that are held out -> index into `paths` */
    struct held_path *paths;
    size_t path_count, path_room;
    uint64_t stacks, audits; /* seen */
    unsigned fold;           /* the first of each HELD_OUT_FOLDS of them that is held out */
};

struct held_out *held_out_new(unsigned number)
{
    struct held_out *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->fold = HELD_OUT_FOLDS - 1 - number;
    h->trie = trie_new();
    h->trainer = h->trie ? trainer_new(h->trie) : NULL;
    h->moments = table_new();
    h->numbers = table_new();
    if (h->trainer && h->moments && h->numbers)
        return h;
    held_out_free(h);
    return NULL;
}

void held_out_free(struct held_out *h)
{
    if (!h)
        return;
    pathmap_close(h->map);
    trainer_free(h->trainer);
    trie_free(h->trie);
    table_free(h->moments);
    table_free(h->numbers);
    free(h->paths);
    free(h);
}

int held_out_shape(struct held_out *h, const struct pathmap *map)
{
    return trie_adopt_images(h->trie, map) ? 0 : -ENOMEM;
}

static uint64_t moment_of(const struct sample *sample)
{
    return hash_u64((uint64_t)sample->pid << 32 | sample->tid) ^ sample->time;
}

/* 0 or -ENOMEM. */
static int note(struct held_out *h, const struct sample *sample, uint64_t stack, uint32_t node)
{
    uint64_t *place = table_put(h->moments, moment_of(sample), NULL);
    if (place)
        *place = stack << 32 | node;
    return place ? 0 : -ENOMEM;
}

/* Unwinds the sample's stack. The same results. */
static int add(struct held_out *h, struct process *process, const struct sample *sample, bool audit,
               struct fathom_error *err)
{
    int entered = trainer_add(h->trainer, process, sample, NULL, err);
    if (entered <= 0)
        return entered; /* what cannot be unwound teaches nothing either */
    struct trainer_path path = trainer_entered(h->trainer);
    uint64_t *index = audit ? NULL : table_put(h->numbers, sample->stack_number, NULL);
    if (!audit && (!index || !vec_push(h->paths, h->path_count, h->path_room,
                                       (struct held_path){path, h->stacks + h->audits})))
        return error_memory(err);
    if (!audit)
        *index = h->path_count - 1;
    return note(h, sample, h->stacks + h->audits, path.leaf) < 0 ? error_memory(err) : 1;
}

static int repeat(struct held_out *h, struct process *process, const struct sample *sample,
                  struct fathom_error *err)
{
    const uint64_t *index = table_find(h->numbers, sample->stack_number);
    uint32_t node;
    if (!index)
        return 0;
    int rc = trainer_repeat(h->trainer, &h->paths[*index].path, process, sample, &node, err);
    if (rc >= 0 && node != TRIE_NONE && note(h, sample, h->paths[*index].stack, node) < 0)
        rc = error_memory(err);
    return rc < 0 ? rc : 1;
}

int held_out_take(struct held_out *h, struct process *process, const struct sample *sample, bool audit,
                  struct fathom_error *err)
{
    if (!audit && sample->known == SAMPLE_STACK_SAME)
        return repeat(h, process, sample, err);
    if (!sample->stack || (!audit && sample->known != SAMPLE_STACK_NEW))
        return 0;
    uint64_t *seen = audit ? &h->audits : &h->stacks;
    return (*seen)++ % HELD_OUT_FOLDS == h->fold ? add(h, process, sample, audit, err) : 0;
}

int held_out_done(struct held_out *h, struct fathom_error *err)
{
    return pathmap_over(h->trie, &h->map, err);
}

static bool same_function(const struct pathmap *a, uint32_t f, const struct pathmap *b, uint32_t g)
{
    struct pathmap_function x = pathmap_function(a, f), y = pathmap_function(b, g);
    if (x.image == PATHMAP_NONE || y.image == PATHMAP_NONE || x.address != y.address)
        return false;
    struct pathmap_image from = pathmap_image(a, x.image), to = pathmap_image(b, y.image);
    return from.build_id.size == to.build_id.size &&
           memcmp(from.build_id.bytes, to.build_id.bytes, to.build_id.size) == 0 &&
           (to.build_id.size || strcmp(from.path, to.path) == 0);
}

/* Of the functions of a node's path. */
static uint64_t hash_of(const struct pathmap *map, uint32_t node)
{
    uint64_t hash = 0;
    while (node != PATHMAP_NONE) {
        struct pathmap_node n = pathmap_node(map, node);
        struct pathmap_function f = pathmap_function(map, n.function);
        uint64_t id = 0;
        if (f.image != PATHMAP_NONE)
            memcpy(&id, pathmap_image(map, f.image).build_id.bytes, sizeof id);
        hash = hash_u64(hash + f.address) ^ id;
        node = n.parent;
    }
    return hash;
}

int held_out_agrees(const struct held_out *h, const struct sample *sample, const struct pathmap *map,
                    uint32_t node, struct held_stack *stack)
{
    const uint64_t *known = table_find(h->moments, moment_of(sample));
    if (!known)
        return -ENOENT;
    uint32_t own = pathmap_number(h->map, (uint32_t)*known);
    *stack = (struct held_stack){*known >> 32, hash_of(h->map, own)};
    while (own != PATHMAP_NONE && node != PATHMAP_NONE) {
        struct pathmap_node x = pathmap_node(h->map, own), y = pathmap_node(map, node);
        if (!same_function(h->map, x.function, map, y.function))
            return 0;
        own = x.parent;
        node = y.parent;
    }
    return own == node;
}
