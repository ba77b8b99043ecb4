/* unit.c - reads one function as a unit; see unit.h. */
#include "rewrite/growth/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "image/cfi/landing_pads.h"
#include "image/image_private.h"

void unit_refuse(struct unit *u, enum growth_refusal refusal, uint64_t where)
{
    if (u->refusal != GROWTH_RESIZABLE)
        return;
    u->refusal = refusal;
    u->where = where;
}

bool unit_fields(const struct unit *u, uint32_t i, struct code_fields *fields)
{
    const struct code_insn *insn = &u->code.insns[i];
    size_t size;
    const uint8_t *bytes = image_bytes(u->whole->image, insn->address, &size);
    return bytes && code_read_fields(bytes, size < insn->length ? size : insn->length, fields);
}

int unit_edit(struct unit *u, uint32_t i, bool displacement, int sign)
{
    struct code_fields f;
    const struct code_insn *insn = &u->code.insns[i];
    if (!unit_fields(u, i, &f)) {
        unit_refuse(u, GROWTH_OPERAND, insn->address);
        return 0;
    }
    unsigned at = displacement ? f.displacement_at : f.immediate_at;
    unsigned size = displacement ? f.displacement_size : f.immediate_size;
    if ((size != 1 && size != 4) || f.scaled || f.address32) {
        unit_refuse(u, GROWTH_OPERAND, insn->address);
        return 0;
    }
    struct frame_edit edit = {insn->address + at, (uint8_t)size, (int8_t)sign};
    return vec_push(u->edits, u->edit_count, u->edit_capacity, edit) ? 0 : -ENOMEM;
}

const struct unit_point *unit_point_at(const struct unit *u, uint64_t address)
{
    size_t beyond = lower_bound(i, (size_t)0, u->point_count, u->points[i].location <= address);
    return beyond ? &u->points[beyond - 1] : NULL;
}

bool unit_is_saved(const struct unit *u, uint64_t address, int32_t depth)
{
    const struct unit_point *point = unit_point_at(u, address);
    if (depth == 8)
        return true;
    unsigned words = (unsigned)(depth - 8) / 8;
    if (!point || depth % 8 || words > 31)
        return false;
    uint32_t all = (1u << words) - 1;
    return (point->named & all) == all;
}

struct landing_reader {
    struct unit *u;
    int rc;
};

/* (Entries for code that is not a call of this function, as in a damaged table, do no harm.) */
static void see_landing(void *context, uint64_t start, uint64_t end, uint64_t pad)
{
    struct landing_reader *r = context;
    struct unit *u = r->u;
    if (!pad || r->rc < 0)
        return;
    uint32_t at = function_code_find(&u->code, pad);
    uint64_t last = u->landing_count ? u->landings[u->landing_count - 1].end : 0;
    if (at == FUNCTION_CODE_NONE || start < last || end < start) {
        unit_refuse(u, GROWTH_LANDING_PADS, pad);
        return;
    }
    if (!vec_push(u->landings, u->landing_count, u->landing_capacity, (struct unit_landing){start, end, at}))
        r->rc = -ENOMEM;
}

static int read_landings(struct unit *u)
{
    struct landing_reader r = {.u = u};
    for (uint32_t p = 0; p < u->part_count; p++) {
        uint64_t start = u->parts[p].address;
        uint64_t damaged = landing_pads_see_part(&u->whole->image->file, image_cfi(u->whole->image), start,
                                                 start + u->parts[p].size, see_landing, &r);
        if (damaged)
            unit_refuse(u, GROWTH_LANDING_PADS, damaged);
    }
    return r.rc;
}

/* The number of items of an ascending list that lie in the middle of the unit; *first: index of the first. */
static size_t count_within(const uint64_t *items, size_t count, const struct function_part *part,
                           size_t *first)
{
    *first = lower_bound(i, (size_t)0, count, items[i] <= part->address);
    return lower_bound(i, *first, count, items[i] < part->address + part->size) - *first;
}

static void check_surroundings(struct unit *u)
{
    const struct whole *w = u->whole;
    for (uint32_t p = 0; p < u->part_count; p++) {
        const struct function_part *part = &u->parts[p];
        size_t first;
        if (count_within(w->entered, w->entered_count, part, &first))
            unit_refuse(u, GROWTH_ENTERED, w->entered[first]);
        size_t range =
            lower_bound(i, (size_t)0, w->debug_frame_count, w->debug_frames[i].end <= part->address);
        if (range < w->debug_frame_count && w->debug_frames[range].start < part->address + part->size)
            unit_refuse(u, GROWTH_DEBUG_FRAME, part->address);
    }
}

int unit_read(struct unit *u)
{
    const struct whole *w = u->whole;
    uint64_t size = 0;
    u->part_count = 0;
    for (uint32_t i = w->first[u->function]; i < w->first[u->function + 1]; i++) {
        const struct image_function *f = image_function(w->image, w->parts[i]);
        struct function_part part = {f->address, f->size};
        if (!vec_push(u->parts, u->part_count, u->part_capacity, part))
            return -ENOMEM;
        size += f->size;
    }
    if (function_code_read(&u->code, w->image, u->parts, u->part_count) < 0 ||
        calls_jumps_follow(w->jumps, u->function, &u->code) < 0 ||
        !vec_reserve(u->states, 0, u->state_capacity, u->code.count))
        return -ENOMEM;
    for (uint32_t i = 0; i < u->code.count; i++) {
        u->states[i] = (struct frame_state){DEPTH_UNSEEN, 0, 0};
        size -= u->code.insns[i].length;
        u->calls |= u->code.insns[i].kind == CODE_CALL || u->code.insns[i].kind == CODE_CALL_INDIRECT;
    }
    if (size) /* part of it is not in the file */
        unit_refuse(u, GROWTH_CODE_UNKNOWN, u->parts[0].address);
    check_surroundings(u);
    return u->refusal == GROWTH_RESIZABLE ? read_landings(u) : 0;
}

/* The steps of the analysis: the first STATE_STEPS are only for states, the last one is only for numbers that
 * change in place. */
#define STEPS       5u
#define STATE_STEPS 3u

/* frame: add instructions if nothing but pushes allocates the frame. */
static int analyse_steps(struct unit *u, const struct whole *whole, uint32_t function, bool inserting,
                         bool frame, unsigned count)
{
    int (*const steps[STEPS])(struct unit *) = {unit_read, unit_read_rules, unit_flow, unit_operands,
                                                unit_rules};
    u->whole = whole;
    u->function = function;
    u->inserting = inserting;
    u->place = frame; /* to be chosen */
    u->refusal = GROWTH_RESIZABLE;
    u->where = 0;
    u->framed = u->calls = u->by_bp = false;
    u->most = 0;
    u->hub = (struct frame_state){DEPTH_UNSEEN, 0, 0};
    u->edit_count = u->insertion_count = u->landing_count = u->point_count = u->rule_count = u->fde_count = 0;
    u->work_count = u->later_count = u->target_count = 0;
    u->code.count = u->code.edge_count = 0;
    if (image_function(whole->image, function)->owner != function ||
        image_function_is_stub(whole->image, function))
        unit_refuse(u, GROWTH_NOT_A_FUNCTION, 0);
    int rc = 0;
    for (unsigned i = 0; i < count && rc == 0 && u->refusal == GROWTH_RESIZABLE; i++)
        rc = steps[i](u);
    return rc;
}

int unit_analyse(struct unit *u, const struct whole *whole, uint32_t function)
{
    int rc = analyse_steps(u, whole, function, false, false, STEPS);
    enum growth_refusal refusal = u->refusal;
    uint64_t where = u->where;
    if (rc < 0 || !refusal_is_of_pushes(refusal) || !u->calls)
        return rc;
    rc = analyse_steps(u, whole, function, true, refusal == GROWTH_PUSHED, STEPS - 1);
    if (u->refusal != GROWTH_RESIZABLE) {
        u->inserting = false;
        return rc;
    }
    u->refusal = refusal;
    u->where = where;
    return rc;
}

int unit_follow(struct unit *u, const struct whole *whole, uint32_t function)
{
    int rc = analyse_steps(u, whole, function, false, false, STATE_STEPS);
    if (rc == 0 && u->refusal == GROWTH_POPPED)
        rc = analyse_steps(u, whole, function, true, false, STATE_STEPS);
    /* these are determined when all states are known */
    if (u->refusal == GROWTH_NO_FRAME || u->refusal == GROWTH_PUSHED || u->refusal == GROWTH_MIXED)
        u->refusal = GROWTH_RESIZABLE;
    return rc;
}

void unit_free(struct unit *u)
{
    free(u->parts);
    function_code_free(&u->code);
    free(u->states);
    free(u->edits);
    free(u->insertions);
    free(u->landings);
    free(u->targets);
    free(u->points);
    free(u->rules);
    free(u->fdes);
    free(u->work);
    free(u->later);
    free(u->scratch);
    *u = (struct unit){0};
}
