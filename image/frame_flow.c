/* frame_flow.c - see frame_flow.h. Each instruction's depth changes at most twice (unseen, known, open), so
 * the work is linear in the code. */
#include "image/frame_flow.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

#define UNSEEN    (-2)
#define DEPTH_MAX (1 << 30) /* bytes: more is not plausible */

struct run {
    struct frame_flow *flow;
    const struct cfi *cfi;
    const struct function_code *code;
    uint32_t work_count;
    bool open; /* SP was moved by an unknown amount somewhere */
};

/* The depth according to the CFI, or UNSEEN. */
static int32_t depth_by_cfi(const struct cfi *cfi, uint64_t address)
{
    struct cfi_row row = cfi_lookup(cfi, address);
    if (row.cfa == CFI_SP && row.cfa_offset >= 0 && row.cfa_offset < DEPTH_MAX)
        return row.cfa_offset;
    return cfi_in_memory(&row) ? FRAME_OPEN : UNSEEN;
}

/* The depth after the instruction. */
static int32_t depth_after(const struct run *r, uint32_t i)
{
    const struct code_insn *insn = &r->code->insns[i];
    int64_t depth = r->flow->depths[i];
    switch (insn->stack) {
    case CODE_SP_SAME:
        break;
    case CODE_SP_MOVED:
        depth = depth < 0 ? FRAME_OPEN : depth + insn->amount;
        break;
    case CODE_SP_FROM_BP: {
        struct cfi_row row = cfi_lookup(r->cfi, insn->address);
        depth = row.cfa == CFI_BP ? (int64_t)row.cfa_offset - insn->amount : FRAME_OPEN;
        break;
    }
    default:
        depth = FRAME_OPEN;
    }
    return depth < 0 || depth >= DEPTH_MAX ? FRAME_OPEN : (int32_t)depth;
}

/* `work` never holds more than two entries per instruction, as only changes are added. */
static void reach_insn(struct run *r, uint32_t i, int32_t depth)
{
    int32_t *at = &r->flow->depths[i];
    if (*at == depth || *at == FRAME_OPEN)
        return;
    if (depth_by_cfi(r->cfi, r->code->insns[i].address) != UNSEEN)
        return;
    *at = *at == UNSEEN ? depth : FRAME_OPEN;
    r->open |= *at == FRAME_OPEN;
    r->flow->work[r->work_count++] = i;
}

static void leave_instruction(struct run *r, uint32_t i)
{
    int32_t depth = depth_after(r, i);
    if (r->code->jumps[i] != FUNCTION_CODE_NONE)
        reach_insn(r, r->code->jumps[i], depth);
    if (function_code_goes_on(r->code, i))
        reach_insn(r, i + 1, depth);
}

static void settle_flow(struct run *r)
{
    while (r->work_count)
        leave_instruction(r, r->flow->work[--r->work_count]);
}

static int compare_depths(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The most frequent depth of calls in reached parts, among calls whose depth no row gives; UNSEEN: none. `work`
 * may be overwritten. */
static int32_t usual_depth(struct run *r)
{
    int32_t *depths = (int32_t *)r->flow->work, best = UNSEEN;
    uint32_t count = 0, best_run = 0;
    for (uint32_t i = 0; i < r->code->count; i++) {
        const struct code_insn *insn = &r->code->insns[i];
        if ((insn->kind == CODE_CALL || insn->kind == CODE_CALL_INDIRECT || insn->kind == CODE_BRANCH) &&
            r->flow->depths[i] >= 0 && depth_by_cfi(r->cfi, insn->address) == UNSEEN)
            depths[count++] = r->flow->depths[i];
    }
    if (count)
        qsort(depths, count, sizeof *depths, compare_depths);
    for (uint32_t i = 0, run = 0; i < count; i++) {
        run = i && depths[i] == depths[i - 1] ? run + 1 : 1;
        if (run > best_run) {
            best_run = run;
            best = depths[i];
        }
    }
    return best;
}

int frame_flow_run(struct frame_flow *flow, const struct cfi *cfi, const struct function_code *code)
{
    if (!vec_reserve(flow->depths, 0, flow->capacity, code->count) ||
        !vec_reserve(flow->work, 0, flow->work_capacity, 2 * (size_t)code->count))
        return -ENOMEM;
    struct run r = {.flow = flow, .cfi = cfi, .code = code};
    uint32_t unseen = 0;
    for (uint32_t i = 0; i < code->count; i++) {
        flow->depths[i] = depth_by_cfi(cfi, code->insns[i].address);
        unseen += flow->depths[i] == UNSEEN;
        r.open |= flow->depths[i] == FRAME_OPEN;
    }
    if (unseen == 0)
        return 0;
    for (uint32_t i = 0; i < code->count; i++) {
        /* a part without CFI is entered as functions are */
        bool entry =
            i == 0 || code->insns[i - 1].address + code->insns[i - 1].length != code->insns[i].address;
        if (entry && cfi_lookup(cfi, code->insns[i].address).cfa == CFI_NONE)
            reach_insn(&r, i, 8);
        else if (flow->depths[i] >= 0 && !(code->ways[i] & WAY_NONE))
            leave_instruction(&r, i);
        settle_flow(&r);
    }
    /* last, as the other ways to reach targets of tables are more reliable */
    for (uint32_t i = 0; i < code->edge_count; i++) {
        const struct table_edge *edge = &code->edges[i];
        if (flow->depths[edge->from] != UNSEEN && flow->depths[edge->to] == UNSEEN)
            reach_insn(&r, edge->to, flow->depths[edge->from]);
        settle_flow(&r);
    }
    /* landing pads, and targets of tables that were not found: assume the usual depth */
    int32_t usual = r.open ? FRAME_OPEN : usual_depth(&r);
    for (uint32_t i = 0; i < code->count; i++) {
        if (flow->depths[i] == UNSEEN && !(code->ways[i] & WAY_NONE))
            reach_insn(&r, i, usual == UNSEEN ? FRAME_OPEN : usual);
        settle_flow(&r);
    }
    for (uint32_t i = 0; i < code->count; i++) /* padding, and code only reached through it */
        if (flow->depths[i] == UNSEEN)
            flow->depths[i] = FRAME_OPEN;
    return 0;
}

void frame_flow_free(struct frame_flow *flow)
{
    free(flow->depths);
    free(flow->work);
    *flow = (struct frame_flow){0};
}
