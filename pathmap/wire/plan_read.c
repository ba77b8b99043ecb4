/*
 * plan_read.c - checks a plan and places its code; see plan.h.
 *
 * Every number is checked before it is used, so that a damaged plan is refused, never applied.
 */
#include "base/search.h"
#include "pathmap/wire/plan.h"

#include <errno.h>
#include <string.h>

static const uint8_t patch_lengths[PLAN_KINDS] = {PLAN_JUMP, PLAN_JUMP, 2, 1};

static const char *check_fixups(const struct plan *plan, const struct plan_hook *hook)
{
    uint32_t end = 0; /* of the previous field */
    for (uint32_t i = 0; i < hook->fixup_count; i++) {
        const struct plan_fixup *f = &plan->fixups[hook->fixups + i];
        if (f->kind > PLAN_ABS_HIGH || f->reserved != 0)
            return "a fixup of an unknown kind";
        if (f->offset < end || f->offset + 4u + f->trailing > hook->code_length)
            return "a fixup outside its code";
        end = f->offset + 4u;
    }
    return NULL;
}

static const char *check_hook(const struct plan *plan, const struct plan_hook *hook)
{
    const struct plan_header *h = plan->header;
    if (hook->kind >= PLAN_KINDS || hook->patch_length != patch_lengths[hook->kind])
        return "a hook of an unknown kind";
    if (hook->original_length < hook->patch_length || hook->original_length > PLAN_ORIGINAL_MAX)
        return "a hook with a wrong count of original bytes";
    if (hook->function > hook->address || hook->address - hook->function > 15)
        return "a hook far from its function's entry";
    if (hook->code_length == 0 || hook->code_length > PLAN_CODE_MAX || hook->code > h->code_size ||
        hook->code_length > h->code_size - hook->code)
        return "a hook whose code is not in the plan";
    if (hook->fixups > h->fixup_count || hook->fixup_count > h->fixup_count - hook->fixups)
        return "a hook whose fixups are not in the plan";
    if (hook->flags & ~PLAN_LOOPS)
        return "a hook with an unknown flag";
    if (hook->size == 0)
        return "a hook of a function without code";
    return check_fixups(plan, hook);
}

static bool is_in_text(const struct plan_header *h, uint64_t address, uint64_t length)
{
    return address >= h->text_low && address < h->text_high && length <= h->text_high - address;
}

/* The number of hooks at or below an address. */
static uint32_t hooks_up_to(const struct plan *plan, uint64_t address)
{
    return lower_bound(i, 0, plan->header->hook_count, plan->hooks[i].address <= address);
}

/* Needs hooks that are known to ascend. */
static const char *check_pad(const struct plan *plan, const struct plan_hook *hook, uint64_t *pads_end)
{
    if (hook->kind != PLAN_PAD)
        return hook->pad ? "an unnecessary pad" : NULL;
    int64_t distance = (int64_t)(hook->pad - (hook->address + 2));
    if (!is_in_text(plan->header, hook->pad, PLAN_JUMP) || distance < INT8_MIN || distance > INT8_MAX)
        return "a pad out of reach";
    if (hook->pad < *pads_end)
        return "pads that overlap";
    *pads_end = hook->pad + PLAN_JUMP;
    uint32_t n = hooks_up_to(plan, *pads_end - 1);
    if (n && plan->hooks[n - 1].address + plan->hooks[n - 1].patch_length > hook->pad)
        return "a pad in patched code";
    return NULL;
}

static const char *check_calls(const struct plan *plan)
{
    const struct plan_header *h = plan->header;
    for (uint32_t i = 0; i < h->call_count; i++) {
        const struct plan_call *call = &plan->calls[i];
        int32_t offset = plan_rule_offset(call->cfa), bp_offset = plan_rule_offset(call->bp);
        if (i && call->back <= call[-1].back)
            return "calls out of order";
        if (call->hook != PLAN_NO_HOOK && call->hook >= h->hook_count)
            return "a call by a function that is not in the plan";
        if (plan_rule_kind(call->cfa) == PLAN_CALL_FIXED ? offset < 8 : offset <= -PLAN_OFFSET_MAX)
            return "a call from an invalid frame";
        if (bp_offset <= -PLAN_OFFSET_MAX)
            return "a call with BP at an invalid place";
    }
    return NULL;
}

static const char *check_plan(const struct plan *plan)
{
    const struct plan_header *h = plan->header;
    const char *bad = NULL;
    uint64_t end = 0, pads_end = 0;
    for (uint32_t i = 0; i < h->hook_count && !bad; i++) {
        const struct plan_hook *hook = &plan->hooks[i];
        bad = check_hook(plan, hook);
        if (!bad && (!is_in_text(h, hook->address, hook->patch_length) || hook->address < end))
            bad = "hooks that overlap";
        end = hook->address + hook->patch_length;
    }
    for (uint32_t i = 0; i < h->hook_count && !bad; i++)
        bad = check_pad(plan, &plan->hooks[i], &pads_end);
    return bad ? bad : check_calls(plan);
}

static const char *read_header(const void *data, size_t size, struct plan *plan)
{
    const struct plan_header *h = data;
    if (size < sizeof *h || (uintptr_t)data % 8 != 0 || memcmp(h->magic, PLAN_MAGIC, 4) != 0)
        return "not a plan";
    if (h->version != PLAN_VERSION)
        return "a plan of another version";
    /* counts of 32 bits: these sums fit 64 */
    uint64_t hooks = (uint64_t)h->hook_count * sizeof(struct plan_hook);
    uint64_t fixups = (uint64_t)h->fixup_count * sizeof(struct plan_fixup);
    uint64_t calls = (uint64_t)h->call_count * sizeof(struct plan_call);
    if (sizeof *h + hooks + fixups + calls + h->code_size != size)
        return "a truncated plan";
    if (h->build_id_size > sizeof h->build_id || h->text_low > h->text_high)
        return "an invalid header";
    plan->header = h;
    plan->hooks = (const void *)((const uint8_t *)data + sizeof *h);
    plan->fixups = (const void *)((const uint8_t *)plan->hooks + hooks);
    plan->calls = (const void *)((const uint8_t *)plan->fixups + fixups);
    plan->code = (const uint8_t *)plan->calls + calls;
    return NULL;
}

int plan_read(const void *data, size_t size, struct plan *out, const char **reason)
{
    struct plan plan;
    const char *bad = read_header(data, size, &plan);
    if (!bad)
        bad = check_plan(&plan);
    if (bad) {
        if (reason)
            *reason = bad;
        return -EBADMSG;
    }
    *out = plan;
    return 0;
}

bool plan_place(const struct plan *plan, const struct plan_hook *hook, uint64_t bias, uint64_t address,
                uint8_t *out)
{
    memcpy(out, plan->code + hook->code, hook->code_length);
    for (uint32_t i = 0; i < hook->fixup_count; i++) {
        const struct plan_fixup *f = &plan->fixups[hook->fixups + i];
        uint64_t value = bias + f->target;
        if (f->kind == PLAN_REL32) {
            value -= address + f->offset + 4u + f->trailing;
            if ((int64_t)value != (int32_t)value)
                return false;
        } else if (f->kind == PLAN_ABS_HIGH) {
            value >>= 32;
        }
        uint32_t field = (uint32_t)value;
        memcpy(out + f->offset, &field, sizeof field);
    }
    return true;
}
