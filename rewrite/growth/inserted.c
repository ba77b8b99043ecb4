/*
 * inserted.c - frames that grow by added instructions: those made by pushes alone, as there is no number to
 * change, and those freed by a pop. See unit.h.
 *
 * The pad of a frame made by pushes is directly below the lowest register that the CFI names, at one place in the
 * whole unit. It is allocated after the push that saves that register, or the mov %rsp,%rbp behind it, and freed
 * before an instruction raises SP above the place: so a path that does not save it has no pad. Without saved
 * registers the place is below the return address: the pad is allocated before the first push, and freed after
 * the last pop.
 */
#include "rewrite/growth/unit.h"

#include <errno.h>

#include "base/search.h"
#include "base/vec.h"

#define BARE 8 /* the pad's place if nothing is saved: below the return address */

void unit_choose_place(struct unit *u)
{
    u->place = BARE;
    for (size_t i = 0; i < u->point_count; i++)
        u->place = u->points[i].deepest > u->place ? u->points[i].deepest : u->place;
}

/* Whether moving SP does not affect what memory the instruction reads or writes. */
static bool is_plain(const struct unit *u, uint32_t i)
{
    const struct code_insn *insn = &u->code.insns[i];
    struct code_fields f;
    return !insn->memory_operand || (unit_fields(u, i, &f) && f.map == 0 && !f.vector && f.opcode == 0x8d);
}

static bool allocates_pad(const struct unit *u, uint32_t i, int64_t next, const struct frame_state *s)
{
    const struct code_insn *insn = &u->code.insns[i];
    if (u->place == BARE)
        return s->depth == BARE && next > BARE;
    return next == u->place && (insn->stack == CODE_SP_SAME || insn->amount > 0) &&
           unit_is_saved(u, insn->address + insn->length, (int32_t)next) && (!u->by_bp || s->frame);
}

static bool frees_pad(const struct unit *u, int64_t next)
{
    return next < u->place || (u->place == BARE && next == BARE);
}

bool unit_insert(struct unit *u, uint32_t i, int64_t next, struct frame_state *s, enum unit_site *site)
{
    if (s->bound ? !frees_pad(u, next) : !allocates_pad(u, i, next, s))
        return true;
    if (!is_plain(u, i) || next < 8) {
        unit_refuse(u, GROWTH_OPERAND, u->code.insns[i].address);
        return false;
    }
    *site = (s->bound == 0) == (u->place == BARE) ? SITE_BEFORE : SITE_AFTER;
    s->bound = s->bound ? 0 : u->place;
    return true;
}

int unit_note_insertion(struct unit *u, uint32_t i, bool allocates, bool after)
{
    const struct image_function *main = image_function(u->whole->image, u->function);
    uint64_t address = u->code.insns[i].address;
    struct unit_insertion insertion = {i, allocates ? 1 : -1, after};
    if (allocates && address - main->address >= main->size)
        unit_refuse(u, GROWTH_PUSHED,
                    address); /* in a new file, a .cold part with its own frame may look like a function */
    return vec_push(u->insertions, u->insertion_count, u->insertion_capacity, insertion) ? 0 : -ENOMEM;
}

bool unit_has_pad(const struct unit *u, uint32_t insn)
{
    size_t at = lower_bound(i, (size_t)0, u->insertion_count, u->insertions[i].insn < insn);
    if (at < u->insertion_count && u->insertions[at].insn == insn && !u->insertions[at].after)
        return u->insertions[at].sign > 0;
    return u->states[insn].bound != 0;
}
