/* measured.c - see measured.h. */
#include "disambig/measured.h"

#include <stdlib.h>

#include "pathmap/map/walk.h"

#define NOT_THERE (UINT32_MAX - 1)

struct comparison {
    const struct pathmap *moved, *measured;
    uint32_t *functions; /* number in the moved map, by function of the measured one; PATHMAP_NONE: none */
    uint32_t *numbers;   /* node of the moved map, by measured node; or NOT_THERE */
    const struct build_id *patched;
    struct measured result;
};

static void find_functions(const struct comparison *c)
{
    for (uint32_t i = 0; i < pathmap_function_count(c->measured); i++) {
        struct pathmap_function f = pathmap_function(c->measured, i);
        struct pathmap_image image = pathmap_image(c->measured, f.image);
        uint32_t number = pathmap_find_image(c->moved, image.path, &image.build_id, NULL);
        c->functions[i] =
            number == PATHMAP_NONE ? PATHMAP_NONE : pathmap_find_function(c->moved, number, f.address);
    }
}

/* The node of the moved map for this call at this height; PATHMAP_NONE: none. */
static uint32_t find_at(const struct pathmap *moved, uint32_t parent, uint32_t function,
                        const struct pathmap_node *node)
{
    uint32_t first, count = pathmap_find(moved, function, node->height, &first);
    for (uint32_t i = first; i < first + count; i++) {
        struct pathmap_node candidate = pathmap_node(moved, i);
        if (candidate.parent == parent && candidate.site == node->site)
            return i;
    }
    return PATHMAP_NONE;
}

/* The same at any height. */
static uint32_t find_call(const struct pathmap *moved, uint32_t parent, uint32_t function, uint64_t site)
{
    uint32_t first, count = pathmap_function_nodes(moved, function, &first);
    for (uint32_t i = first; i < first + count; i++) {
        struct pathmap_node candidate = pathmap_node(moved, i);
        if (candidate.parent == parent && candidate.site == site)
            return i;
    }
    return PATHMAP_NONE;
}

/* Whether the node's function is in the patched image. */
static bool is_of_patched(const struct comparison *c, const struct pathmap_node *node)
{
    struct pathmap_image image =
        pathmap_image(c->measured, pathmap_function(c->measured, node->function).image);
    return build_id_equal(&image.build_id, c->patched);
}

static uint32_t compare_heights(struct comparison *c, uint32_t at)
{
    struct pathmap_node node = pathmap_node(c->measured, at);
    uint32_t parent = node.parent == PATHMAP_NONE ? PATHMAP_NONE : c->numbers[node.parent];
    uint32_t function = node.function == PATHMAP_NONE ? PATHMAP_NONE : c->functions[node.function];
    if (parent == NOT_THERE) {
        c->result.below++;
        return NOT_THERE;
    }
    uint32_t found = function == PATHMAP_NONE ? PATHMAP_NONE : find_at(c->moved, parent, function, &node);
    if (found != PATHMAP_NONE) {
        c->result.agree++;
        return found;
    }
    uint32_t other =
        function == PATHMAP_NONE ? PATHMAP_NONE : find_call(c->moved, parent, function, node.site);
    if (other == PATHMAP_NONE) {
        c->result.unknown++;
        return NOT_THERE;
    }
    if (!is_of_patched(c, &node)) {
        c->result.aligned++;
        return NOT_THERE;
    }
    if (c->result.wrong++ == 0) {
        c->result.first_wrong = at;
        c->result.expected = pathmap_node(c->moved, other).height;
    }
    return NOT_THERE;
}

static int compare_node(void *context, uint32_t at, struct fathom_error *err)
{
    (void)err;
    struct comparison *c = context;
    c->numbers[at] = compare_heights(c, at);
    return 0;
}

int measured_compare(const struct pathmap *moved, const struct pathmap *measured,
                     const struct build_id *patched, struct measured *out, struct fathom_error *err)
{
    size_t nodes = pathmap_node_count(measured) + 1ul;
    struct comparison c = {
        .moved = moved,
        .measured = measured,
        .patched = patched,
        .functions = malloc((pathmap_function_count(measured) + 1ul) * sizeof *c.functions),
        .numbers = malloc(nodes * sizeof *c.numbers),
        .result.first_wrong = PATHMAP_NONE,
    };
    int rc = c.functions && c.numbers ? 0 : error_memory(err);
    if (rc == 0) {
        find_functions(&c);
        rc = pathmap_walk(measured, compare_node, &c, err);
    }
    if (rc == 0)
        *out = c.result;
    free(c.functions);
    free(c.numbers);
    return rc;
}
