/* CFI rows of hand-written code whose frames are known at every instruction. */
#include <criterion/criterion.h>

#include "image/cfi/cfi.h"
#include "tests/image/build.h"

/* Every instruction is one byte long, so that addresses can be counted. */
static const char code[] =
    ".text\n"
    ".globl plain, framed, remember, realigned, plt, signal, root, strange, padded\n"
    "plain:\n"
    "	.cfi_startproc\n"
    "	nop\n"
    "	.cfi_adjust_cfa_offset 32\n"
    "	nop\n"
    "	.cfi_def_cfa_offset 8\n"
    "	nop\n"
    "	.cfi_endproc\n"
    ".type plain, @function; .size plain, .-plain\n"
    "framed:\n"
    "	.cfi_startproc\n"
    "	nop\n"
    "	.cfi_def_cfa_offset 16\n"
    "	.cfi_offset rbp, -16\n"
    "	nop\n"
    "	.cfi_def_cfa_register rbp\n"
    "	nop\n"
    "	.cfi_def_cfa rsp, 8\n"
    "	.cfi_restore rbp\n"
    "	nop\n"
    "	.cfi_endproc\n"
    ".type framed, @function; .size framed, .-framed\n"
    "remember:\n"
    "	.cfi_startproc\n"
    "	.cfi_def_cfa_offset 48\n"
    "	nop\n"
    "	.cfi_remember_state\n"
    "	.cfi_def_cfa_offset 8\n"
    "	nop\n"
    "	.cfi_restore_state\n"
    "	.cfi_escape 0x2e, 16\n" /* GNU_args_size */
    "	nop\n"
    "	.cfi_endproc\n"
    ".type remember, @function; .size remember, .-remember\n"
    "realigned:\n"
    "	.cfi_startproc\n"
    "	.cfi_def_cfa r10, 0\n"
    "	nop\n"
    "	.cfi_escape 0x10, 6, 2, 0x76, 0\n"       /* expression rbp: breg6 0 */
    "	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n" /* CFA: breg6 -8; deref */
    "	nop\n"
    "	.cfi_def_cfa rsp, 8\n"
    "	.cfi_same_value rbp\n"
    "	nop\n"
    "	.cfi_escape 0x0f, 6, 0x77, 0x98, 0x01, 0x06, 0x23, 8\n" /* CFA: breg7 152; deref; plus_uconst 8 */
    "	.cfi_escape 0x10, 6, 3, 0x77, 0xa0, 0x01\n"             /* expression rbp: breg7 160 */
    "	nop\n"
    "	.cfi_escape 0x0d, 7\n" /* def_cfa_register rsp: the offset is not known */
    "	nop\n"
    "	.cfi_endproc\n"
    ".type realigned, @function; .size realigned, .-realigned\n"
    ".balign 16\n"
    "plt:\n"
    "	.cfi_startproc\n"
    "	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n"
    "	.skip 16, 0x90\n"
    "	.cfi_endproc\n"
    ".type plt, @function; .size plt, .-plt\n"
    "signal:\n"
    "	.cfi_startproc\n"
    "	.cfi_signal_frame\n"
    "	.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06\n" /* CFA: breg7 160; deref */
    "	nop\n"
    "	.cfi_endproc\n"
    ".type signal, @function; .size signal, .-signal\n"
    "root:\n"
    "	.cfi_startproc\n"
    "	.cfi_undefined rip\n"
    "	nop\n"
    "	.cfi_endproc\n"
    ".type root, @function; .size root, .-root\n"
    "strange:\n"
    "	.cfi_startproc\n"
    "	.cfi_offset rip, -16\n" /* the return address is not where a call puts it */
    "	nop\n"
    "	.cfi_restore rip\n"
    "	.cfi_def_cfa rdi, 8\n"
    "	nop\n"
    "	.cfi_def_cfa rsp, 8\n"
    "	.cfi_register rbp, rax\n"
    "	nop\n"
    "	.cfi_escape 0x0f, 3, 0x77, 8, 0x06\n" /* CFA: breg7 8; deref */
    "	nop\n"
    "	.cfi_def_cfa rsp, 16\n"
    "	.cfi_escape 0x2f, 6, 2\n" /* GNU_negative_offset_extended rbp: CFA + 16 */
    "	nop\n"
    "	.cfi_endproc\n"
    ".type strange, @function; .size strange, .-strange\n"
    "	nop\n" /* no FDE */
    "padded:\n"
    "	.cfi_startproc\n"
    "	.cfi_personality 0x9b, personality\n" /* augmentation "zPLR" */
    "	.cfi_lsda 0x1b, table\n"
    "	.cfi_def_cfa_offset 24\n"
    "	nop\n"
    "	.cfi_endproc\n"
    ".type padded, @function; .size padded, .-padded\n"
    ".data\n"
    "personality: .quad 0\n"
    "table: .quad 0\n"
    ".section .note.GNU-stack\n";

static struct image *open_code(const char *options)
{
    build_source("code.s", code);
    build_run("$CC -shared -nostdlib %s -o code.so code.s", options);
    return build_open("code.so");
}

static void expect(struct cfi_row row, enum cfi_cfa cfa, int cfa_offset, enum cfi_bp bp, int bp_offset)
{
    cr_expect_eq(row.cfa, cfa, "cfa %d, expected %d", row.cfa, cfa);
    cr_expect_eq(row.cfa_offset, cfa_offset, "CFA offset %d, expected %d", row.cfa_offset, cfa_offset);
    cr_expect_eq(row.bp, bp, "bp %d, expected %d", row.bp, bp);
    cr_expect_eq(row.bp_offset, bp_offset, "BP offset %d, expected %d", row.bp_offset, bp_offset);
}

static void check_rows(const struct image *image, const uint64_t *entry)
{
    const struct cfi *cfi = image_cfi(image);
    uint64_t at = entry[0];
    expect(cfi_lookup(cfi, at), CFI_SP, 8, CFI_BP_SAME, 0);
    expect(cfi_lookup(cfi, at + 1), CFI_SP, 40, CFI_BP_SAME, 0);
    expect(cfi_lookup(cfi, at + 2), CFI_SP, 8, CFI_BP_SAME, 0);
    at = entry[1]; /* framed */
    expect(cfi_lookup(cfi, at), CFI_SP, 8, CFI_BP_SAME, 0);
    expect(cfi_lookup(cfi, at + 1), CFI_SP, 16, CFI_BP_AT_CFA, -16);
    expect(cfi_lookup(cfi, at + 2), CFI_BP, 16, CFI_BP_AT_CFA, -16);
    expect(cfi_lookup(cfi, at + 3), CFI_SP, 8, CFI_BP_SAME, 0);
    at = entry[2]; /* remember */
    expect(cfi_lookup(cfi, at), CFI_SP, 48, CFI_BP_SAME, 0);
    expect(cfi_lookup(cfi, at + 1), CFI_SP, 8, CFI_BP_SAME, 0);
    expect(cfi_lookup(cfi, at + 2), CFI_SP, 48, CFI_BP_SAME, 0);
    at = entry[3]; /* realigned */
    cr_expect_eq(cfi_lookup(cfi, at).cfa, CFI_UNSUPPORTED);
    expect(cfi_lookup(cfi, at + 1), CFI_BP_MEMORY, -8, CFI_BP_AT_BP, 0);
    expect(cfi_lookup(cfi, at + 2), CFI_SP, 8, CFI_BP_SAME, 0);
    expect(cfi_lookup(cfi, at + 3), CFI_SP_MEMORY, 152, CFI_BP_AT_SP, 160);
    cr_expect_eq(cfi_lookup(cfi, at + 3).cfa_add, 8);
    cr_expect_eq(cfi_lookup(cfi, at + 4).cfa, CFI_UNSUPPORTED);
    at = entry[4]; /* plt */
    for (unsigned i = 0; i < 16; i++)
        expect(cfi_lookup(cfi, at + i), CFI_SP, i >= 11 ? 16 : 8, CFI_BP_SAME, 0);
    cr_expect_eq(cfi_lookup(cfi, entry[5]).cfa, CFI_SIGNAL_FRAME);
    cr_expect(cfi_lookup(cfi, entry[6]).root);
    cr_expect_not(cfi_lookup(cfi, entry[0]).root);
    at = entry[7]; /* strange */
    cr_expect_eq(cfi_lookup(cfi, at).cfa, CFI_UNSUPPORTED);
    cr_expect_eq(cfi_lookup(cfi, at + 1).cfa, CFI_UNSUPPORTED);
    expect(cfi_lookup(cfi, at + 2), CFI_SP, 8, CFI_BP_UNKNOWN, 0);
    cr_expect_eq(cfi_lookup(cfi, at + 3).cfa, CFI_UNSUPPORTED);
    expect(cfi_lookup(cfi, at + 4), CFI_SP, 16, CFI_BP_AT_CFA, 16);
    cr_expect_eq(cfi_lookup(cfi, at + 5).cfa, CFI_NONE);
    expect(cfi_lookup(cfi, entry[8]), CFI_SP, 24, CFI_BP_SAME, 0);
    cr_expect_eq(cfi_lookup(cfi, entry[8] + 1).cfa, CFI_NONE);
    cr_expect_eq(cfi_lookup(cfi, 0).cfa, CFI_NONE);
    cr_expect_eq(cfi_lookup(cfi, UINT64_MAX).cfa, CFI_NONE);
}

static void find_entries(const struct image *image, uint64_t *entry)
{
    static const char *const names[] = {"plain",  "framed", "remember", "realigned", "plt",
                                        "signal", "root",   "strange",  "padded"};
    for (unsigned i = 0; i < 9; i++)
        entry[i] = build_function(image, names[i]);
}

Test(cfi, rows_of_known_frames, .fini = build_clean)
{
    struct image *image = open_code("");
    uint64_t entry[9];
    find_entries(image, entry);
    check_rows(image, entry);

    struct cfi_statistics s;
    cfi_statistics(image_cfi(image), &s);
    cr_expect_eq(s.fdes, 9);
    cr_expect_eq(s.bad_fdes, 0);
    cr_expect_eq(s.unsupported_rows, 4); /* neighbours that are equal are one row */
    image_close(image);
}

Test(cfi, ranges_tell_entries_and_handlers, .fini = build_clean)
{
    struct image *image = open_code("");
    uint64_t entry[9];
    find_entries(image, entry);
    const struct cfi_range *ranges;
    cr_assert_eq(cfi_ranges(image_cfi(image), &ranges), 9);
    static const uint32_t sizes[] = {3, 4, 3, 5, 16, 1, 1, 5, 1};
    static const bool states[] = {true, true, false, false, false, false, false, false, false};
    for (unsigned i = 0; i < 9; i++) {
        cr_expect_eq(ranges[i].address, entry[i]);
        cr_expect_eq(ranges[i].size, sizes[i]);
        cr_expect_eq(ranges[i].entry_state, states[i], "range %u", i);
        cr_expect_eq(ranges[i].lsda != 0, i == 8);
    }
    image_close(image);
}

Test(cfi, without_section_headers_the_same_rows, .fini = build_clean)
{
    struct image *image = open_code("-Wl,--eh-frame-hdr");
    uint64_t entry[9];
    find_entries(image, entry);
    image_close(image);
    /* e_shoff, e_shnum and e_shstrndx set to 0 */
    build_run("dd if=/dev/zero of=code.so bs=1 seek=40 count=8 conv=notrunc 2>/dev/null;"
              "dd if=/dev/zero of=code.so bs=1 seek=60 count=4 conv=notrunc 2>/dev/null");
    image = build_open("code.so");
    check_rows(image, entry);
    image_close(image);
}

Test(cfi, no_eh_frame_no_rows, .fini = build_clean)
{
    build_source("bare.s", ".globl f\nf: ret\n.type f, @function\n.size f, 1\n");
    build_run("$CC -shared -nostdlib -o bare.so bare.s");
    struct image *image = build_open("bare.so");
    struct cfi_statistics s;
    cfi_statistics(image_cfi(image), &s);
    cr_expect_eq(s.rows, 0);
    uint64_t f = build_function(image, "f");
    cr_expect_eq(cfi_lookup(image_cfi(image), f).cfa, CFI_NONE);
    image_close(image);
}

static unsigned seen;

static void see_row(void *damaged, uint64_t start, struct cfi_row row)
{
    const uint64_t *address = damaged;
    cr_expect(row.cfa == CFI_NONE || row.cfa == CFI_SP);
    cr_expect(start != *address || row.cfa == CFI_NONE);
    seen++;
}

Test(cfi, a_damaged_fde_has_no_rows, .fini = build_clean)
{
    build_source("damaged.s",
                 ".globl f\nf: .cfi_startproc\nnop\n.cfi_escape 0x3f\nret\n.cfi_endproc\n.type f, "
                 "@function\n.size f, 2\n"
                 ".globl g\ng: .cfi_startproc\nret\n.cfi_endproc\n.type g, @function\n.size g, 1\n");
    build_run("$CC -shared -nostdlib -o damaged.so damaged.s");
    struct image *image = build_open("damaged.so");
    const struct cfi *cfi = image_cfi(image);
    uint64_t f = build_function(image, "f"), g = build_function(image, "g");
    cr_expect_eq(cfi_lookup(cfi, f).cfa, CFI_NONE);
    cr_expect_eq(cfi_lookup(cfi, f + 1).cfa, CFI_NONE);
    cr_expect_eq(cfi_row_end(cfi, f), f + 2);
    cr_expect(cfi_covers(cfi, f) && cfi_covers(cfi, f + 1) && cfi_covers(cfi, g));
    cr_expect_not(cfi_covers(cfi, g + 1));
    expect(cfi_lookup(cfi, g), CFI_SP, 8, CFI_BP_SAME, 0);
    cfi_each_row(cfi, f, g + 1, see_row, &f);
    cr_expect_eq(seen, 2);
    struct cfi_statistics s;
    cfi_statistics(cfi, &s);
    cr_expect_eq(s.bad_fdes, 1);
    image_close(image);
}
