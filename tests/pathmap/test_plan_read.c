/* test_plan_read.c - a plan that is damaged is refused, or whatever it says is harmless to follow. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/wire/plan.h"

enum { HOOKS = 4, CALLS = 5 };

struct file {
    struct plan_header header;
    struct plan_hook hooks[HOOKS];
    struct plan_fixup fixups[HOOKS + 2];
    struct plan_call calls[CALLS];
    uint8_t code[64];
};

/* One hook of each kind, 0x100 apart; code of 10 bytes with a jump at 5, and a push in the last. */
static void make(struct file *f)
{
    static const uint8_t lengths[PLAN_KINDS] = {5, 5, 2, 1};
    memset(f, 0, sizeof *f);
    f->header = (struct plan_header){.magic = PLAN_MAGIC,
                                     .version = PLAN_VERSION,
                                     .hook_count = HOOKS,
                                     .fixup_count = HOOKS + 2,
                                     .code_size = sizeof f->code,
                                     .text_low = 0x1000,
                                     .text_high = 0x1301,
                                     .build_id_size = 20,
                                     .call_count = CALLS,
                                     .calls_from = 0x1008};
    for (unsigned i = 0; i < HOOKS; i++) {
        f->hooks[i] = (struct plan_hook){.address = 0x1000 + i * 0x100,
                                         .function = 0x1000 + i * 0x100 - (i == 1 ? 4 : 0),
                                         .code = i * 10,
                                         .code_length = 10,
                                         .fixups = i,
                                         .fixup_count = 1,
                                         .kind = (uint8_t)i,
                                         .patch_length = lengths[i],
                                         .original_length = 5,
                                         .size = 16};
        f->fixups[i] = (struct plan_fixup){.target = 0x1005 + i * 0x100, .offset = 6, .kind = PLAN_REL32};
    }
    f->hooks[2].pad = 0x1202 + 127;
    f->hooks[3].code_length = 34;
    f->hooks[3].fixup_count = 3;
    f->fixups[3] = (struct plan_fixup){.target = 0x123456789, .offset = 2, .kind = PLAN_ABS_LOW};
    f->fixups[4] = (struct plan_fixup){.target = 0x123456789, .offset = 10, .kind = PLAN_ABS_HIGH};
    f->fixups[5] = (struct plan_fixup){.target = 0x1301, .offset = 20, .kind = PLAN_REL32, .trailing = 4};
    f->calls[0] = (struct plan_call){0, 0, plan_rule(PLAN_CALL_FIXED, 8), plan_rule(PLAN_BP_AT_CFA, -16)};
    f->calls[1] = (struct plan_call){8, 3, plan_rule(PLAN_CALL_BP, 16), plan_rule(PLAN_BP_AT_CFA, -16)};
    f->calls[2] =
        (struct plan_call){9, 3, plan_rule(PLAN_CALL_BP_MEMORY, -24), plan_rule(PLAN_BP_AT_CFA, -16)};
    f->calls[3] =
        (struct plan_call){0x80000000, 2, plan_rule(PLAN_CALL_UNKNOWN, 0), plan_rule(PLAN_BP_AT_CFA, -16)};
    f->calls[4] =
        (struct plan_call){UINT32_MAX, PLAN_NO_HOOK, plan_rule(PLAN_CALL_FIXED, PLAN_OFFSET_MAX - 1),
                           plan_rule(PLAN_BP_AT_CFA, -16)};
    memset(f->code, 0x90, sizeof f->code);
}

static const char *refusal(const struct file *f)
{
    const char *reason = NULL;
    struct plan plan;
    int rc = plan_read(f, sizeof *f, &plan, &reason);
    cr_assert(rc == 0 ? reason == NULL : rc == -EBADMSG && reason != NULL);
    return rc == 0 ? "" : reason;
}

Test(plan_read, a_good_plan_is_taken_and_placed)
{
    struct file f;
    struct plan plan;
    uint8_t out[PLAN_CODE_MAX];
    uint32_t field;
    make(&f);
    cr_assert_str_eq(refusal(&f), "");
    cr_assert_eq(plan_read(&f, sizeof f, &plan, NULL), 0);
    cr_assert(plan_place(&plan, &plan.hooks[1], 0x7f0000000000, 0x7f0000002000, out));
    memcpy(&field, out + 6, 4);
    cr_expect_eq(field, (uint32_t)(0x1105 - 0x200a));
    cr_expect_eq(out[5], 0x90);
    cr_assert(plan_place(&plan, &plan.hooks[3], 0x7f0000000000, 0x7f0000002000, out));
    memcpy(&field, out + 2, 4);
    cr_expect_eq(field, 0x23456789);
    memcpy(&field, out + 10, 4);
    cr_expect_eq(field, 0x7f01);
    memcpy(&field, out + 20, 4);
    cr_expect_eq(field, (uint32_t)(0x1301 - 0x2000 - 28));
    /* the last place from which the target, 0x1105, is in reach, and the first from which it is not */
    uint64_t far = 0x1105 + 0x80000000ull - 10;
    cr_expect(plan_place(&plan, &plan.hooks[1], 0, far, out));
    cr_expect_not(plan_place(&plan, &plan.hooks[1], 0, far + 1, out));
    far = 0x7f0000001105 - 0x7fffffffull - 10;
    cr_expect(plan_place(&plan, &plan.hooks[1], 0x7f0000000000, far, out));
    cr_expect_not(plan_place(&plan, &plan.hooks[1], 0x7f0000000000, far - 1, out));
}

#define REFUSED(text, change)                                                                                \
    do {                                                                                                     \
        struct file f;                                                                                       \
        make(&f);                                                                                            \
        change;                                                                                              \
        cr_expect_str_eq(refusal(&f), text);                                                                 \
    } while (0)

Test(plan_read, each_rule_is_enforced)
{
    REFUSED("not a plan", f.header.magic[3] = 'X');
    REFUSED("a plan of another version", f.header.version++);
    REFUSED("a truncated plan", f.header.hook_count++);
    REFUSED("a truncated plan", f.header.fixup_count = UINT32_MAX);
    REFUSED("a truncated plan", f.header.code_size--);
    REFUSED("an invalid header", f.header.build_id_size = 21);
    REFUSED("an invalid header", f.header.text_low = 0x2000);
    REFUSED("a hook of an unknown kind", f.hooks[0].kind = PLAN_KINDS);
    REFUSED("a hook of an unknown kind", f.hooks[0].patch_length = 4);
    REFUSED("a hook with a wrong count of original bytes", f.hooks[0].original_length = 4);
    REFUSED("a hook with a wrong count of original bytes", f.hooks[0].original_length = 21);
    REFUSED("a hook far from its function's entry", f.hooks[0].function++);
    REFUSED("a hook far from its function's entry", f.hooks[0].function -= 16);
    REFUSED("a hook whose code is not in the plan", f.hooks[3].code_length = 35);
    REFUSED("a hook whose code is not in the plan", f.hooks[3].code_length = 0);
    REFUSED("a hook whose code is not in the plan", f.hooks[3].code = 0xfffffff0);
    REFUSED("a hook whose fixups are not in the plan", f.hooks[3].fixups = 4);
    REFUSED("a hook whose fixups are not in the plan", f.hooks[3].fixup_count = UINT16_MAX);
    REFUSED("a hook with an unknown flag", f.hooks[3].flags = 2);
    REFUSED("a hook of a function without code", f.hooks[1].size = 0);
    REFUSED("a fixup of an unknown kind", f.fixups[0].kind = 3);
    REFUSED("a fixup of an unknown kind", f.fixups[0].reserved = 3);
    REFUSED("a fixup outside its code", f.fixups[0].offset = 7);
    REFUSED("a fixup outside its code", f.fixups[0].trailing = 1);
    REFUSED("a fixup outside its code", f.fixups[4].offset = 5);
    REFUSED("hooks that overlap", f.hooks[1].address = f.hooks[1].function = 0x1004);
    REFUSED("hooks that overlap", f.header.text_high--);
    REFUSED("hooks that overlap", f.header.text_low++);
    REFUSED("hooks that overlap", f.hooks[3].address = f.hooks[3].function = UINT64_MAX);
    REFUSED("an unnecessary pad", f.hooks[0].pad = 0x1080);
    REFUSED("a pad out of reach", f.hooks[2].pad++);
    REFUSED("a pad out of reach", f.hooks[2].pad = 0);
    REFUSED("a pad out of reach", f.hooks[2].pad = 0x1202 - 129);
    REFUSED("", f.hooks[2].pad = 0x1202 - 128);
    REFUSED("a pad in patched code", f.hooks[2].pad = 0x1200);
    REFUSED("a pad in patched code", f.hooks[2].pad = 0x11fc);
    REFUSED("", f.hooks[2].pad = 0x11fb);
    REFUSED("calls out of order", f.calls[1].back = 0);
    REFUSED("calls out of order", f.calls[3].back = 9);
    REFUSED("", f.calls[4].back = 0x80000001);
    REFUSED("a call by a function that is not in the plan", f.calls[1].hook = HOOKS);
    REFUSED("a call by a function that is not in the plan", f.calls[4].hook--);
    REFUSED("a call from an invalid frame", f.calls[0].cfa = plan_rule(PLAN_CALL_FIXED, 7));
    REFUSED("a call from an invalid frame", f.calls[1].cfa = plan_rule(PLAN_CALL_BP, -PLAN_OFFSET_MAX));
    REFUSED("", f.calls[1].cfa = plan_rule(PLAN_CALL_BP, -PLAN_OFFSET_MAX + 1));
    REFUSED("a call with BP at an invalid place", f.calls[1].bp = plan_rule(PLAN_BP_AT_BP, -PLAN_OFFSET_MAX));
    REFUSED("a truncated plan", f.header.call_count--);
    REFUSED("a truncated plan", f.header.call_count = UINT32_MAX);
    struct file f;
    make(&f);
    f.hooks[1] = f.hooks[2];
    f.hooks[1].address = f.hooks[1].function = 0x11f0;
    f.hooks[1].pad = f.hooks[2].pad - 5;
    cr_expect_str_eq(refusal(&f), "a pad out of reach");
    f.hooks[1].pad = f.hooks[2].pad = 0x1240;
    cr_expect_str_eq(refusal(&f), "pads that overlap");
    f.hooks[2].pad = 0x1245;
    cr_expect_str_eq(refusal(&f), "");
    struct plan plan;
    for (size_t size = 0; size < sizeof f; size++)
        cr_expect_eq(plan_read(&f, size, &plan, NULL), -EBADMSG);
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* What the runtime does with a plan, with memory that a sanitizer watches. */
static void follow(const struct plan *plan)
{
    const struct plan_header *h = plan->header;
    uint64_t end = 0;
    for (uint32_t i = 0; i < h->hook_count; i++) {
        const struct plan_hook *hook = &plan->hooks[i];
        cr_assert_geq(hook->address, end);
        end = hook->address + hook->patch_length;
        cr_assert(hook->address >= h->text_low && end <= h->text_high);
        uint8_t *out = malloc(hook->code_length);
        plan_place(plan, hook, 0x7f0000000000, 0x7f0000100000, out);
        free(out);
    }
    uint32_t last = 0;
    for (uint32_t i = 0; i < h->call_count; i++) {
        const struct plan_call *call = &plan->calls[i];
        int32_t offset = plan_rule_offset(call->cfa);
        cr_assert(i == 0 || call->back > last);
        cr_assert_eq(call->cfa, plan_rule(plan_rule_kind(call->cfa), offset));
        cr_assert(call->hook == PLAN_NO_HOOK || call->hook < h->hook_count);
        last = call->back;
    }
}

Test(plan_read, random_damage_does_no_harm)
{
    uint64_t state = 88172645463325252ull;
    unsigned refused = 0, taken = 0;
    for (unsigned round = 0; round < 200000; round++) {
        struct file f;
        struct plan plan;
        make(&f);
        for (unsigned n = next(&state) % 4 + 1; n; n--) {
            size_t at = next(&state) % sizeof f;
            uint64_t how = next(&state);
            ((uint8_t *)&f)[at] = (uint8_t)(how & 1 ? how >> 8 : ((uint8_t *)&f)[at] ^ 1u << (how >> 8 & 7));
        }
        if (plan_read(&f, sizeof f, &plan, NULL) == 0) {
            follow(&plan);
            taken++;
        } else {
            refused++;
        }
    }
    /* targets, original bytes and code may say anything */
    cr_expect_gt(refused, 50000);
    cr_expect_gt(taken, 20000);
}
