/* copyable.c - see copyable.h. */
#include "disambig/clone/copyable.h"

#include <stdlib.h>
#include <string.h>

static void measure_code(const struct map_frames_of *of, const struct map_frames *frames, uint32_t *by_owner,
                         struct copyable *c)
{
    for (uint32_t i = 0; i < image_function_count(of->image); i++) {
        const struct image_function *f = image_function(of->image, i);
        by_owner[f->owner] += f->size;
        c->code += f->size;
    }
    for (uint32_t f = 0; f < pathmap_function_count(of->map); f++)
        c->sizes[f] = frames->functions[f] == IMAGE_NO_FUNCTION ? 0 : by_owner[frames->functions[f]];
}

/* Tries two copies of each requested function, with larger or unchanged frames. */
static int try_copies(const struct map_frames_of *of, const bool *asked, bool grow, bool *out,
                      struct fathom_error *err)
{
    uint32_t all = pathmap_function_count(of->map), count = 0;
    struct pad *pads = malloc((2ul * all + 1) * sizeof *pads);
    bool *movable = malloc(2ul * all + 1);
    int rc = pads && movable ? 0 : error_memory(err);
    for (uint32_t f = 0; f < all && rc == 0; f++)
        for (uint32_t copy = 0; copy < 2 && asked[f]; copy++)
            pads[count++] = (struct pad){pathmap_function(of->map, f).address, grow ? GROWTH_MOST : 0, copy};
    if (rc == 0 && count)
        rc = enlarge_movable(of->image, of->growth, &(struct enlarge_plan){.pads = pads, .count = count},
                             movable, err);
    count = 0;
    for (uint32_t f = 0; f < all && rc == 0; f++)
        if (asked[f]) {
            out[f] = movable[count] && movable[count + 1];
            count += 2;
        }
    free(pads);
    free(movable);
    return rc;
}

/* Drops guards in callers that cannot be emitted anew. */
static void drop_guards(const struct pathmap *map, struct copyable *c)
{
    for (uint32_t i = 0; i < pathmap_node_count(map); i++)
        if (c->redirectors.pointed[i] && !c->functions[pathmap_node(map, c->redirectors.nodes[i]).function]) {
            c->redirectors.pointed[i] = false;
            c->redirectors.nodes[i] = PATHMAP_NONE;
        }
}

static int find_functions(const struct map_frames_of *of, const struct map_frames *frames, struct copyable *c,
                          struct fathom_error *err)
{
    uint32_t all = pathmap_function_count(of->map);
    bool *asked = calloc(all + 1ul, sizeof *asked);
    if (!asked)
        return error_memory(err);
    for (uint32_t i = 0; i < pathmap_node_count(of->map); i++) {
        uint32_t redirector = c->redirectors.nodes[i];
        if (redirector != PATHMAP_NONE)
            c->functions[pathmap_node(of->map, i).function] = true;
        if (c->redirectors.pointed[i]) /* guards require that the function is emitted anew */
            c->functions[pathmap_node(of->map, redirector).function] = true;
    }
    for (uint32_t f = 0; f < all; f++)
        asked[f] =
            c->functions[f] && (growth_is_understood(of->growth, frames->functions[f]) ||
                                (of->inserted && growth_by_insertion(of->growth, frames->functions[f])));
    int rc = try_copies(of, asked, true, c->growing, err);
    for (uint32_t f = 0; f < all; f++) {
        asked[f] = c->functions[f] && !c->growing[f];
        c->functions[f] = c->growing[f];
    }
    if (rc == 0)
        rc = try_copies(of, asked, false, c->functions, err);
    free(asked);
    if (rc == 0)
        drop_guards(of->map, c);
    return rc;
}

int copyable_find(const struct map_frames_of *of, const struct map_frames *frames, struct copyable *out,
                  struct fathom_error *err)
{
    size_t functions = pathmap_function_count(of->map) + 1ul;
    struct copyable c = {.functions = calloc(functions, sizeof *c.functions),
                         .growing = calloc(functions, sizeof *c.growing),
                         .sizes = calloc(functions, sizeof *c.sizes)};
    uint32_t *by_owner = calloc(image_function_count(of->image) + 1ul, sizeof *by_owner);
    struct calls *calls = NULL;
    int rc = c.functions && c.growing && c.sizes && by_owner && calls_build(of->image, &calls, err) == 0
                 ? 0
                 : error_memory(err);
    if (rc == 0)
        measure_code(of, frames, by_owner, &c);
    if (rc == 0)
        rc = redirects_find(of, frames, calls, &c.redirectors, err);
    if (rc == 0)
        rc = find_functions(of, frames, &c, err);
    calls_free(calls);
    free(by_owner);
    if (rc < 0)
        copyable_clear(&c);
    else
        *out = c;
    return rc;
}

void copyable_clear(struct copyable *c)
{
    free(c->functions);
    free(c->growing);
    free(c->sizes);
    redirects_clear(&c->redirectors);
    memset(c, 0, sizeof *c);
}
