/* growth.c - analyses all functions of an image; see growth.h. */
#include "rewrite/growth/frames.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

static int add_sites(struct growth *growth, const struct unit *u, bool *leaves_some)
{
    for (uint32_t i = 0; i < u->code.count; i++) {
        const struct code_insn *insn = &u->code.insns[i];
        if (insn->kind != CODE_CALL && insn->kind != CODE_CALL_INDIRECT)
            continue;
        if (u->states[i].depth == DEPTH_UNSEEN)
            continue;
        if (!u->states[i].bound)
            *leaves_some = true;
        else if (!vec_push(growth->shifted, growth->shifted_count, growth->shifted_capacity,
                           insn->address + insn->length))
            return -ENOMEM;
    }
    return 0;
}

static int add_function(struct growth *growth, struct unit *u, uint32_t function)
{
    if (unit_analyse(u, &growth->whole, function) < 0)
        return -ENOMEM;
    struct frame *item = &growth->items[function];
    *item = (struct frame){.most = (uint16_t)u->most,
                           .refusal = (uint8_t)u->refusal,
                           .calls = u->calls,
                           .inserting = u->inserting,
                           .where = u->where};
    return unit_is_understood(u) || u->inserting ? add_sites(growth, u, &item->leaves_some) : 0;
}

int growth_new(const struct image *image, struct growth **out, struct fathom_error *err)
{
    struct growth *growth = calloc(1, sizeof *growth);
    if (!growth)
        return error_memory(err);
    int rc = whole_read(image, &growth->whole, err);
    if (rc < 0) {
        free(growth);
        return rc;
    }
    growth->count = image_function_count(image);
    growth->items = calloc((size_t)growth->count + 1, sizeof *growth->items);
    struct unit u = {0};
    if (!growth->items)
        rc = -ENOMEM;
    for (uint32_t f = 0; f < growth->count && rc == 0; f++)
        rc = add_function(growth, &u, f);
    unit_free(&u);
    if (rc < 0) {
        growth_free(growth);
        return error_memory(err);
    }
    sort_numbers(growth->shifted, growth->shifted_count);
    *out = growth;
    return 0;
}

void growth_free(struct growth *growth)
{
    if (!growth)
        return;
    whole_free(&growth->whole);
    free(growth->items);
    free(growth->shifted);
    free(growth);
}

uint32_t growth_most(const struct growth *growth, uint32_t function)
{
    return function < growth->count ? growth->items[function].most : 0;
}

enum growth_refusal growth_refusal(const struct growth *growth, uint32_t function)
{
    return function < growth->count ? (enum growth_refusal)growth->items[function].refusal
                                    : GROWTH_NOT_A_FUNCTION;
}

bool growth_all_shifted(const struct growth *growth, uint32_t function)
{
    return (growth_is_understood(growth, function) || growth_by_insertion(growth, function)) &&
           !growth->items[function].leaves_some;
}

bool growth_by_insertion(const struct growth *growth, uint32_t function)
{
    return function < growth->count && growth->items[function].inserting;
}

bool growth_is_understood(const struct growth *growth, uint32_t function)
{
    return function < growth->count && refusal_is_of_room(growth->items[function].refusal);
}

uint64_t growth_where(const struct growth *growth, uint32_t function)
{
    return function < growth->count ? growth->items[function].where : 0;
}

bool growth_calls(const struct growth *growth, uint32_t function)
{
    return function < growth->count && growth->items[function].calls;
}

bool growth_shifted(const struct growth *growth, uint64_t return_address)
{
    size_t at = lower_bound(i, (size_t)0, growth->shifted_count, growth->shifted[i] < return_address);
    return at < growth->shifted_count && growth->shifted[at] == return_address;
}
