/* clone_calls.c - which calls of a file lead to copies, directly or by guards, or past its PLT; see clone.h. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"
#include "disambig/clone/clone.h"
#include "disambig/direct_call.h"

struct listing {
    const struct map_frames *frames;
    const struct bodies *bodies;
    const struct calls *calls;
    struct table *numbers; /* function of the image -> its number in the map */
    const struct map_frames_of *of;
    struct move_call *list;
    size_t count, capacity;
};

static bool add_calls(struct listing *l, uint32_t body)
{
    const struct call_site *sites;
    uint32_t function = l->frames->functions[bodies_function(l->bodies, body)];
    size_t count = function == IMAGE_NO_FUNCTION ? 0 : calls_of(l->calls, function, &sites);
    for (size_t i = 0; i < count; i++) {
        uint32_t target = direct_call_target(l->of, l->calls, &sites[i]);
        const uint64_t *called = target == IMAGE_NO_FUNCTION ? NULL : table_find(l->numbers, target);
        uint32_t callee = called ? bodies_callee(l->bodies, body, (uint32_t)*called) : 0;
        bool past = target != IMAGE_NO_FUNCTION && sites[i].kind == CALL_IMPORT;
        uint32_t copy = called ? bodies_copy(l->bodies, callee) : 0;
        if (!copy && !past)
            continue;
        struct move_call call = {sites[i].address, bodies_copy(l->bodies, body), copy,
                                 past ? image_function(l->of->image, target)->address : 0};
        if (!vec_push(l->list, l->count, l->capacity, call))
            return false;
    }
    return true;
}

int clone_calls(const struct map_frames_of *of, const struct map_frames *frames, const struct bodies *bodies,
                struct move_call **out, size_t *count, struct fathom_error *err)
{
    struct calls *calls = NULL;
    struct listing l = {.frames = frames, .bodies = bodies, .of = of, .numbers = table_new()};
    bool good = l.numbers && calls_build(of->image, &calls, err) == 0;
    l.calls = calls;
    for (uint32_t b = 0; good && b < bodies_count(bodies) && bodies_function(bodies, b) == b; b++) {
        uint64_t *number = frames->functions[b] == IMAGE_NO_FUNCTION
                               ? NULL
                               : table_put(l.numbers, frames->functions[b], NULL);
        good = number || frames->functions[b] == IMAGE_NO_FUNCTION;
        if (number)
            *number = b;
    }
    for (uint32_t b = 0; good && b < bodies_count(bodies); b++)
        good = add_calls(&l, b);
    calls_free(calls);
    table_free(l.numbers);
    if (!good) {
        free(l.list);
        return error_memory(err);
    }
    *out = l.list;
    *count = l.count;
    return 0;
}

int clone_guards(const struct map_frames_of *of, const struct clone_result *result, struct move_guard **out,
                 size_t *count, struct fathom_error *err)
{
    const struct pointed *edges = &result->edges;
    const struct bodies *bodies = result->bodies;
    struct calls *calls = NULL;
    struct move_guard *list = malloc((edges->count + 1ul) * sizeof *list);
    int rc = list ? calls_build(of->image, &calls, err) : error_memory(err);
    size_t found = 0;
    for (uint32_t i = 0; i < edges->count && rc == 0; i++) {
        const struct pointed_edge *edge = &edges->items[i];
        uint32_t copy = bodies_copy(bodies, bodies_callee(bodies, edge->caller, edge->function));
        const struct call_site *site = calls_before(calls, edges->places[edge->place].site);
        if (!copy || !site)
            continue;
        uint32_t caller = bodies_function(bodies, edge->caller);
        list[found++] = (struct move_guard){.site = site->address,
                                            .caller = pathmap_function(of->map, caller).address,
                                            .target = pathmap_function(of->map, edge->function).address,
                                            .in = bodies_copy(bodies, edge->caller),
                                            .copy = copy};
    }
    calls_free(calls);
    if (rc < 0) {
        free(list);
        return rc;
    }
    *out = list;
    *count = found;
    return 0;
}
