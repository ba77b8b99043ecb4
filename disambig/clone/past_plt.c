/* past_plt.c - see past_plt.h. */
#include "disambig/clone/past_plt.h"

#include <stdlib.h>

#include "disambig/direct_call.h"
#include "disambig/moved_map.h"

struct passing {
    const struct map_frames_of *of;
    struct calls *calls;
    /* By function of the image: a stub that calls skip; a stub that is needed, as a call cannot or its address is
     * taken; the function that such calls lead to. */
    bool *passed, *needed, *reached;
};

static void read_calls(struct passing *p)
{
    const struct call_site *sites;
    const uint32_t *taken;
    size_t count = calls_all(p->calls, &sites);
    for (size_t i = 0; i < count; i++) {
        uint32_t stub =
            sites[i].target ? image_function_entry(p->of->image, sites[i].target) : IMAGE_NO_FUNCTION;
        if (stub == IMAGE_NO_FUNCTION || !image_function_is_stub(p->of->image, stub))
            continue;
        uint32_t to =
            sites[i].kind == CALL_IMPORT ? direct_call_target(p->of, p->calls, &sites[i]) : IMAGE_NO_FUNCTION;
        bool passes = to != IMAGE_NO_FUNCTION && direct_call_has_room(p->of->image, &sites[i]);
        p->passed[stub] |= passes;
        p->needed[stub] |= !passes;
        if (passes)
            p->reached[to] = true;
    }
    count = calls_taken(p->calls, &taken);
    for (size_t i = 0; i < count; i++)
        p->needed[taken[i]] = true;
}

/* Whether the file can be changed, because some function called in this way can be emitted anew. */
static int is_possible(const struct passing *p, bool *possible, struct fathom_error *err)
{
    uint32_t all = image_function_count(p->of->image), count = 0;
    struct pad *pads = malloc((all + 1ul) * sizeof *pads);
    bool *movable = malloc(all + 1ul);
    for (uint32_t i = 0; pads && i < all; i++)
        if (p->reached[i])
            pads[count++] = (struct pad){.address = image_function(p->of->image, i)->address};
    int rc = pads && movable
                 ? enlarge_movable(p->of->image, p->of->growth,
                                   &(struct enlarge_plan){.pads = pads, .count = count}, movable, err)
                 : error_memory(err);
    for (uint32_t i = 0; i < count && rc == 0; i++)
        *possible |= movable[i];
    free(pads);
    free(movable);
    return rc;
}

/* Leaves out stubs. One with nodes below it, as in a damaged map, is kept, as stubs call nothing; so is one with
 * an unknown call, as from code without a name. */
static void leave_out(const struct passing *p, bool *out)
{
    const struct pathmap *map = p->of->map;
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        struct pathmap_node node = pathmap_node(map, i);
        struct pathmap_function f = pathmap_function(map, node.function);
        uint32_t stub =
            f.image == p->of->number ? image_function_entry(p->of->image, f.address) : IMAGE_NO_FUNCTION;
        uint32_t from = node.parent == PATHMAP_NONE
                            ? PATHMAP_NONE
                            : pathmap_function(map, pathmap_node(map, node.parent).function).image;
        bool known = from != p->of->number || (node.site && calls_before(p->calls, node.site));
        out[i] = stub != IMAGE_NO_FUNCTION && p->passed[stub] && !p->needed[stub] && known &&
                 node.parent != PATHMAP_NONE;
    }
    for (uint32_t i = 0; i < pathmap_node_count(map); i++) {
        uint32_t parent = pathmap_node(map, i).parent;
        if (parent != PATHMAP_NONE)
            out[parent] = false;
    }
}

static int make_trie(const struct passing *p, const bool *left_out, struct trie **out,
                     struct fathom_error *err)
{
    const struct pathmap *map = p->of->map;
    struct pathmap_image image = pathmap_image(map, p->of->number);
    uint32_t *none = calloc(pathmap_function_count(map) + 1ul, sizeof *none);
    struct moved_map same = {.map = map,
                             .image = p->of->number,
                             .path = image.path,
                             .id = &image.build_id,
                             .pads = none,
                             .left_out = left_out};
    struct trie *trie = trie_new();
    int rc = none && trie ? moved_map_make(&same, trie, err) : error_memory(err);
    free(none);
    if (rc < 0)
        trie_free(trie);
    else
        *out = trie;
    return rc;
}

int past_plt_make(const struct map_frames_of *of, struct trie **out, struct fathom_error *err)
{
    size_t functions = image_function_count(of->image) + 1ul, nodes = pathmap_node_count(of->map) + 1ul;
    struct passing p = {.of = of,
                        .passed = calloc(functions, sizeof *p.passed),
                        .needed = calloc(functions, sizeof *p.needed),
                        .reached = calloc(functions, sizeof *p.reached)};
    bool *left_out = calloc(nodes, sizeof *left_out), possible = false, any = false;
    *out = NULL;
    int rc = p.passed && p.needed && p.reached && left_out && calls_build(of->image, &p.calls, err) == 0
                 ? 0
                 : error_memory(err);
    if (rc == 0) {
        read_calls(&p);
        leave_out(&p, left_out);
    }
    for (size_t i = 0; i < nodes && rc == 0; i++)
        any |= left_out[i];
    if (rc == 0 && any)
        rc = is_possible(&p, &possible, err);
    if (rc == 0 && possible)
        rc = make_trie(&p, left_out, out, err);
    calls_free(p.calls);
    free(p.passed);
    free(p.needed);
    free(p.reached);
    free(left_out);
    return rc;
}
