/* flow.c - see flow.h. */
#include "rewrite/duplicate/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "image/cfi/landing_pads.h"

enum { MARK_NEW, MARK_OPEN, MARK_DONE };

/* Exceptions -------------------------------------------------------------------------------------------------- */

struct landings {
    struct flow *flow;
    const struct move_unit *unit;
    bool failed;
};

static void see_landing(void *context, uint64_t start, uint64_t end, uint64_t pad)
{
    struct landings *l = context;
    uint32_t at = pad ? function_code_find(&l->unit->code, pad) : FUNCTION_CODE_NONE;
    struct flow *f = l->flow;
    if (at != FUNCTION_CODE_NONE && start < end &&
        !vec_push(f->landings, f->landing_count, f->landing_capacity, (struct flow_landing){start, end, at}))
        l->failed = true;
}

/* (A damaged table has no landings: nothing leads to their pads then.) */
static int find_landings(struct flow *flow, const struct move_unit *unit)
{
    struct landings l = {flow, unit, false};
    const struct cfi *cfi = image_cfi(unit->survey->image);
    flow->landing_count = 0;
    for (uint32_t p = 0; p < unit->part_count; p++)
        landing_pads_see_part(unit->survey->file, cfi, unit->parts[p].address,
                              unit->parts[p].address + unit->parts[p].size, see_landing, &l);
    sort_by(flow->landings, flow->landing_count, start);
    return l.failed ? -ENOMEM : 0;
}

/* Blocks ------------------------------------------------------------------------------------------------------ */

static bool ends_block(const struct code_insn *insn)
{
    return !code_goes_on(insn) || insn->kind == CODE_BRANCH;
}

/* Marks the instructions with which blocks begin, in block_of. */
static void mark_leaders(struct flow *flow, const struct move_unit *unit)
{
    const struct survey_label *labels;
    uint32_t *leads = flow->block_of, to;
    memset(leads, 0, unit->code.count * sizeof *leads);
    for (uint32_t i = 0; i < unit->code.count; i++) {
        if (unit->code.jumps[i] != FUNCTION_CODE_NONE)
            leads[unit->code.jumps[i]] = 1;
        if (i + 1 < unit->code.count &&
            (ends_block(&unit->code.insns[i]) || !function_code_goes_on(&unit->code, i)))
            leads[i + 1] = 1;
    }
    for (uint32_t t = 0; t < unit->table_count; t++)
        for (uint32_t k = 0; k < unit->tables[t].count; k++)
            if (move_unit_entry(unit, &unit->tables[t], k, &to))
                leads[to] = 1;
    size_t count = unit->labels ? survey_labels(unit->survey, unit->function, &labels) : 0;
    for (size_t k = 0; k < count; k++)
        if ((to = function_code_find(&unit->code, labels[k].value)) != FUNCTION_CODE_NONE)
            leads[to] = 1;
    for (uint32_t k = 0; k < flow->landing_count; k++)
        leads[flow->landings[k].pad] = 1;
    for (uint32_t p = 0; p < unit->part_count; p++)
        leads[unit->parts[p].first] = 1;
}

static int make_blocks(struct flow *flow, const struct move_unit *unit)
{
    flow->count = 0;
    if (!vec_reserve(flow->block_of, 0, flow->block_of_capacity, unit->code.count))
        return -ENOMEM;
    mark_leaders(flow, unit);
    for (uint32_t i = 0; i < unit->code.count; i++) {
        if (flow->block_of[i] &&
            !vec_push(flow->blocks, flow->count, flow->capacity, (struct flow_block){.first = i}))
            return -ENOMEM;
        flow->blocks[flow->count - 1].count++;
        flow->block_of[i] = flow->count - 1;
    }
    return vec_push(flow->blocks, flow->count, flow->capacity, (struct flow_block){0}) ? 0 : -ENOMEM;
}

/* Edges ------------------------------------------------------------------------------------------------------- */

static bool put_edge(struct flow *flow, struct flow_block *from, uint32_t to)
{
    from->out_count++;
    return vec_push(flow->to, flow->edge_count, flow->to_capacity, to);
}

static bool put_table(struct flow *flow, const struct move_unit *unit, struct flow_block *from, uint32_t t)
{
    uint32_t to;
    for (uint32_t k = 0; k < unit->tables[t].count; k++)
        if (move_unit_entry(unit, &unit->tables[t], k, &to) && !put_edge(flow, from, flow->block_of[to]))
            return false;
    return true;
}

/* Adds edges to where the block's calls land if they throw. */
static bool put_landings(struct flow *flow, const struct move_unit *unit, struct flow_block *block)
{
    for (uint32_t i = block->first; i < block->first + block->count && flow->landing_count; i++) {
        const struct code_insn *insn = &unit->code.insns[i];
        const struct flow_landing *l = flow->landings;
        if (!code_is_call(insn))
            continue;
        uint32_t beyond = lower_bound(k, (uint32_t)0, flow->landing_count, l[k].start <= insn->address);
        if (beyond && insn->address < l[beyond - 1].end &&
            !put_edge(flow, block, flow->block_of[l[beyond - 1].pad]))
            return false;
    }
    return true;
}

static bool put_edges(struct flow *flow, const struct move_unit *unit, uint32_t b)
{
    struct flow_block *block = &flow->blocks[b];
    uint32_t last = block->first + block->count - 1;
    const struct code_insn *insn = &unit->code.insns[last];
    block->out = flow->edge_count;
    if (unit->code.jumps[last] != FUNCTION_CODE_NONE &&
        !put_edge(flow, block, flow->block_of[unit->code.jumps[last]]))
        return false;
    bool padding = unit->code.ways[last] & WAY_NONE; /* behind a jump */
    if (!padding && function_code_goes_on(&unit->code, last) &&
        !put_edge(flow, block, flow->block_of[last + 1]))
        return false;
    if (!put_landings(flow, unit, block))
        return false;
    if (insn->kind != CODE_JUMP_INDIRECT)
        return true;
    if (unit->through[last])
        return put_table(flow, unit, block, unit->through[last] - 1);
    block->open = true;
    return put_edge(flow, block, flow->count - 1);
}

/* Adds edges from the block of unknown jumps: to labels that data points to, and to all tables' entries. */
static bool put_unknown(struct flow *flow, const struct move_unit *unit)
{
    struct flow_block *block = &flow->blocks[flow->count - 1];
    const struct survey_label *labels;
    size_t count = unit->labels ? survey_labels(unit->survey, unit->function, &labels) : 0;
    block->out = flow->edge_count;
    block->open = true;
    for (size_t k = 0; k < count; k++) {
        uint32_t to = function_code_find(&unit->code, labels[k].value);
        if (to != FUNCTION_CODE_NONE && !put_edge(flow, block, flow->block_of[to]))
            return false;
    }
    for (uint32_t t = 0; t < unit->table_count; t++)
        if (!put_table(flow, unit, block, t))
            return false;
    return true;
}

static int make_edges(struct flow *flow, const struct move_unit *unit)
{
    flow->edge_count = 0;
    for (uint32_t b = 0; b + 1 < flow->count; b++)
        if (!put_edges(flow, unit, b))
            return -ENOMEM;
    if (!put_unknown(flow, unit) || !vec_reserve(flow->from, 0, flow->from_capacity, flow->edge_count + 1))
        return -ENOMEM;
    for (uint32_t e = 0; e < flow->edge_count; e++)
        flow->blocks[flow->to[e]].in_count++;
    for (uint32_t b = 0, at = 0; b < flow->count; b++) {
        flow->blocks[b].in = at;
        at += flow->blocks[b].in_count;
        flow->blocks[b].in_count = 0;
    }
    for (uint32_t b = 0; b < flow->count; b++)
        for (uint32_t e = 0; e < flow->blocks[b].out_count; e++) {
            struct flow_block *to = &flow->blocks[flow->to[flow->blocks[b].out + e]];
            flow->from[to->in + to->in_count++] = b;
        }
    return 0;
}

/* Loops ------------------------------------------------------------------------------------------------------- */

/* Depth first from a block. `round`: the root's; a block found from an earlier root, if now reached, has an entry
 * that was not known then. Blocks without instructions cannot be headers: their successors are. */
static void search_depth_first(struct flow *flow, uint32_t root, uint32_t round)
{
    uint32_t depth = 0, *next = flow->order, *rounds = flow->order + flow->count;
    flow->stack[depth++] = root;
    flow->marks[root] = MARK_OPEN;
    next[root] = 0;
    rounds[root] = round;
    while (depth) {
        uint32_t b = flow->stack[depth - 1];
        struct flow_block *block = &flow->blocks[b];
        if (next[b] == block->out_count) {
            flow->marks[b] = MARK_DONE;
            depth--;
            continue;
        }
        uint32_t to = flow->to[block->out + next[b]++];
        if (flow->marks[to] == MARK_NEW) {
            flow->stack[depth++] = to;
            flow->marks[to] = MARK_OPEN;
            next[to] = 0;
            rounds[to] = round;
        } else if (flow->marks[to] == MARK_OPEN || rounds[to] != round) {
            flow->blocks[to].header = true;
            flow->back[block->out + next[b] - 1] = 1;
        }
    }
}

static int find_headers(struct flow *flow, const struct move_unit *unit)
{
    if (!vec_reserve(flow->stack, 0, flow->stack_capacity, flow->count) ||
        !vec_reserve(flow->order, 0, flow->order_capacity, 2 * flow->count) ||
        !vec_reserve(flow->marks, 0, flow->mark_capacity, flow->count) ||
        !vec_reserve(flow->back, 0, flow->back_capacity, flow->edge_count + 1))
        return -ENOMEM;
    memset(flow->back, 0, flow->edge_count);
    memset(flow->marks, MARK_NEW, flow->count);
    uint32_t round = 0, unknown = flow->count - 1;
    flow->entry = flow->block_of[unit->parts[unit->main].first];
    search_depth_first(flow, flow->entry, round++);
    for (uint32_t b = 0; b < flow->count; b++)
        if (flow->marks[b] == MARK_NEW)
            search_depth_first(flow, b, round++);
    struct flow_block *block = &flow->blocks[unknown];
    for (uint32_t e = 0; block->header && e < block->out_count; e++)
        flow->blocks[flow->to[block->out + e]].header = true;
    block->header = false;
    return 0;
}

int flow_make(struct flow *flow, const struct move_unit *unit)
{
    int rc = find_landings(flow, unit);
    if (rc == 0)
        rc = make_blocks(flow, unit);
    if (rc == 0)
        rc = make_edges(flow, unit);
    return rc < 0 ? rc : find_headers(flow, unit);
}

/* Whether the edge between two blocks is a back edge. */
static bool leads_back(const struct flow *flow, uint32_t from, uint32_t to)
{
    const struct flow_block *block = &flow->blocks[from];
    bool back = false;
    for (uint32_t e = block->out; e < block->out + block->out_count; e++)
        back |= flow->to[e] == to && flow->back[e];
    return back;
}

/* Adds a block's predecessors to a loop's `count` blocks; returns the new count. */
static uint32_t add_before(struct flow *flow, uint32_t b, uint32_t header, uint32_t count)
{
    const struct flow_block *block = &flow->blocks[b];
    for (uint32_t e = 0; e < block->in_count; e++) {
        uint32_t from = flow->from[block->in + e];
        if (flow->marks[from] || (b == header && !leads_back(flow, from, b)))
            continue;
        flow->marks[from] = 1;
        flow->order[count++] = from;
    }
    return count;
}

uint32_t flow_loop(struct flow *flow, uint32_t header)
{
    uint32_t count = 1;
    memset(flow->marks, 0, flow->count);
    flow->marks[header] = 1;
    flow->order[0] = header;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = flow->order[i];
        const struct flow_block *block = &flow->blocks[b];
        if (block->open || (b != header && (!block->in_count || b == flow->entry)))
            return 0;
        count = add_before(flow, b, header, count);
    }
    return count;
}

bool flow_returns(struct flow *flow, uint32_t root, uint8_t *stops)
{
    enum { SEEN = 0x80 };
    uint32_t depth = 1, seen = 0;
    bool returns = false;
    flow->stack[0] = root;
    while (depth && !returns) {
        const struct flow_block *block = &flow->blocks[flow->stack[--depth]];
        for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
            uint32_t to = flow->to[e];
            returns |= to == root;
            if (to == root || stops[to])
                continue;
            stops[to] = SEEN;
            flow->stack[depth++] = flow->order[seen++] = to;
        }
    }
    while (seen)
        stops[flow->order[--seen]] = 0;
    return returns;
}

void flow_free(struct flow *flow)
{
    free(flow->blocks);
    free(flow->to);
    free(flow->from);
    free(flow->block_of);
    free(flow->landings);
    free(flow->stack);
    free(flow->order);
    free(flow->marks);
    free(flow->back);
    *flow = (struct flow){0};
}
