/* frames.c - all functions of an image, one after the other; see frames.h. */
#include "disambig/frames/private.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"

static int add_sites(struct frames *frames, const struct unit *u)
{
    for (uint32_t i = 0; i < u->code.count; i++) {
        const struct code_insn *insn = &u->code.insns[i];
        if (insn->kind != CODE_CALL && insn->kind != CODE_CALL_INDIRECT)
            continue;
        if (u->states[i].depth != DEPTH_UNSEEN && u->states[i].bound &&
            !vec_push(frames->shifted, frames->shifted_count, frames->shifted_room,
                      insn->address + insn->length))
            return -ENOMEM;
    }
    return 0;
}

static int add_function(struct frames *frames, struct unit *u, uint32_t function)
{
    if (unit_analyse(u, &frames->whole, function) < 0)
        return -ENOMEM;
    frames->items[function] = (struct frame){(uint16_t)u->most, (uint8_t)u->refusal, u->calls, u->where};
    return u->most ? add_sites(frames, u) : 0;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int frames_new(const struct image *image, struct frames **out, struct fathom_error *err)
{
    struct frames *frames = calloc(1, sizeof *frames);
    if (!frames)
        return error_memory(err);
    int rc = whole_read(image, &frames->whole, err);
    if (rc < 0) {
        free(frames);
        return rc;
    }
    frames->count = image_function_count(image);
    frames->items = calloc((size_t)frames->count + 1, sizeof *frames->items);
    struct unit u = {0};
    if (!frames->items)
        rc = -ENOMEM;
    for (uint32_t f = 0; f < frames->count && rc == 0; f++)
        rc = add_function(frames, &u, f);
    unit_free(&u);
    if (rc < 0) {
        frames_free(frames);
        return error_memory(err);
    }
    if (frames->shifted_count)
        qsort(frames->shifted, frames->shifted_count, sizeof *frames->shifted, by_number);
    *out = frames;
    return 0;
}

void frames_free(struct frames *frames)
{
    if (!frames)
        return;
    whole_free(&frames->whole);
    free(frames->items);
    free(frames->shifted);
    free(frames);
}

uint32_t frames_most(const struct frames *frames, uint32_t function)
{
    return function < frames->count ? frames->items[function].most : 0;
}

enum frames_refusal frames_refusal(const struct frames *frames, uint32_t function)
{
    return function < frames->count ? (enum frames_refusal)frames->items[function].refusal
                                    : FRAMES_NOT_A_FUNCTION;
}

uint64_t frames_where(const struct frames *frames, uint32_t function)
{
    return function < frames->count ? frames->items[function].where : 0;
}

bool frames_calls(const struct frames *frames, uint32_t function)
{
    return function < frames->count && frames->items[function].calls;
}

bool frames_shifted(const struct frames *frames, uint64_t return_address)
{
    size_t at = lower_bound(i, (size_t)0, frames->shifted_count, frames->shifted[i] < return_address);
    return at < frames->shifted_count && frames->shifted[at] == return_address;
}
