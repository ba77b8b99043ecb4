/* realigned.c - see realigned.h. */
#include "infer/model/realigned.h"

#include <string.h>

#include "process/partial.h"

#define STATE_ALIGNMENT 64u
#define STACK_ALIGNMENT 16u /* of a handler's frame */

/* Whether the function has glibc's or musl's name of the code that handlers return to. */
static bool is_restorer(const struct pathmap_function *function)
{
    return function->name && strcmp(function->name, "__restore_rt") == 0;
}

/* Whether a node below this root is a handler on an alternate stack inside the thread's own stack, so that its height counts
 * from the thread's base. */
static bool is_signal(const struct pathmap_function *root, const struct pathmap_node *n)
{
    return root->name && strcmp(root->name, PARTIAL_SIGNAL) == 0 && n->height != UNWIND_SIGNAL_HEIGHT;
}

/* Whether this is a handler, which returns to the signal frame's first instruction. Calls, of at least two bytes, return
 * further on. (The frame's FDE, and so its function, may start one byte early.) Hooks do not record the site: then it is
 * recognised by name. */
static bool is_handler(const struct pathmap *map, const struct pathmap_node *n)
{
    if (n->parent == PATHMAP_NONE)
        return false;
    uint32_t outer = pathmap_node(map, n->parent).function;
    if (outer == PATHMAP_NONE)
        return false;
    const struct pathmap_function function = pathmap_function(map, outer);
    return n->site ? n->site - function.address < 2 : is_restorer(&function) || is_signal(&function, n);
}

bool realigned_any(const struct pathmap *map)
{
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        struct pathmap_node n = pathmap_node(map, i);
        if (is_handler(map, &n))
            return true;
    }
    return false;
}

/* The height of the innermost handler on a node's path, and the path's depth. false: there is none. */
static bool find_handler(const struct pathmap *map, uint32_t node, uint32_t *height, size_t *depth)
{
    bool found = false;
    *depth = 0;
    while (node != PATHMAP_NONE) {
        struct pathmap_node n = pathmap_node(map, node);
        if (!found && is_handler(map, &n)) {
            found = true;
            *height = n.height;
        }
        node = n.parent;
        ++*depth;
    }
    return found;
}

size_t realigned_find(const struct pathmap *map, uint32_t function, uint32_t height, struct realigned *out,
                      size_t max)
{
    size_t found = 0, depth;
    uint32_t first, handler;
    if (pathmap_find(map, function, height, &first))
        return 0;
    for (uint32_t up = STACK_ALIGNMENT; up < 2 * STATE_ALIGNMENT; up += STACK_ALIGNMENT) {
        uint32_t by = up - STATE_ALIGNMENT;
        uint32_t count = pathmap_find(map, function, height - by, &first);
        for (uint32_t n = first; count && n < first + count && found < max; n++)
            if (pathmap_node_sound(map, n) && find_handler(map, n, &handler, &depth))
                out[found++] = (struct realigned){n, by};
    }
    return found;
}

double realigned_chance(const struct pathmap *map, uint32_t node)
{
    const uint32_t function = pathmap_node(map, node).function;
    uint32_t first, count = pathmap_function_nodes(map, function, &first);
    double self = 0, all = 0, passes = 0, all_passes = 0;
    for (uint32_t i = first; i < first + count; i++) {
        const struct pathmap_node n = pathmap_node(map, i);
        all += (double)n.self;
        all_passes += (double)n.passes;
    }
    self = (double)pathmap_node(map, node).self;
    passes = (double)pathmap_node(map, node).passes;
    double share = all > 0 ? (self + 1) / (all + count) : (passes + 1) / (all_passes + count);
    return share / (STATE_ALIGNMENT / STACK_ALIGNMENT);
}

size_t realigned_path(const struct pathmap *map, struct realigned path, struct automaton_step *steps,
                      size_t max)
{
    uint32_t handler = UINT32_MAX, node = path.node;
    size_t depth;
    find_handler(map, node, &handler, &depth);
    if (depth > max)
        return 0;
    for (size_t i = depth; i-- > 0;) {
        struct pathmap_node n = pathmap_node(map, node);
        uint32_t by = n.height >= handler ? path.by : 0;
        steps[i] = (struct automaton_step){n.function, n.height + by, n.site, false};
        node = n.parent;
    }
    return depth;
}
