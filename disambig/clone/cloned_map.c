/* cloned_map.c - see cloned_map.h. */
#include "disambig/clone/cloned_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/map/walk.h"

#define MADE_UP ((uint64_t)1 << 63) /* addresses of copies: no address of a file is so large */

struct making {
    const struct pathmap *map;
    const uint32_t *redirectors;
    const struct bodies *bodies;
    struct trie *trie;
    uint32_t *numbers; /* number in the trie, by the original's node */
    uint32_t *body;    /* by the original's node; PATHMAP_NONE: not known yet */
};

static int damaged_map(struct fathom_error *err)
{
    return error_set(err, EBADMSG, "the path map is damaged: train it again");
}

static int add_images(const struct making *m, struct fathom_error *err)
{
    for (uint32_t i = 0; i < pathmap_image_count(m->map); i++) {
        struct pathmap_image image = pathmap_image(m->map, i);
        uint32_t number = trie_image(m->trie, image.path, &image.build_id);
        if (number == TRIE_NONE)
            return error_memory(err);
        if (image.hooked)
            trie_set_hooked(m->trie, number);
        if (image.entered)
            trie_set_entered(m->trie, number);
        if (number != i)
            return damaged_map(err);
    }
    return 0;
}

static int add_functions(const struct making *m, struct fathom_error *err)
{
    for (uint32_t b = 0; b < bodies_count(m->bodies); b++) {
        struct pathmap_function f = pathmap_function(m->map, bodies_function(m->bodies, b));
        bool copy = bodies_copy(m->bodies, b) > 0;
        if (f.image >= pathmap_image_count(m->map) || f.address >= MADE_UP)
            return damaged_map(err);
        uint32_t number = trie_function(m->trie, f.image, copy ? MADE_UP + b : f.address, f.name);
        if (number == TRIE_NONE)
            return error_memory(err);
        if (number != b)
            return damaged_map(err);
    }
    return 0;
}

/* A node's redirector is its parent, or a sibling reached before it (redirects.h). */
static uint32_t find_body(struct making *m, uint32_t node)
{
    if (m->body[node] == PATHMAP_NONE) {
        uint32_t redirector = m->redirectors[node], function = pathmap_node(m->map, node).function;
        m->body[node] = redirector == PATHMAP_NONE
                            ? function
                            : bodies_callee(m->bodies, find_body(m, redirector), function);
    }
    return m->body[node];
}

static int add_node(void *context, uint32_t at, struct fathom_error *err)
{
    struct making *m = context;
    if (!pathmap_node_sound(m->map, at))
        return damaged_map(err);
    struct pathmap_node node = pathmap_node(m->map, at);
    uint32_t parent = node.parent == PATHMAP_NONE ? TRIE_ROOT : m->numbers[node.parent];
    m->numbers[at] = trie_child(m->trie, parent, find_body(m, at), node.height, node.site);
    if (m->numbers[at] == TRIE_NONE)
        return error_memory(err);
    trie_add(m->trie, m->numbers[at], node.passes, node.self);
    uint32_t first, count = pathmap_pcs(m->map, at, &first);
    for (uint32_t i = first; i < first + count; i++) {
        struct pathmap_pc pc = pathmap_pc(m->map, i);
        if (!trie_add_pc(m->trie, m->numbers[at], pc.offset, pc.samples))
            return error_memory(err);
    }
    return 0;
}

static int make_map(struct making *m, struct cloned_map *out, struct fathom_error *err)
{
    uint32_t nodes = pathmap_node_count(m->map);
    *trie_statistics(m->trie) = pathmap_statistics(m->map);
    int rc = add_images(m, err);
    if (rc == 0)
        rc = add_functions(m, err);
    if (rc == 0)
        rc = pathmap_walk(m->map, add_node, m, err);
    if (rc == 0)
        rc = pathmap_over(m->trie, &out->map, err);
    if (rc < 0)
        return rc;
    if (pathmap_node_count(out->map) != nodes)
        return damaged_map(err);
    for (uint32_t i = 0; i < nodes; i++) {
        m->numbers[i] = pathmap_number(out->map, m->numbers[i]);
        out->origins[m->numbers[i]] = i;
    }
    return 0;
}

int cloned_map_make(const struct pathmap *map, const uint32_t *redirectors, const struct bodies *bodies,
                    struct cloned_map *out, struct fathom_error *err)
{
    if (pathmap_leaves_out(map))
        return error_set(err, ENOTSUP, "the path map leaves out frames, as older ones do: train it again");
    size_t nodes = pathmap_node_count(map) + 1ul;
    struct cloned_map cloned = {.trie = trie_new(),
                                .origins = malloc(nodes * sizeof *cloned.origins),
                                .numbers = malloc(nodes * sizeof *cloned.numbers),
                                .bodies = malloc(nodes * sizeof *cloned.bodies)};
    struct making m = {.map = map,
                       .redirectors = redirectors,
                       .bodies = bodies,
                       .trie = cloned.trie,
                       .numbers = cloned.numbers,
                       .body = cloned.bodies};
    int rc = cloned.trie && cloned.origins && cloned.numbers && cloned.bodies ? 0 : error_memory(err);
    if (rc == 0) {
        memset(cloned.bodies, 0xff, nodes * sizeof *cloned.bodies);
        rc = make_map(&m, &cloned, err);
    }
    if (rc < 0)
        cloned_map_clear(&cloned);
    else
        *out = cloned;
    return rc;
}

void cloned_map_clear(struct cloned_map *cloned)
{
    pathmap_close(cloned->map);
    trie_free(cloned->trie);
    free(cloned->origins);
    free(cloned->numbers);
    free(cloned->bodies);
    *cloned = (struct cloned_map){0};
}
