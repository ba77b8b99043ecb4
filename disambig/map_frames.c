/* map_frames.c - see map_frames.h. */
#include "disambig/map_frames.h"

#include <stdlib.h>
#include <string.h>

static void read_functions(const struct pathmap *map, uint32_t image, const struct image *file,
                           const struct growth *frames, struct map_frames *m)
{
    for (uint32_t i = 0; i < pathmap_function_count(map); i++) {
        struct pathmap_function f = pathmap_function(map, i);
        m->functions[i] = f.image == image ? image_function_entry(file, f.address) : IMAGE_NO_FUNCTION;
        m->most[i] = m->functions[i] == IMAGE_NO_FUNCTION ? 0 : growth_most(frames, m->functions[i]);
    }
}

static void read_nodes(const struct pathmap *map, const struct growth *frames, struct map_frames *m)
{
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        struct pathmap_node node = pathmap_node(map, i);
        uint32_t caller =
            node.parent == PATHMAP_NONE ? PATHMAP_NONE : pathmap_node(map, node.parent).function;
        if (caller >= pathmap_function_count(map) || !m->most[caller])
            continue;
        if (node.site) {
            m->unshifted[i] = !growth_shifted(frames, node.site);
        } else if (!growth_all_shifted(frames, m->functions[caller])) {
            m->most[caller] = 0;
            m->unsited++;
        }
    }
}

int map_frames_make(const struct pathmap *map, uint32_t image, const struct image *file,
                    const struct growth *frames, struct map_frames *out, struct fathom_error *err)
{
    size_t functions = pathmap_function_count(map) + 1ul, nodes = pathmap_node_count(map) + 1ul;
    struct map_frames m = {.functions = malloc(functions * sizeof *m.functions),
                           .most = calloc(functions, sizeof *m.most),
                           .unshifted = calloc(nodes, sizeof *m.unshifted)};
    if (!m.functions || !m.most || !m.unshifted) {
        map_frames_clear(&m);
        return error_memory(err);
    }
    read_functions(map, image, file, frames, &m);
    read_nodes(map, frames, &m);
    *out = m;
    return 0;
}

void map_frames_clear(struct map_frames *m)
{
    free(m->functions);
    free(m->most);
    free(m->unshifted);
    memset(m, 0, sizeof *m);
}
