/* map_frames.c - see map_frames.h. */
#include "disambig/map_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static void read_functions(const struct map_frames_of *of, struct map_frames *m)
{
    for (uint32_t i = 0; i < pathmap_function_count(of->map); i++) {
        struct pathmap_function f = pathmap_function(of->map, i);
        m->functions[i] =
            f.image == of->number ? image_function_entry(of->image, f.address) : IMAGE_NO_FUNCTION;
        bool known = m->functions[i] != IMAGE_NO_FUNCTION && of->growth;
        m->most[i] = known ? growth_most(of->growth, m->functions[i]) : 0;
    }
}

/* Fills in the functions by their symbols, by which the list for the compiler names them. */
static int read_symbols(const struct map_frames_of *of, struct map_frames *m, struct fathom_error *err)
{
    uint32_t count = image_function_count(of->image);
    struct names *names = names_new();
    uint32_t *times = calloc(count + 1ul, sizeof *times), *numbers = malloc((count + 1ul) * sizeof *numbers);
    uint64_t start = 0;
    bool fine = names && times && numbers;
    image_entry(of->image, &start);
    for (uint32_t f = 0; fine && f < count; f++) {
        const char *name = image_function(of->image, f)->name;
        numbers[f] = name ? names_intern(names, name) : count;
        fine = numbers[f] != NAMES_NONE;
        if (fine && name)
            times[numbers[f]]++;
    }
    for (uint32_t i = 0; fine && i < pathmap_function_count(of->map); i++) {
        uint32_t f = m->functions[i];
        bool listed = f != IMAGE_NO_FUNCTION && image_function(of->image, f)->name && times[numbers[f]] == 1;
        m->most[i] = listed && pathmap_function(of->map, i).address != start ? GROWTH_MOST : 0;
    }
    names_free(names);
    free(times);
    free(numbers);
    return fine ? 0 : error_memory(err);
}

/* Adds functions that only lack room for numbers, or instructions that move SP, and can be emitted anew. */
static int add_movable(const struct map_frames_of *of, struct map_frames *m, struct fathom_error *err)
{
    uint32_t all = pathmap_function_count(of->map), count = 0, k = 0;
    struct pad *pads = malloc((all + 1ul) * sizeof *pads);
    bool *movable = malloc((all + 1ul) * sizeof *movable);
    if (!pads || !movable) {
        free(pads);
        free(movable);
        return error_memory(err);
    }
    for (uint32_t i = 0; i < all; i++) {
        bool known = m->functions[i] != IMAGE_NO_FUNCTION && !m->most[i];
        m->inserted[i] = known && of->inserted && growth_by_insertion(of->growth, m->functions[i]);
        m->anew[i] = known && (m->inserted[i] || growth_is_understood(of->growth, m->functions[i]));
        if (m->anew[i])
            pads[count++] = (struct pad){pathmap_function(of->map, i).address, GROWTH_MOST, 0};
    }
    int rc = count ? enlarge_movable(of->image, of->growth,
                                     &(struct enlarge_plan){.pads = pads, .count = count}, movable, err)
                   : 0;
    for (uint32_t i = 0; i < all && rc == 0; i++) {
        m->anew[i] = m->anew[i] && movable[k++];
        m->inserted[i] = m->inserted[i] && m->anew[i];
        m->most[i] = m->anew[i] ? GROWTH_MOST : m->most[i];
    }
    free(pads);
    free(movable);
    return rc;
}

uint32_t map_frames_read_nodes(const struct pathmap *map, const struct growth *growth,
                               const uint32_t *functions, uint32_t *most, bool *unshifted)
{
    uint32_t unsited = 0;
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        struct pathmap_node node = pathmap_node(map, i);
        uint32_t caller =
            node.parent == PATHMAP_NONE ? PATHMAP_NONE : pathmap_node(map, node.parent).function;
        if (caller >= pathmap_function_count(map) || !most[caller])
            continue;
        if (node.site) {
            unshifted[i] = !growth_shifted(growth, node.site);
        } else if (!growth_all_shifted(growth, functions[caller])) {
            most[caller] = 0;
            unsited++;
        }
    }
    return unsited;
}

int map_frames_make(const struct map_frames_of *of, struct map_frames *out, struct fathom_error *err)
{
    size_t functions = pathmap_function_count(of->map) + 1ul, nodes = pathmap_node_count(of->map) + 1ul;
    struct map_frames m = {.functions = malloc(functions * sizeof *m.functions),
                           .most = calloc(functions, sizeof *m.most),
                           .anew = calloc(functions, sizeof *m.anew),
                           .inserted = calloc(functions, sizeof *m.inserted),
                           .unshifted = calloc(nodes, sizeof *m.unshifted)};
    int rc = m.functions && m.most && m.anew && m.inserted && m.unshifted ? 0 : error_memory(err);
    if (rc == 0) {
        read_functions(of, &m);
        rc = of->compiled ? read_symbols(of, &m, err) : of->anew ? add_movable(of, &m, err) : 0;
    }
    if (rc < 0) {
        map_frames_clear(&m);
        return rc;
    }
    if (!of->compiled) /* GCC allocates frames before all calls except tail calls */
        m.unsited = map_frames_read_nodes(of->map, of->growth, m.functions, m.most, m.unshifted);
    *out = m;
    return 0;
}

void map_frames_clear(struct map_frames *m)
{
    free(m->functions);
    free(m->most);
    free(m->anew);
    free(m->inserted);
    free(m->unshifted);
    memset(m, 0, sizeof *m);
}
