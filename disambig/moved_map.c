/* moved_map.c - see moved_map.h. */
#include "disambig/moved_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "pathmap/map/walk.h"

struct move {
    const struct moved_map *input;
    struct trie *trie;
    uint32_t *functions; /* the trie's numbers of the map's functions */
    uint32_t *numbers;   /* the trie's numbers of the map's nodes, once they are entered */
    uint32_t *shifts;    /* bytes by which a node moves, once it is entered */
};

static bool add_images(const struct move *m)
{
    const struct moved_map *in = m->input;
    for (uint32_t i = 0; i < pathmap_image_count(in->map); i++) {
        struct pathmap_image image = pathmap_image(in->map, i);
        uint32_t number = i == in->image ? trie_image(m->trie, in->path, in->id)
                                         : trie_image(m->trie, image.path, &image.build_id);
        if (number == TRIE_NONE)
            return false;
        if (image.hooked)
            trie_set_hooked(m->trie, number);
        if (image.entered)
            trie_set_entered(m->trie, number);
    }
    return true;
}

/* The address of an instruction of the patched image in the copy that this function of the map is. */
static uint64_t address_now(const struct moved_map *in, uint32_t function, uint64_t address, bool back)
{
    uint32_t copy = in->bodies ? bodies_copy(in->bodies, function) : 0;
    return in->file ? enlarged_address(in->file, address, copy, back) : address;
}

/* The address of that copy's entry. */
static uint64_t entry_now(const struct moved_map *in, uint32_t function, uint64_t entry)
{
    uint32_t copy = in->bodies ? bodies_copy(in->bodies, function) : 0;
    return in->file ? enlarged_entry(in->file, entry, copy) : entry;
}

/* The function's description before there were copies. */
static struct pathmap_function function_of(const struct moved_map *in, uint32_t function)
{
    return pathmap_function(in->map, in->bodies ? bodies_function(in->bodies, function) : function);
}

static uint32_t add_function(const struct move *m, uint32_t number, const struct pathmap_function *f)
{
    const struct moved_map *in = m->input;
    struct pathmap_image image = pathmap_image(in->map, f->image);
    if (f->image != in->image)
        return trie_function(m->trie, trie_image(m->trie, image.path, &image.build_id), f->address, f->name);
    uint32_t copy = in->bodies ? bodies_copy(in->bodies, number) : 0;
    char *name = NULL;
    if (copy && f->name && asprintf(&name, "%s.clone.%u", f->name, copy) < 0)
        return TRIE_NONE;
    uint32_t made = trie_function(m->trie, trie_image(m->trie, in->path, in->id),
                                  entry_now(in, number, f->address), name ? name : f->name);
    free(name);
    return made;
}

static int add_functions(struct move *m, struct fathom_error *err)
{
    for (uint32_t i = 0; i < pathmap_function_count(m->input->map); i++) {
        struct pathmap_function f = function_of(m->input, i);
        if (f.image == PATHMAP_NONE)
            return error_set(err, EBADMSG, "function %u of the path map is in no image: the map is damaged",
                             i);
        m->functions[i] = add_function(m, i, &f);
        if (m->functions[i] == TRIE_NONE)
            return error_memory(err);
    }
    return 0;
}

/* Adds the positions of a node's samples in its function. */
static int add_pcs(struct move *m, uint32_t at, uint32_t number, struct fathom_error *err)
{
    const struct moved_map *in = m->input;
    uint32_t function = pathmap_node(in->map, at).function;
    struct pathmap_function f = function_of(in, function);
    uint32_t first, count = pathmap_pcs(in->map, at, &first);
    for (uint32_t p = first; p < first + count; p++) {
        struct pathmap_pc pc = pathmap_pc(in->map, p);
        if (f.image == in->image)
            pc.offset = (uint32_t)(address_now(in, function, f.address + pc.offset, false) -
                                   entry_now(in, function, f.address));
        if (!trie_add_pc(m->trie, number, pc.offset, pc.samples))
            return error_memory(err);
    }
    return 0;
}

/* The return address of the call to a node whose caller is in the patched image. */
static uint64_t site_now(const struct moved_map *in, uint32_t at, uint32_t caller, uint64_t site)
{
    uint32_t head = in->heads ? in->heads[at] : PATHMAP_NONE;
    uint32_t callee = head == PATHMAP_NONE ? PATHMAP_NONE : pathmap_node(in->map, head).function;
    if (!in->file || callee == PATHMAP_NONE || !bodies_copy(in->bodies, callee))
        return address_now(in, caller, site, true);
    return enlarged_return(in->file, site, bodies_copy(in->bodies, caller), function_of(in, callee).address);
}

/* Enters a node whose parent is entered. */
static int add_node(void *context, uint32_t at, struct fathom_error *err)
{
    struct move *m = context;
    const struct moved_map *in = m->input;
    if (!pathmap_node_sound(in->map, at))
        return error_set(err, EBADMSG, "node %u of the path map is unsound: the map is damaged", at);
    struct pathmap_node node = pathmap_node(in->map, at);
    if (in->left_out && in->left_out[at])
        return 0;
    uint32_t parent = TRIE_ROOT, height, shift = 0;
    uint32_t caller =
        node.parent == PATHMAP_NONE ? PATHMAP_NONE : pathmap_node(in->map, node.parent).function;
    if (node.parent != PATHMAP_NONE) {
        bool moves = !in->unshifted || !in->unshifted[at];
        uint32_t pad = moves ? in->pads[caller] : 0;
        if (in->wraps && in->wraps[at] != PATHMAP_NONE)
            pad += in->pads[in->wraps[at]];
        parent = m->numbers[node.parent];
        if (__builtin_add_overflow(m->shifts[node.parent], pad, &shift))
            return error_set(err, EOVERFLOW, "the pads make a stack of 4 GiB and more");
    }
    if (__builtin_add_overflow(node.height, shift, &height))
        return error_set(err, EOVERFLOW, "the pads make a stack of 4 GiB and more");
    bool inside =
        node.parent != PATHMAP_NONE && node.site && pathmap_function(in->map, caller).image == in->image;
    uint64_t site = inside ? site_now(in, at, caller, node.site) : node.site;
    uint32_t number = trie_child(m->trie, parent, m->functions[node.function], height, site);
    if (number == TRIE_NONE)
        return error_memory(err);
    m->numbers[at] = number;
    m->shifts[at] = shift;
    trie_add(m->trie, number, node.passes, node.self);
    return add_pcs(m, at, number, err);
}

int moved_map_make(const struct moved_map *moved, struct trie *trie, struct fathom_error *err)
{
    if (pathmap_leaves_out(moved->map))
        trie_leave_out(trie); /* frames of files that are not patched do not grow */
    size_t nodes = pathmap_node_count(moved->map) + 1ul;
    struct move m = {.input = moved,
                     .trie = trie,
                     .functions = malloc((pathmap_function_count(moved->map) + 1ul) * sizeof *m.functions),
                     .numbers = malloc(nodes * sizeof *m.numbers),
                     .shifts = malloc(nodes * sizeof *m.shifts)};
    int rc = m.functions && m.numbers && m.shifts && add_images(&m) ? 0 : error_memory(err);
    if (rc == 0)
        rc = add_functions(&m, err);
    if (rc == 0)
        rc = pathmap_walk(moved->map, add_node, &m, err);
    if (rc == 0)
        *trie_statistics(trie) = pathmap_statistics(moved->map);
    free(m.functions);
    free(m.numbers);
    free(m.shifts);
    return rc;
}
