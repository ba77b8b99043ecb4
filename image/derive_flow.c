/* derive_flow.c - see derive_flow.h. Each part of an instruction's state changes at most twice, so that the work is linear in the code. */
#include "image/derive_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "image/claims.h"
#include "image/frame_state.h"
#include "image/function_parts.h"
#include "image/image_private.h"
#include "image/landing_pad.h"
#include "image/leaf_writes.h"
#include "image/no_return.h"
#include "image/run_time.h"
#include "image/switch_tables.h"

#define FUNCTION_ALIGNMENT 16u
#define ENDBR              0xf3 /* first byte of endbr64 */
#define READS_MOST         4u   /* per byte of code: instructions that may be decoded again to follow parts */
#define PASSES_MOST        8u   /* functions that lose BP because a callee does: chains of these are short */
#define SWITCH_MOST        8u   /* instructions between a switch's bounds check and its jump */

struct derivation {
    struct function_code code;
    struct frame_state *states; /* by instruction */
    uint32_t *work, *calls,
        *doubtful; /* reached calls; doubtful: a branch leads to the code behind the call, too */
    uint32_t capacity, work_count, work_capacity, call_count, call_capacity, doubtful_count,
        doubtful_capacity;
    const struct image *image;
    struct function_parts parts; /* of the current function */
    uint64_t *outside;           /* addresses outside of the parts where the function continues */
    uint32_t outside_count, outside_capacity;
    struct switch_tables tables;
    struct slots slots; /* data words */
    unsigned passes;    /* passes over the sure functions after the first one */
    uint64_t bytes;     /* of code that is derived at once */
    uint64_t all_bytes; /* of the code of all functions */
    uint64_t budget;    /* instructions that may still be decoded to follow parts */
    struct claims claims;
    struct no_return no_return;
    bool keeps_frames;    /* all code without tables in the image keeps frame pointers (run_time.h) */
    bool by_frame;        /* second try, by frame pointers alone: callees may change SP */
    bool refused, failed; /* failed: out of memory */
    bool found;           /* neither a symbol nor an FDE starts the function (function_starts.h) */
    bool clobbers_bp;     /* a return was reached without the caller's BP */
    uint8_t *clobbers;    /* clobbers_bp, by function */
    bool more_clobbers;   /* the current pass found functions that clobber BP */
    bool trusted;         /* it is certainly called, so it may clobber BP */
    bool left;            /* an exit was reached */
    bool prologue;        /* it begins with a usual prologue */
    bool lost;            /* a jump was reached while the stack was unknown */
    /* For jumps whose table is unknown: */
    bool switched; /* one was reached with a frame, in the state: */
    struct frame_state at_switch;
    bool maybe;    /* one was reached in the entry's state: a switch or a tail call */
    bool guessing; /* the possible cases are being followed */
    bool keeps;    /* a call was reached after which nothing is dropped from the stack */
    bool called;   /* a call was reached; what all of them have in common: */
    struct frame_state at_call;
};

static void reach_insn(struct derivation *d, uint32_t i, const struct frame_state *from)
{
    struct frame_state *at = &d->states[i], now = at->seen ? frame_state_meet(*at, from) : *from;
    if (at->seen && frame_state_same(at, &now))
        return;
    *at = now;
    at->seen = true;
    if (!vec_push(d->work, d->work_count, d->work_capacity, i))
        d->failed = true;
}

static const uint8_t *insn_bytes(const struct derivation *d, const struct code_insn *insn)
{
    size_t size;
    return image_bytes(d->image, insn->address, &size);
}

/* A nop is padding, where no landing pad begins. */
static bool begins_landing_pad(const struct derivation *d, uint32_t i)
{
    const struct code_insn *insn = &d->code.insns[i];
    size_t size;
    const uint8_t *bytes = image_bytes(d->image, insn->address, &size);
    return (insn->kind != CODE_NOP || *bytes == ENDBR) && landing_pad_begins(bytes, size);
}

/* Whether the callee is known to clobber its caller's BP. */
static bool callee_clobbers_bp(const struct derivation *d, const struct code_insn *insn)
{
    const uint32_t f =
        insn->kind == CODE_CALL ? functions_find(&d->image->functions, insn->target) : IMAGE_NO_FUNCTION;
    return f != IMAGE_NO_FUNCTION && d->clobbers[f] && d->image->functions.items[f].address == insn->target;
}

/* A register that held the CFA's distance still does after a call that does not change it. */
static void keep_drap(const struct derivation *d, const struct frame_state *before, uint64_t callee,
                      struct frame_state *after)
{
    if (before->drap == CODE_NO_REGISTER || after->drap != CODE_NO_REGISTER ||
        leaf_writes(d->image, callee) >> before->drap & 1)
        return;
    after->drap = before->drap;
    after->drap_far = before->drap_far;
}

static struct frame_state state_after(const struct derivation *d, uint32_t i)
{
    const struct code_insn *insn = &d->code.insns[i];
    struct frame_state after = frame_state_step(d->states[i], insn, insn_bytes(d, insn));
    if (callee_clobbers_bp(d, insn))
        frame_state_lose_bp(&after);
    if (insn->kind == CODE_CALL)
        keep_drap(d, &d->states[i], insn->target, &after);
    return d->by_frame ? frame_state_by_frame(after, insn, insn_bytes(d, insn)) : after;
}

/* Jump with an unknown table: only what all such jumps have in common is known at their cases. */
static void note_switch(struct derivation *d, const struct frame_state *after)
{
    const struct frame_state all = d->switched ? frame_state_meet(d->at_switch, after) : *after;
    d->refused |= !d->by_frame && d->guessing && !frame_state_same(&all, &d->at_switch);
    d->switched = true;
    d->at_switch = all;
}

/* Whether the stack was known until the instruction before the jump loaded another one, as a loader does at its
 * end. */
static bool switches_stack(const struct derivation *d, uint32_t i)
{
    return i && d->code.insns[i - 1].stack == CODE_SP_OTHER && d->states[i - 1].seen &&
           !frame_state_lost(&d->states[i - 1]);
}

/* Follows an indirect jump. */
static void follow_jump(struct derivation *d, uint32_t i, const struct frame_state *after)
{
    const struct table_edge *edges = d->code.edges;
    const uint32_t count = d->code.edge_count;
    uint32_t edge = lower_bound(k, 0, count, edges[k].from < i);
    if (edge < count && edges[edge].from == i) {
        for (; edge < count && edges[edge].from == i; edge++)
            reach_insn(d, edges[edge].to, after);
    } else if (frame_state_clean(after)) {
        d->maybe |= d->code.ways[i] & WAY_TABLE;
    } else if (frame_state_lost(after)) {
        d->lost |= !d->prologue || !switches_stack(d, i); /* changes to another stack, as longjmp() does */
    } else {
        note_switch(d, after);
    }
}

/* The instruction that a call returns to, after any padding. */
static uint32_t behind_call(const struct derivation *d, uint32_t i)
{
    for (i++; d->code.insns[i].kind == CODE_NOP && !(d->code.ways[i] & WAY_BRANCH) &&
              function_code_goes_on(&d->code, i);)
        i++;
    return i;
}

/* Whether a function begins here: push %rbp; mov %rsp,%rbp. */
static bool begins_frame(const struct derivation *d, uint32_t i)
{
    int32_t above;
    return i + 1 < d->code.count && *insn_bytes(d, &d->code.insns[i]) == 0x55 &&
           frame_state_begins(insn_bytes(d, &d->code.insns[i + 1]), d->code.insns[i + 1].length, &above);
}

/* Whether the function ends with this call: no branch leads to the code behind it, which begins a function (sets
 * up its frame, or is aligned behind padding) or, behind padding, is in a part that was added. */
static bool is_last(const struct derivation *d, uint32_t i)
{
    const uint32_t behind = behind_call(d, i);
    const struct code_insn *insn = &d->code.insns[behind];
    const bool aligned = insn->address % FUNCTION_ALIGNMENT == 0;
    if (d->code.ways[behind] & WAY_BRANCH)
        return false;
    if (behind == i + 1)
        return begins_frame(d, behind);
    return aligned || function_parts_followed(&d->parts, insn->address);
}

/* Queues a call, to continue behind it later. false: out of memory. */
static bool note_call(struct derivation *d, uint32_t i)
{
    const bool doubtful = d->code.ways[behind_call(d, i)] & WAY_BRANCH;
    return doubtful ? vec_push(d->doubtful, d->doubtful_count, d->doubtful_capacity, i)
                    : vec_push(d->calls, d->call_count, d->call_capacity, i);
}

/* Continues behind a call, unless that instruction was already reached with another stack depth: each instruction
 * has one depth, so the call does not return. */
static void follow_return(struct derivation *d, uint32_t i)
{
    struct frame_state after = state_after(d, i), *behind = &d->states[behind_call(d, i)];
    const bool other = behind->seen && (behind->depth != after.depth || behind->frame != after.frame) &&
                       behind->depth != FRAME_STATE_OPEN && after.depth != FRAME_STATE_OPEN;
    if (d->by_frame)
        after.depth = FRAME_STATE_OPEN;
    if (!other || d->by_frame)
        reach_insn(d, i + 1, &after);
}

/* Whether a branch is the bounds check of a switch. Where the compiler knows that the bounds hold, the branch may
 * lead to whatever is behind the function's part. */
static bool is_bound(const struct derivation *d, uint32_t i)
{
    const uint32_t last = i + SWITCH_MOST < d->code.count ? i + SWITCH_MOST : d->code.count - 1;
    if (d->code.insns[i].kind != CODE_BRANCH)
        return false;
    while (i < last && (i++, d->code.insns[i].kind == CODE_PLAIN))
        ;
    return d->code.insns[i].kind == CODE_JUMP_INDIRECT;
}

/* Notes that the function continues at `target`, outside of the known parts. false: that code is another
 * function's. */
static bool goes_outside(struct derivation *d, uint32_t i, uint64_t target)
{
    if (!d->budget || !function_parts_leads(&d->parts, target))
        return false;
    if (is_bound(d, i))
        return true;
    d->failed |= !vec_push(d->outside, d->outside_count, d->outside_capacity, target);
    return true;
}

/* Whether this is where the bounds check of jump i leads. */
static bool is_default(const struct derivation *d, uint32_t i, uint64_t address)
{
    for (uint32_t k = 0; k < SWITCH_MOST && i--; k++)
        if (d->code.insns[i].kind == CODE_BRANCH)
            return d->code.insns[i].target == address && is_bound(d, i);
    return false;
}

/* Follows a jump's table out of the known parts. Cases that cannot occur have the default's address. */
static void follow_leads(struct derivation *d, uint32_t i)
{
    const struct switch_tables *tables = &d->tables;
    uint32_t k = lower_bound(n, 0u, tables->lead_count, tables->leads[n].from < i);
    for (; k < tables->lead_count && tables->leads[k].from == i; k++)
        if (!is_default(d, i, tables->leads[k].address))
            goes_outside(d, i, tables->leads[k].address);
}

static bool is_tail_call(const struct derivation *d, const struct code_insn *insn,
                         const struct frame_state *after)
{
    return frame_state_clean(after) && functions_start(&d->image->functions, insn->target) != START_NONE;
}

/* Whether the function begins by saving a register or by allocating stack. */
static bool has_prologue(const struct derivation *d, uint32_t first)
{
    const struct code_insn *insn = &d->code.insns[first];
    insn += insn->kind == CODE_NOP && first + 1 < d->code.count; /* endbr64 */
    return frame_state_saves(insn_bytes(d, insn), insn->length) ||
           (insn->length >= 4 && insn->stack == CODE_SP_MOVED && insn->amount > 0);
}

/* Whether the code at `first` only jumps to an address that was passed as an argument, as a function does that
 * calls another one for its caller. A label within a function would jump by one of that function's own registers. */
static bool calls_argument(const struct derivation *d, uint32_t first)
{
    static const uint8_t arguments[] = {1, 2, 6, 7}; /* rcx, rdx, rsi, rdi */
    const struct code_insn *insn = &d->code.insns[first];
    insn += insn->kind == CODE_NOP && first + 1 < d->code.count; /* endbr64 */
    const uint8_t *bytes = insn_bytes(d, insn);
    const bool high = insn->length == 3 && bytes[0] == 0x41; /* REX.B: r8, r9 */
    if (insn->kind != CODE_JUMP_INDIRECT || (insn->length != 2 && !high))
        return false;
    bytes += high;
    const uint8_t by = bytes[1] - 0xe0; /* jmp *%reg is ff e0 + reg */
    return bytes[0] == 0xff && (high ? by < 2 : by < 8 && memchr(arguments, by, sizeof arguments));
}

/* Whether this state is allowed at an exit. Assembler has its own rules for BP, but where the function's
 * beginning is only a guess, its exits confirm it by keeping BP. */
static bool may_leave(const struct derivation *d, const struct frame_state *state)
{
    return frame_state_clean(state) || (d->trusted && state->depth == 8);
}

/* Handles a jump to another function. */
static void leave_function(struct derivation *d, const struct code_insn *insn,
                           const struct frame_state *after)
{
    const enum function_start start = functions_start(&d->image->functions, insn->target);
    d->left |= start >= START_POINTED || d->prologue;
    d->clobbers_bp |= after->bp != BP_SAME;
    d->refused |= !d->by_frame && (!may_leave(d, after) || (d->found && start == START_NONE));
}

/* Whether instruction i begins another function's part: it is a target of far branches, but of none in this
 * function. If more certain functions have the same row here, this function continues here, too. */
static bool is_foreign(const struct derivation *d, uint32_t i, const struct frame_state *after)
{
    const uint64_t address = d->code.insns[i].address;
    const bool behind_call = code_is_call(&d->code.insns[i - 1]);
    return !(d->code.ways[i] & WAY_BRANCH) &&
           ((behind_call && d->found) || function_parts_followed(&d->parts, address)) &&
           functions_branched(&d->image->functions, address) &&
           (behind_call || !claims_confirm(&d->claims, address, frame_state_row(after)));
}

/* If the code behind every call drops something from the stack, these may be arguments, which are gone at a
 * landing pad. */
static void note_state_at_call(struct derivation *d, uint32_t i)
{
    const struct code_insn *insn = &d->code.insns[i];
    const bool drops = i + 1 < d->code.count && insn[1].stack == CODE_SP_MOVED && insn[1].amount < 0;
    d->at_call = d->called ? frame_state_meet(d->at_call, &d->states[i]) : d->states[i];
    d->called = true;
    d->keeps |= !drops;
}

static void follow_insn(struct derivation *d, uint32_t i)
{
    const struct code_insn *insn = &d->code.insns[i];
    const struct frame_state after = state_after(d, i);
    const bool direct = insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH;
    d->refused |= !d->by_frame && ((after.depth != FRAME_STATE_OPEN && after.depth < 8) ||
                                   (insn->kind == CODE_RETURN && !may_leave(d, &d->states[i])));
    d->left |= insn->kind == CODE_RETURN;
    d->clobbers_bp |= insn->kind == CODE_RETURN && d->states[i].bp != BP_SAME;
    if (insn->kind == CODE_JUMP_INDIRECT) {
        follow_jump(d, i, &after);
        follow_leads(d, i);
    } else if (direct && d->code.jumps[i] == FUNCTION_CODE_NONE &&
               (is_tail_call(d, insn, &after) || !goes_outside(d, i, insn->target))) {
        leave_function(d, insn, &after);
    } else if (d->code.jumps[i] != FUNCTION_CODE_NONE) {
        reach_insn(d, d->code.jumps[i], &after);
    }
    if (code_is_call(insn))
        note_state_at_call(d, i);
    if (!function_code_goes_on(&d->code, i) || no_return_calls(&d->no_return, insn) ||
        is_foreign(d, i + 1, &after))
        return;
    if (code_is_call(insn))
        d->failed |= !is_last(d, i) && !note_call(d, i);
    else
        reach_insn(d, i + 1, &after);
}

static void follow_reached(struct derivation *d)
{
    while (!d->refused && !d->failed) {
        if (d->work_count)
            follow_insn(d, d->work[--d->work_count]);
        else if (d->call_count)
            follow_return(d, d->calls[--d->call_count]);
        else if (d->doubtful_count)
            follow_return(d, d->doubtful[--d->doubtful_count]);
        else
            break;
    }
}

/* Whether an instruction may be a case of an unknown table, because nothing else is known to lead to it. */
static bool may_be_case(const struct derivation *d, uint32_t i)
{
    const struct code_insn *insn = &d->code.insns[i];
    return !d->states[i].seen && d->code.ways[i] & WAY_ALONE && !(d->code.ways[i] & WAY_NONE) &&
           !function_parts_followed(&d->parts, insn->address) && !begins_landing_pad(d, i);
}

/* Marks handlers that the code itself installs, as OCaml's does: these are no landing pads. */
static void mark_pointed(struct derivation *d)
{
    for (uint32_t i = 0; i < d->code.count; i++) {
        const struct code_insn *insn = &d->code.insns[i];
        const uint32_t to =
            insn->effect == CODE_ADDRESS && insn->memory - d->parts.whole.address < d->parts.whole.size
                ? function_code_find(&d->code, insn->memory)
                : FUNCTION_CODE_NONE;
        if (to != FUNCTION_CODE_NONE)
            d->code.ways[to] |= WAY_POINTED;
    }
}

/* Follows landing pads. Unwinders enter one with the stack of the call that threw; all calls must agree on it.
 * Pads lie between the function's blocks or right behind them, without padding in between. */
static void follow_pads(struct derivation *d)
{
    const struct function_part *whole = &d->parts.whole;
    uint32_t first = lower_bound(k, 0u, d->code.count, d->code.insns[k].address < whole->address),
             last = first, end;
    if (!d->called || !d->keeps || frame_state_lost(&d->at_call) ||
        (d->found && whole->address % FUNCTION_ALIGNMENT))
        return;
    mark_pointed(d);
    for (end = first; end < d->code.count && d->code.insns[end].address - whole->address < whole->size; end++)
        last = d->states[end].seen ? end : last;
    for (uint32_t i = first + 1; i < end && !d->refused && !d->failed; i++) {
        const bool begins = d->code.ways[i] & WAY_ALONE || d->states[i - 1].seen;
        if (d->states[i].seen)
            continue;
        if (begins && !(d->code.ways[i] & WAY_POINTED) && begins_landing_pad(d, i)) {
            const struct frame_state state = d->at_call;
            reach_insn(d, i, &state);
            follow_reached(d);
        } else if (i > last) {
            break;
        }
    }
}

/* Follows all paths through the function. Jumps with an unknown table are assumed to lead to the code that
 * nothing else leads to; if that is wrong, some exit is not clean. */
static void follow_paths(struct derivation *d, uint32_t entry)
{
    memset(d->states, 0, d->code.count * sizeof *d->states);
    d->work_count = d->call_count = d->doubtful_count = d->outside_count = 0;
    d->refused = d->switched = d->guessing = d->maybe = d->called = d->keeps = d->left = d->lost =
        d->clobbers_bp = false;
    d->prologue = has_prologue(d, entry);
    reach_insn(d, entry, &frame_state_entry);
    follow_reached(d);
    if (d->maybe && !d->switched) {
        d->switched = true;
        d->at_switch = frame_state_entry;
    }
    d->guessing = d->switched && !frame_state_lost(&d->at_switch);
    for (uint32_t i = 0; i < d->code.count && d->guessing && !d->refused && !d->failed; i++) {
        if (may_be_case(d, i)) {
            reach_insn(d, i, &d->at_switch);
            follow_reached(d);
        }
    }
    follow_pads(d);
}

static struct cfi_row row_of(const struct derivation *d, uint32_t i)
{
    struct frame_state state = d->states[i];
    if (d->keeps_frames && state.frame)
        state.depth = FRAME_STATE_OPEN;
    return frame_state_row(&state);
}

/* The row of instruction i and of those behind it with the same row; *end: where they end. */
static struct cfi_row row_from(const struct derivation *d, uint32_t *i, uint64_t *end)
{
    const struct code_insn *insn = d->code.insns;
    const struct cfi_row row = row_of(d, *i);
    struct cfi_row next;
    do {
        *end = insn[*i].address + insn[*i].length;
        if (++*i == d->code.count)
            break;
        next = row_of(d, *i);
    } while (insn[*i].address == *end && cfi_row_same(&row, &next));
    return row;
}

static bool contradicts_claims(const struct derivation *d)
{
    uint64_t end;
    for (uint32_t i = 0; i < d->code.count;) {
        const uint64_t address = d->code.insns[i].address;
        const struct cfi_row row = row_from(d, &i, &end);
        if (row.cfa != CFI_NONE && claims_contradict(&d->claims, address, end, row))
            return true;
    }
    return false;
}

static int keep_rows(struct derivation *d)
{
    uint64_t end;
    for (uint32_t i = 0; i < d->code.count;) {
        const uint64_t address = d->code.insns[i].address;
        const struct cfi_row row = row_from(d, &i, &end);
        if (row.cfa != CFI_NONE && !claims_add(&d->claims, address, end, row))
            return -ENOMEM;
    }
    return 0;
}

/* Whether only a clean exit can confirm that the function is entered with its return address at SP. */
static bool is_doubtful(const struct derivation *d, uint32_t first)
{
    const enum function_start start = functions_start(&d->image->functions, d->code.insns[first].address);
    if (d->keeps_frames)
        return false;
    if (start == START_POINTED && calls_argument(d, first))
        return false;
    return d->lost || (d->found && (start == START_GUESSED || (start == START_POINTED && !d->prologue)));
}

static int read_code(struct derivation *d)
{
    if (function_code_read(&d->code, d->image, d->parts.items, d->parts.count) < 0 ||
        switch_tables_read(&d->tables, &d->code, &d->parts, &d->slots) < 0 ||
        !vec_reserve(d->states, 0, d->capacity, d->code.count))
        return -ENOMEM;
    d->budget -= d->code.count < d->budget ? d->code.count : d->budget;
    return 0;
}

/* Follows the function, then the parts outside that it turned out to have, until no new ones are found. */
static int follow_all(struct derivation *d, uint64_t entry)
{
    uint32_t count;
    int rc;
    do {
        rc = read_code(d);
        const uint32_t first = rc == 0 ? function_code_find(&d->code, entry) : FUNCTION_CODE_NONE;
        if (first == FUNCTION_CODE_NONE)
            return rc;
        follow_paths(d, first);
        rc = d->failed ? -ENOMEM : 0;
        count = d->parts.count;
        for (uint32_t i = 0; rc == 0 && i < d->outside_count; i++)
            rc = function_parts_add(&d->parts, d->outside[i]);
    } while (rc == 0 && d->parts.count != count);
    return rc;
}

int derivation_function(struct derivation *d, uint32_t function)
{
    const uint64_t entry = d->image->functions.items[function].address;
    const bool sure = functions_start(&d->image->functions, entry) == START_SURE;
    d->found = !d->image->functions.items[function].name;
    d->trusted = sure && !d->keeps_frames;
    int rc = function_parts_find(&d->parts, function);
    d->by_frame = false;
    if (rc == 0)
        rc = follow_all(d, entry);
    d->by_frame = rc == 0 && d->refused && d->keeps_frames;
    if (d->by_frame)
        rc = follow_all(d, entry);
    const uint32_t first = rc == 0 ? function_code_find(&d->code, entry) : FUNCTION_CODE_NONE;
    if (first == FUNCTION_CODE_NONE || d->refused || (!d->left && is_doubtful(d, first)) ||
        (!sure && contradicts_claims(d)))
        return rc;
    d->more_clobbers |= d->clobbers_bp && !d->clobbers[function];
    d->clobbers[function] |= d->clobbers_bp;
    return keep_rows(d);
}

bool derivation_again(struct derivation *d)
{
    const bool again = d->more_clobbers && d->passes++ < PASSES_MOST;
    d->more_clobbers = false;
    if (again) {
        claims_forget(&d->claims);
        d->budget = d->bytes * READS_MOST;
    }
    return again;
}

void derivation_settle(struct derivation *d)
{
    claims_settle(&d->claims);
}

void derivation_forget(struct derivation *d, uint32_t first, uint32_t last)
{
    claims_forget(&d->claims);
    memset(d->clobbers, 0, d->image->functions.count); /* of all: what was derived before must not matter */
    d->more_clobbers = false;
    d->passes = 0;
    d->bytes = functions_bytes(&d->image->functions, first, last);
    d->budget = d->bytes * READS_MOST;
    d->no_return.budget = d->all_bytes;
}

int derivation_rows(struct derivation *d, uint64_t from, uint64_t to, claims_sink *sink, void *context)
{
    claims_settle(&d->claims);
    return claims_rows(&d->claims, from, to, sink, context);
}

struct derivation *derivation_new(const struct image *image)
{
    struct derivation *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->image = image;
    d->keeps_frames = image_makes_code(image);
    d->clobbers = calloc(image->functions.count + (size_t)1, 1);
    if (!d->clobbers || no_return_open(image, &d->slots, &d->no_return) < 0 ||
        function_parts_open(image, &d->no_return, &d->parts) < 0) {
        derivation_free(d);
        return NULL;
    }
    d->all_bytes = functions_bytes(&image->functions, 0, image->functions.count);
    d->bytes = d->all_bytes;
    d->budget = d->bytes * READS_MOST;
    return d;
}

void derivation_free(struct derivation *d)
{
    if (!d)
        return;
    function_code_free(&d->code);
    function_parts_close(&d->parts);
    claims_free(&d->claims);
    no_return_close(&d->no_return);
    switch_tables_close(&d->tables);
    slots_free(&d->slots);
    free(d->states);
    free(d->clobbers);
    free(d->work);
    free(d->calls);
    free(d->doubtful);
    free(d->outside);
    free(d);
}
