/*
 * patch.c - see patch.h.
 *
 * A region of trampolines, within reach of the image:
 *
 *     slots: 8 bytes each, the addresses of core_entry() and probe_entry_below()
 *     for each hook, from the next multiple of 16:
 *            push $id                  68 imm32
 *            call *slot(%rip)          ff 15 rel32
 *            lea 8(%rsp), %rsp         48 8d 64 24 08     (preserves flags)
 *            the hook's code, placed by plan_place()
 *
 * A function that jumps back to its hook (PLAN_LOOPS) may have data in its red zone there:
 *
 *            lea -128(%rsp), %rsp      48 8d 64 24 80
 *            push $id; call *slot+8(%rip)
 *            lea 136(%rsp), %rsp       48 8d a4 24 88 00 00 00
 */
#include "pathmap/probe/patch.h"

#include <errno.h>

#include "pathmap/probe/core.h"
#include "base/raw.h"
#include "pathmap/probe/region.h"

#define HEAD       16u /* bytes before the hook's code */
#define HEAD_BELOW 24u /* with PLAN_LOOPS */
#define ALIGN      16u

/* Trampolines -------------------------------------------------------------------------------------------- */

static void put32(uint8_t *out, uint64_t value)
{
    uint32_t field = (uint32_t)value;
    raw_copy(out, &field, sizeof field);
}

static uint64_t head_size(const struct plan_hook *hook)
{
    return hook->flags & PLAN_LOOPS ? HEAD_BELOW : HEAD;
}

static uint64_t trampoline_size(const struct plan_hook *hook)
{
    return (head_size(hook) + hook->code_length + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

static uint64_t region_size(const struct plan *plan)
{
    uint64_t size = ALIGN;
    for (uint32_t i = 0; i < plan->header->hook_count; i++)
        size += trampoline_size(&plan->hooks[i]);
    return size;
}

static bool write_trampoline(const struct patch *patch, const struct plan_hook *hook, uint64_t at,
                             uint32_t id)
{
    static const uint8_t head[HEAD] = {0x68, 0, 0, 0,    0,    0xff, 0x15, 0,
                                       0,    0, 0, 0x48, 0x8d, 0x64, 0x24, 0x08},
                         below[HEAD_BELOW] = {0x48, 0x8d, 0x64, 0x24, 0x80, 0x68, 0, 0,
                                              0,    0,    0xff, 0x15, 0,    0,    0, 0,
                                              0x48, 0x8d, 0xa4, 0x24, 0x88, 0,    0, 0};
    const bool loops = hook->flags & PLAN_LOOPS;
    const uint64_t size = head_size(hook), push = loops ? 5 : 0, slot = patch->trampolines + (loops ? 8 : 0);
    uint8_t *out = (uint8_t *)at;
    raw_copy(out, loops ? below : head, size);
    put32(out + push + 1, id);
    put32(out + push + 7, slot - (at + push + 11));
    return plan_place(&patch->plan, hook, patch->target->bias, at + size, out + size);
}

static bool write_trampolines(struct patch *patch, uint32_t first_id)
{
    void (*const entries[])(void) = {core_entry(), probe_entry_below};
    uint64_t at = patch->trampolines + ALIGN;
    raw_copy((void *)patch->trampolines, entries, sizeof entries);
    for (uint32_t i = 0; i < patch->plan.header->hook_count; i++) {
        const struct plan_hook *hook = &patch->plan.hooks[i];
        if (!write_trampoline(patch, hook, at, first_id + i))
            return false;
        patch->entries[i] = at;
        at += trampoline_size(hook);
    }
    return true;
}

/* Allocates the arrays: each hook's trampoline, and the table of breakpoints. */
static bool make_tables(struct patch *patch, bool all)
{
    const struct plan *plan = &patch->plan;
    uint32_t hooks = plan->header->hook_count, breakpoints = 0;
    for (uint32_t i = 0; i < hooks; i++)
        breakpoints += all || plan->hooks[i].kind == PLAN_BREAKPOINT;
    size_t size = hooks * sizeof *patch->entries;
    patch->entries = raw_memory(size + breakpoints * sizeof(struct breakpoint) + 1);
    if (!patch->entries)
        return false;
    patch->breakpoints.count = breakpoints;
    patch->breakpoints.entries = (void *)((uint8_t *)patch->entries + size);
    return true;
}

static void fill_breakpoints(struct patch *patch, bool all)
{
    struct breakpoint *b = (struct breakpoint *)patch->breakpoints.entries;
    for (uint32_t i = 0; i < patch->plan.header->hook_count; i++)
        if (all || patch->plan.hooks[i].kind == PLAN_BREAKPOINT)
            *b++ = (struct breakpoint){patch->target->bias + patch->plan.hooks[i].address, patch->entries[i]};
}

const char *patch_prepare(struct patch *patch, const struct plan *plan, const struct patch_target *target,
                          uint32_t first_id, bool changes)
{
    uint64_t size = region_size(plan);
    *patch = (struct patch){.plan = *plan, .target = target};
    if (!make_tables(patch, changes))
        return "no memory is left";
    patch->trampolines = region_near(target->low, target->high, size);
    if (!patch->trampolines)
        return "there is no room for trampolines within 2 GiB";
    const char *bad = NULL;
    if (!write_trampolines(patch, first_id))
        bad = "a displaced instruction does not reach its target";
    else if (raw_mprotect(patch->trampolines, RAW_PAGE_UP(size), PROT_READ | PROT_EXEC))
        bad = "the system allows no new executable memory";
    if (bad) {
        raw_munmap((void *)patch->trampolines, RAW_PAGE_UP(size));
        return bad;
    }
    fill_breakpoints(patch, changes);
    return NULL;
}

/* The image ---------------------------------------------------------------------------------------------- */

static bool in_code(const struct patch_target *target, uint64_t address, uint64_t size)
{
    for (uint32_t i = 0; i < target->code_count; i++)
        if (address >= target->code[i].low && address < target->code[i].high)
            return size <= target->code[i].high - address;
    return false;
}

static bool matches_original(const struct patch *patch, const struct plan_hook *hook)
{
    const struct patch_target *target = patch->target;
    uint64_t address = target->bias + hook->address, pad = target->bias + hook->pad;
    if (!in_code(target, address, hook->original_length) ||
        !raw_equal((void *)address, hook->original, hook->original_length))
        return false;
    return hook->kind != PLAN_PAD ||
           (in_code(target, pad, PLAN_JUMP) && raw_equal((void *)pad, hook->pad_original, PLAN_JUMP));
}

/* Makes the first `count` segments writable or restores their protection. Negative errno; *done: the number
 * of segments done. */
static int protect_code(const struct patch_target *target, uint32_t count, int more, uint32_t *done)
{
    for (*done = 0; *done < count; ++*done) {
        const struct patch_segment *s = &target->code[*done];
        int error = raw_mprotect(s->low, s->high - s->low, s->prot | more);
        if (error)
            return error;
    }
    return 0;
}

static void put_jump(uint64_t at, uint64_t to)
{
    *(uint8_t *)at = 0xe9;
    put32((uint8_t *)at + 1, to - (at + PLAN_JUMP));
}

/* Writes the bytes of a hook, patch_length of them. */
static void hook_bytes(const struct patch *patch, uint32_t i, uint8_t out[PLAN_JUMP])
{
    const struct plan_hook *hook = &patch->plan.hooks[i];
    uint64_t address = patch->target->bias + hook->address;
    out[0] = hook->kind == PLAN_BREAKPOINT ? 0xcc : hook->kind == PLAN_PAD ? 0xeb : 0xe9;
    if (hook->kind == PLAN_PAD)
        out[1] = (uint8_t)(hook->pad - (hook->address + 2));
    else
        put32(out + 1, patch->entries[i] - (address + PLAN_JUMP));
}

static void put_hook(const struct patch *patch, uint32_t i)
{
    const struct plan_hook *hook = &patch->plan.hooks[i];
    uint8_t bytes[PLAN_JUMP];
    hook_bytes(patch, i, bytes);
    if (hook->kind == PLAN_PAD)
        put_jump(patch->target->bias + hook->pad, patch->entries[i]);
    raw_copy((void *)(patch->target->bias + hook->address), bytes, hook->patch_length);
}

const char *patch_apply(struct patch *patch)
{
    const struct plan *plan = &patch->plan;
    const struct patch_target *target = patch->target;
    for (uint32_t i = 0; i < plan->header->hook_count; i++)
        if (!matches_original(patch, &plan->hooks[i]))
            return "its code in memory differs from its file";
    uint32_t done, restored;
    int error = protect_code(target, target->code_count, PROT_READ | PROT_WRITE | PROT_EXEC, &done);
    if (error) {
        protect_code(target, done, 0, &restored);
        return error == -ENOMEM ? "no memory is left" : "the system does not let its code be changed";
    }
    if (patch->breakpoints.count)
        breakpoint_switch(&patch->breakpoints, true);
    for (uint32_t i = 0; i < plan->header->hook_count; i++)
        put_hook(patch, i);
    protect_code(target, target->code_count, 0, &restored);
    return NULL;
}

bool patch_open(const struct patch *patch, bool open)
{
    const struct patch_target *target = patch->target;
    uint32_t done, restored;
    int error =
        protect_code(target, target->code_count, open ? PROT_READ | PROT_WRITE | PROT_EXEC : 0, &done);
    if (error)
        protect_code(target, done, 0, &restored);
    return !error;
}

static void step_hook(const struct patch *patch, uint32_t i, enum patch_step step)
{
    const struct plan_hook *hook = &patch->plan.hooks[i];
    volatile uint8_t *at = (volatile uint8_t *)(patch->target->bias + hook->address);
    uint64_t pad = patch->target->bias + hook->pad;
    uint8_t bytes[PLAN_JUMP];
    hook_bytes(patch, i, bytes);
    bool in = step == PATCH_TAILS_IN || step == PATCH_HEADS_IN;
    const uint8_t *from = in ? bytes : hook->original;
    switch (step) {
    case PATCH_TRAPS:
        *at = 0xcc;
        break;
    case PATCH_TAILS_IN:
        if (hook->kind == PLAN_PAD)
            put_jump(pad, patch->entries[i]);
        raw_copy((void *)(uintptr_t)(at + 1), from + 1, hook->patch_length - 1u);
        break;
    case PATCH_TAILS_OUT:
        raw_copy((void *)(uintptr_t)(at + 1), from + 1, hook->patch_length - 1u);
        break;
    case PATCH_HEADS_IN:
    case PATCH_HEADS_OUT:
        *at = from[0];
        break;
    case PATCH_PADS_OUT:
        if (hook->kind == PLAN_PAD)
            raw_copy((void *)pad, hook->pad_original, PLAN_JUMP);
        break;
    }
}

void patch_step(const struct patch *patch, enum patch_step step)
{
    for (uint32_t i = 0; i < patch->plan.header->hook_count; i++)
        step_hook(patch, i, step);
}

bool patch_is_inside(const struct patch *patch, uint64_t pc)
{
    const struct plan *plan = &patch->plan;
    uint64_t address = pc - patch->target->bias;
    if (pc < patch->target->low || pc >= patch->target->high)
        return false;
    for (uint32_t i = 0; i < plan->header->hook_count; i++) {
        const struct plan_hook *hook = &plan->hooks[i];
        if ((address > hook->address && address < hook->address + hook->patch_length) ||
            (hook->kind == PLAN_PAD && address >= hook->pad && address < hook->pad + PLAN_JUMP))
            return true;
    }
    return false;
}

void patch_gone(struct patch *patch)
{
    breakpoint_switch(&patch->breakpoints, false);
}

/* Jumps stay: their trampolines now call a no-op. */
static void leave_trampolines(const struct patch *patch)
{
    void (*nothing)(void) = probe_nothing;
    if (raw_mprotect(patch->trampolines, RAW_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
        return; /* the no-op records nothing */
    for (unsigned slot = 0; slot < 2; slot++)
        __atomic_store_n((uint64_t *)patch->trampolines + slot, (uint64_t)(uintptr_t)nothing,
                         __ATOMIC_RELEASE);
    raw_mprotect(patch->trampolines, RAW_PAGE, PROT_READ | PROT_EXEC);
}

void patch_leave(struct patch *patch)
{
    const struct plan *plan = &patch->plan;
    const struct patch_target *target = patch->target;
    uint32_t done, restored;
    leave_trampolines(patch);
    if (!patch->breakpoints.count)
        return;
    if (protect_code(target, target->code_count, PROT_READ | PROT_WRITE | PROT_EXEC, &done) == 0) {
        for (uint32_t i = 0; i < plan->header->hook_count; i++)
            if (plan->hooks[i].kind == PLAN_BREAKPOINT)
                *(volatile uint8_t *)(target->bias + plan->hooks[i].address) = plan->hooks[i].original[0];
    }
    protect_code(target, done, 0, &restored);
}
