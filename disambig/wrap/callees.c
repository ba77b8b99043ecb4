/* callees.c - see callees.h. */
#include "disambig/wrap/callees.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "rewrite/growth/frames.h"

#define RETURN_ADDRESS (-8) /* from the CFA, bytes */
/* An index may start so far from its array that an array of the caller's looks like one in the frame. */
#define NEAR (-64)

#define UNREAD 0xff

struct tail { /* a function that ends in a jump to another one */
    uint32_t from, to;
};

struct callees {
    const struct growth *growth;
    struct unit unit;
    /* enum wrap_refusal by function, only for its own code until all functions that it jumps to are read; UNREAD */
    uint8_t *verdicts;
    struct tail *tails;
    size_t tail_count, tail_capacity;
};

struct callees *callees_new(const struct growth *growth)
{
    struct callees *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->growth = growth;
    c->verdicts = malloc(growth->count + 1ul);
    if (!c->verdicts) {
        free(c);
        return NULL;
    }
    for (uint32_t f = 0; f < growth->count; f++)
        c->verdicts[f] = UNREAD;
    return c;
}

void callees_free(struct callees *c)
{
    if (!c)
        return;
    unit_free(&c->unit);
    free(c->verdicts);
    free(c->tails);
    free(c);
}

/* Judges an operand whose address, without its index, is at most `distance` bytes above the CFA (below, if
 * negative). */
static enum wrap_refusal judge_distance(const struct code_insn *insn, int64_t distance)
{
    int64_t limit = insn->index == CODE_NO_REGISTER ? RETURN_ADDRESS : NEAR;
    return distance < limit ? WRAP_POSSIBLE : WRAP_CALLEE_ARGUMENTS;
}

static enum wrap_refusal judge_memory(const struct code_insn *insn, const struct frame_state *s,
                                      const struct code_fields *f)
{
    bool by_frame = s->frame && (insn->base == CODE_BP || insn->index == CODE_BP);
    bool pops = f->map == 0 && f->opcode == 0x8f; /* addressed by the new SP */
    if (!by_frame && insn->base != CODE_SP)
        return WRAP_POSSIBLE;
    if (f->scaled || f->address32 || pops || (s->frame && insn->index == CODE_BP))
        return WRAP_CALLEE_UNKNOWN;
    if (insn->base == CODE_BP)
        return judge_distance(insn, (int64_t)insn->displacement - s->frame);
    int32_t depth = s->depth == DEPTH_OPEN ? s->bound : s->depth; /* at least */
    return judge_distance(insn, (int64_t)insn->displacement - depth);
}

/* Judges a copy of SP or the frame pointer to another register or memory. */
static enum wrap_refusal judge_value(struct unit *u, uint32_t i, const struct code_fields *f)
{
    const struct code_insn *insn = &u->code.insns[i];
    const struct frame_state *s = &u->states[i];
    struct frame_state after = *s;
    bool pushes =
        f->map == 0 && !f->vector && (f->opcode & 0xf8) == 0x50 && insn->length == 1; /* no prefix */
    bool swaps = f->map == 0 && !f->vector && f->opcode == 0x90 + CODE_BP;
    if (insn->stack != CODE_SP_SAME && !pushes)
        return WRAP_POSSIBLE; /* an ordinary change of SP */
    if (s->frame && (swaps || unit_uses_register(f, CODE_BP)))
        return WRAP_CALLEE_ARGUMENTS;
    if (!unit_uses_register(f, CODE_SP) || s->depth == DEPTH_OPEN)
        return WRAP_POSSIBLE;
    if (insn->stack == CODE_SP_SAME && insn->written & 1u << CODE_BP && unit_step(u, i, &after) &&
        after.frame)
        return WRAP_POSSIBLE; /* mov %rsp,%rbp */
    return unit_is_saved(u, insn->address, s->depth) ? WRAP_CALLEE_ARGUMENTS : WRAP_POSSIBLE;
}

static enum wrap_refusal judge_insn(struct unit *u, uint32_t i)
{
    const struct code_insn *insn = &u->code.insns[i];
    const struct frame_state *s = &u->states[i];
    struct code_fields f;
    if (s->depth == DEPTH_UNSEEN || insn->kind == CODE_NOP)
        return WRAP_POSSIBLE;
    if (!unit_fields(u, i, &f) || (s->depth != DEPTH_OPEN && s->depth < -RETURN_ADDRESS))
        return WRAP_CALLEE_UNKNOWN;
    if (insn->kind == CODE_RETURN && f.opcode != 0xc3)
        return WRAP_CALLEE_UNKNOWN; /* it pops arguments */
    enum wrap_refusal refusal = insn->memory_operand ? judge_memory(insn, s, &f) : WRAP_POSSIBLE;
    return refusal ? refusal : judge_value(u, i, &f);
}

static int add_tail(struct callees *c, uint32_t from, uint32_t to)
{
    return vec_push(c->tails, c->tail_count, c->tail_capacity, (struct tail){from, to}) ? 0 : -ENOMEM;
}

/* Reads a jump that leaves the function. */
static int read_jump(struct callees *c, uint32_t function, uint32_t i, enum wrap_refusal *refusal)
{
    const struct unit *u = &c->unit;
    const struct code_insn *insn = &u->code.insns[i];
    if (u->states[i].depth == DEPTH_UNSEEN)
        return 0;
    if (insn->kind == CODE_JUMP_INDIRECT) {
        uint32_t edge = lower_bound(k, 0u, u->code.edge_count, u->code.edges[k].from < i);
        bool inside = (edge < u->code.edge_count && u->code.edges[edge].from == i) ||
                      u->states[i].depth != -RETURN_ADDRESS; /* by unit_flow() */
        *refusal = inside ? *refusal : WRAP_CALLEE_JUMPS;
    } else if ((insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH) &&
               u->code.jumps[i] == FUNCTION_CODE_NONE) {
        uint32_t to = image_function_entry(u->whole->image, insn->target);
        if (to != IMAGE_NO_FUNCTION)
            return add_tail(c, function, to);
        *refusal = WRAP_CALLEE_JUMPS;
    }
    return 0;
}

/* Judges the function's own code. */
static int read_function(struct callees *c, uint32_t function)
{
    enum wrap_refusal refusal = WRAP_POSSIBLE;
    struct unit *u = &c->unit;
    if (image_function_is_stub(c->growth->whole.image, function)) {
        c->verdicts[function] = WRAP_CALLEE_JUMPS;
        return 0;
    }
    int rc = unit_follow(u, &c->growth->whole, function);
    if (u->refusal != GROWTH_RESIZABLE)
        refusal = WRAP_CALLEE_UNKNOWN;
    for (uint32_t i = 0; i < u->code.count && rc == 0 && refusal == WRAP_POSSIBLE; i++) {
        refusal = judge_insn(u, i);
        if (refusal == WRAP_POSSIBLE)
            rc = read_jump(c, function, i, &refusal);
    }
    c->verdicts[function] = (uint8_t)refusal;
    return rc;
}

int callees_judge(struct callees *c, uint32_t function, enum wrap_refusal *out)
{
    size_t first = c->tail_count;
    int rc = c->verdicts[function] == UNREAD ? read_function(c, function) : 0;
    for (size_t i = first; i < c->tail_count && rc == 0; i++)
        if (c->verdicts[c->tails[i].to] == UNREAD)
            rc = read_function(c, c->tails[i].to);
    for (bool changed = true; changed && rc == 0;) {
        changed = false;
        for (size_t i = first; i < c->tail_count; i++) {
            uint8_t *from = &c->verdicts[c->tails[i].from], to = c->verdicts[c->tails[i].to];
            if (*from == WRAP_POSSIBLE && to != WRAP_POSSIBLE) {
                *from = to == WRAP_CALLEE_UNKNOWN ? WRAP_CALLEE_JUMPS : to;
                changed = true;
            }
        }
    }
    *out = (enum wrap_refusal)c->verdicts[function];
    return rc;
}
