/* call_sites.c - see call_sites.h. */
#include "profile/call_sites.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

static void add_site(struct call_step *step, uint64_t site)
{
    for (uint32_t i = 0; i < step->count; i++)
        if (step->sites[i] == site)
            return;
    if (step->count < CALL_SITES_MOST)
        step->sites[step->count++] = site;
    else
        step->more = true;
}

/* Adds the sites on the path of a node that has the same functions. */
static void add_node(struct call_sites *s, const struct pathmap *map, uint32_t node)
{
    for (size_t i = s->count; i-- > 0;) {
        struct pathmap_node n = pathmap_node(map, node);
        add_site(&s->steps[i], n.site);
        node = n.parent;
        if (node == PATHMAP_NONE)
            return;
    }
}

/* Adds the nodes of the path, or only those that were seen. Returns how many. */
static uint32_t add_nodes(struct call_sites *s, const struct pathmap *map, const struct pathmap_node *of,
                          bool seen)
{
    uint32_t first, added = 0, count = pathmap_find(map, of->function, of->height, &first);
    for (uint32_t i = first; i < first + count; i++) {
        struct pathmap_node n = pathmap_node(map, i);
        if (n.path != of->path || (seen && !pathmap_node_seen(&n)))
            continue;
        if (added++ == CALL_SITES_NODES) {
            for (size_t step = 0; step < s->count; step++)
                s->steps[step].more = true;
            break;
        }
        add_node(s, map, i);
    }
    return added;
}

int call_sites_find(struct call_sites *s, const struct pathmap *map, uint32_t node, enum path_sites whose,
                    struct fathom_error *err)
{
    int depth = pathmap_path(map, node, NULL, 0);
    if (depth < 0)
        return error_set(err, EBADMSG, "the path map is damaged");
    size_t count = depth ? (size_t)depth - 1 : 0;
    if (!vec_reserve(s->steps, 0, s->capacity, count))
        return error_memory(err);
    s->count = count;
    for (size_t i = 0; i < count; i++)
        s->steps[i] = (struct call_step){.own = whose == PATH_SITES_OWN};
    struct pathmap_node n = pathmap_node(map, node);
    if (whose != PATH_SITES_ANY)
        add_node(s, map, node);
    else if (!add_nodes(s, map, &n, true))
        add_nodes(s, map, &n, false);
    return 0;
}

void call_sites_clear(struct call_sites *s)
{
    free(s->steps);
    *s = (struct call_sites){0};
}
