/* DWARF expressions of call frame information. */
#include <criterion/criterion.h>

#include "image/cfi/registers.h"

static bool get(void *context, unsigned number, uint64_t *value)
{
    (void)context;
    *value = number == 7 ? 0x7000 : number == 0 ? 40 : 0;
    return number != 1;
}

static bool read_word(void *context, uint64_t address, uint64_t *value)
{
    (void)context;
    *value = address + 1;
    return address != 0;
}

static bool evaluate(const char *code, size_t size, const uint64_t *initial, uint64_t *value)
{
    const struct cfi_machine_state state = {NULL, get, read_word};
    return cfi_evaluate((const uint8_t *)code, size, initial, &state, value);
}

Test(evaluate, what_compilers_and_assemblers_write)
{
    static const struct {
        const char *code;
        size_t size;
        uint64_t value;
    } cases[] = {
        {"\x77\x98\x01\x06\x23\x08", 6, 0x7000 + 152 + 1 + 8}, /* breg7 152; deref; plus_uconst 8 */
        {"\x77\x78\x06", 3, 0x7000 - 8 + 1},                   /* breg7 -8; deref */
        {"\x70\x00\x33\x24", 4, 40 << 3},                      /* breg0 0; lit3; shl */
        {"\x09\xff\x0d\xfe\xff\xff\xff\x22", 8, (uint64_t)-3}, /* const1s -1; const4s -2; plus */
        {"\x31\x32\x33\x17\x1c\x1c", 6, 0},                    /* 1 2 3; rot: 3 1 2; minus: 3 -1; minus: 4 */
        {"\x31\x28\x01\x00\x30\x35", 6, 5},                    /* lit1; bra over lit0; lit5 */
        {"\x38\x33\x1d", 3, 2},                                /* 8 mod 3 */
        {"\x35\x36\x2d\x12\x22", 5, 2},                        /* 5 < 6; dup; plus */
        {"\x92\x07\x10", 3, 0x7010},                           /* bregx 7 16 */
        {"\x08\x90\x94\x01", 4, 0x91},                         /* const1u 0x90; deref_size 1 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 0, want = i == 4 ? 4 : cases[i].value;
        cr_expect(evaluate(cases[i].code, cases[i].size, NULL, &value), "case %zu", i);
        cr_expect_eq(value, want, "case %zu: %#lx", i, value);
    }
}

Test(evaluate, it_may_begin_with_the_cfa)
{
    const uint64_t cfa = 0x100;
    uint64_t value;
    cr_assert(evaluate("\x23\x10", 2, &cfa, &value));
    cr_expect_eq(value, 0x110u);
    cr_expect_not(evaluate("\x23\x10", 2, NULL, &value), "there is nothing to add to");
}

Test(evaluate, what_cannot_be_known_is_refused)
{
    static const struct {
        const char *code;
        size_t size;
    } cases[] = {
        {"", 0},                 /* no value */
        {"\x71\x00", 2},         /* a register that is not known */
        {"\x30\x06", 2},         /* a word that is not there */
        {"\x30\x31\x30\x1b", 4}, /* division by 0 */
        {"\x30\x2f\xfc\xff", 4}, /* a loop */
        {"\x2f\x00\x80", 3},     /* out of the expression */
        {"\x9c", 1},             /* call_frame_cfa: of other sections */
        {"\x77", 1},             /* cut */
        {"\x90\x30", 2},
    };
    uint64_t value;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_not(evaluate(cases[i].code, cases[i].size, NULL, &value), "case %zu", i);
    char deep[64];
    for (size_t i = 0; i < sizeof deep; i++)
        deep[i] = 0x30;
    cr_expect_not(evaluate(deep, sizeof deep, NULL, &value), "more than its stack holds");
}
