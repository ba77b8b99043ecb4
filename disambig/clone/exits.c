/* exits.c - see exits.h. */
#include "disambig/clone/exits.h"

#include <stdlib.h>

#include "base/vec.h"
#include "disambig/direct_call.h"

struct reading {
    const struct map_frames_of *of;
    const struct map_frames *frames;
    const struct calls *calls;
    struct table *pinned;
    struct exits *out;
};

/* Whether the function is a PLT stub for a function of the image, reached only by calls that can skip it. */
static bool is_own_stub(const struct reading *r, uint32_t function, const struct call_site *site)
{
    bool resolver;
    return r->of->symbolic && image_function_is_stub(r->of->image, r->frames->functions[function]) &&
           site->kind == CALL_IMPORT && calls_export(r->calls, site->symbol, &resolver) != IMAGE_NO_FUNCTION;
}

/* Reads the jumps of one function. */
static bool read_exits(struct reading *r, uint32_t function)
{
    const struct call_site *sites;
    struct function_exits *exits = &r->out->functions[function];
    size_t count = r->frames->functions[function] == IMAGE_NO_FUNCTION
                       ? 0
                       : calls_of(r->calls, r->frames->functions[function], &sites);
    exits->first = r->out->jump_count;
    for (size_t i = 0; i < count; i++) {
        if (!sites[i].tail || is_own_stub(r, function, &sites[i]))
            continue;
        uint32_t callee = direct_call_target(r->of, r->calls, &sites[i]);
        if (sites[i].kind != CALL_DIRECT && callee == IMAGE_NO_FUNCTION) {
            *(sites[i].kind == CALL_INDIRECT ? &exits->unknown : &exits->foreign) = true;
            continue;
        }
        callee = callee == IMAGE_NO_FUNCTION ? PATHMAP_NONE : r->out->numbers[callee];
        if (callee == PATHMAP_NONE || callee == function)
            continue;
        if ((!direct_call_has_room(r->of->image, &sites[i]) &&
             !table_put(r->pinned, exits_pair(function, callee), NULL)) ||
            !vec_push(r->out->jumps, r->out->jump_count, r->out->jump_capacity, callee))
            return false;
    }
    exits->count = r->out->jump_count - exits->first;
    return true;
}

/* Whether a jump through a PLT may lead to it. */
static bool is_exported(const struct reading *r, uint32_t function)
{
    const char *name = image_function(r->of->image, r->frames->functions[function])->name;
    bool resolver;
    return name && calls_export(r->calls, name, &resolver) != IMAGE_NO_FUNCTION;
}

static bool read_functions(struct reading *r)
{
    const uint32_t *taken;
    size_t count = calls_taken(r->calls, &taken);
    uint32_t functions = pathmap_function_count(r->of->map);
    for (uint32_t i = 0; i < image_function_count(r->of->image); i++)
        r->out->numbers[i] = PATHMAP_NONE;
    for (uint32_t f = 0; f < functions; f++) {
        if (r->frames->functions[f] != IMAGE_NO_FUNCTION)
            r->out->numbers[r->frames->functions[f]] = f;
        r->out->taken[f] = r->frames->functions[f] == IMAGE_NO_FUNCTION || is_exported(r, f);
    }
    for (size_t i = 0; i < count; i++)
        if (r->out->numbers[taken[i]] != PATHMAP_NONE)
            r->out->taken[r->out->numbers[taken[i]]] = true;
    for (uint32_t f = 0; f < functions; f++)
        if (!read_exits(r, f))
            return false;
    return true;
}

bool exits_read(const struct map_frames_of *of, const struct map_frames *frames, const struct calls *calls,
                struct table *pinned, struct exits *out)
{
    size_t functions = pathmap_function_count(of->map) + 1ul;
    *out = (struct exits){
        .functions = calloc(functions, sizeof *out->functions),
        .taken = calloc(functions, sizeof *out->taken),
        .numbers = malloc((image_function_count(of->image) + 1ul) * sizeof *out->numbers),
    };
    struct reading r = {of, frames, calls, pinned, out};
    return out->functions && out->taken && out->numbers && read_functions(&r);
}

void exits_clear(struct exits *exits)
{
    free(exits->functions);
    free(exits->jumps);
    free(exits->numbers);
    free(exits->taken);
    *exits = (struct exits){0};
}
