/* calling.c - finds the frame of a call by the plan's rules: the stack, step by step, without a shadow stack. */
#include "pathmap/probe/state.h"

/* Reads the stack between a callee's CFA and the base; 0: the address is outside. */
static uint64_t load(const struct stack *stack, uint64_t cfa, uint64_t address)
{
    return address >= cfa && address < stack->base && address % 8 == 0 ? *(const uint64_t *)address : 0;
}

/* Where the calling frame starts; 0: unknown. `cfa` is the callee's, frame_pointer BP at its entry, or 0. */
static uint64_t caller_cfa(const struct stack *stack, uint64_t cfa, int32_t rule, uint64_t frame_pointer)
{
    uint64_t found = 0, offset = (uint64_t)(int64_t)plan_rule_offset(rule);
    switch (plan_rule_kind(rule)) {
    case PLAN_CALL_FIXED:
        found = cfa + offset;
        break;
    case PLAN_CALL_BP:
        found = frame_pointer ? frame_pointer + offset : 0;
        break;
    case PLAN_CALL_BP_MEMORY:
        found = frame_pointer ? load(stack, cfa, frame_pointer + offset) : 0;
        break;
    default:
        break;
    }
    return found > cfa && found <= stack->base && found % 8 == 0 ? found : 0;
}

/* BP at the entry of the calling function, whose frame starts at `found`; 0: unknown. */
static uint64_t caller_bp(const struct stack *stack, uint64_t cfa, uint64_t found, int32_t rule,
                          uint64_t frame_pointer)
{
    uint64_t offset = (uint64_t)(int64_t)plan_rule_offset(rule);
    switch (plan_rule_kind(rule)) {
    case PLAN_BP_SAME:
        return frame_pointer;
    case PLAN_BP_AT_CFA:
        return load(stack, cfa, found + offset);
    case PLAN_BP_AT_BP:
        return frame_pointer ? load(stack, cfa, frame_pointer + offset) : 0;
    default:
        return 0;
    }
}

struct calling calling_frame(const struct stack *stack, const uint64_t *slot, uint64_t frame_pointer)
{
    struct caller caller = caller_at(stack->thread, *slot);
    uint64_t cfa = (uint64_t)(slot + 1), found = caller_cfa(stack, cfa, caller.cfa, frame_pointer);
    unsigned kind = plan_rule_kind(caller.cfa);
    return (struct calling){.function = caller.function,
                            .open = kind == PLAN_CALL_BP || kind == PLAN_CALL_BP_MEMORY,
                            .cfa = found,
                            .bp = found ? caller_bp(stack, cfa, found, caller.bp, frame_pointer) : 0};
}
