/* test_plan_displace.c - instructions of known bytes become known other bytes. All start at 0x1000. */
#include <criterion/criterion.h>

#include <string.h>

#include "pathmap/train/plan_displace.h"

#define START 0x1000

/* Reads the instructions; returns their count. */
static unsigned read_all(const uint8_t *bytes, size_t size, struct insn *insns)
{
    struct insn_reader *reader = insn_reader_new();
    unsigned count = 0;
    for (size_t at = 0; at < size; at += insns[count++].length) {
        cr_assert_lt(count, DISPLACED_MAX);
        cr_assert(insn_read(reader, bytes + at, size - at, START + at, &insns[count]), "byte %zu", at);
    }
    insn_reader_free(reader);
    return count;
}

/* Displaces them; then expects the code, where fields of fixups are 0, and the fixups. */
static void expect(const char *bytes, size_t size, const char *code, size_t code_size,
                   const struct plan_fixup *fixups, unsigned fixup_count)
{
    struct insn insns[DISPLACED_MAX];
    struct displaced out;
    unsigned count = read_all((const uint8_t *)bytes, size, insns);
    for (unsigned i = 0; i < count; i++)
        cr_assert(displace_possible(&insns[i]));
    displace(insns, count, START + size, &out);
    cr_assert_eq(out.length, code_size, "%u bytes, not %zu", out.length, code_size);
    for (size_t i = 0; i < code_size; i++)
        cr_assert_eq(out.code[i], (uint8_t)code[i], "byte %zu is %02x", i, out.code[i]);
    cr_assert_eq(out.fixup_count, fixup_count);
    for (unsigned i = 0; i < fixup_count; i++) {
        const struct plan_fixup *f = &out.fixups[i], *e = &fixups[i];
        cr_assert(f->target == e->target && f->offset == e->offset && f->kind == e->kind &&
                      f->trailing == e->trailing && f->reserved == 0,
                  "fixup %u: kind %u, target %#lx, offset %u, trailing %u", i, f->kind,
                  (unsigned long)f->target, f->offset, f->trailing);
    }
}

#define EXPECT(bytes, code, ...)                                                                             \
    do {                                                                                                     \
        const struct plan_fixup fixups_[] = {__VA_ARGS__};                                                   \
        expect(bytes, sizeof(bytes) - 1, code, sizeof(code) - 1, fixups_, sizeof fixups_ / sizeof *fixups_); \
    } while (0)
#define REL(at, to)                                                                                          \
    {                                                                                                        \
        .target = (to), .offset = (at), .kind = PLAN_REL32                                                   \
    }
#define REL_BEFORE(at, to, after)                                                                            \
    {                                                                                                        \
        .target = (to), .offset = (at), .kind = PLAN_REL32, .trailing = (after)                              \
    }
#define PUSHED(at, to)                                                                                       \
    {.target = (to), .offset = (at) + 1, .kind = PLAN_ABS_LOW},                                              \
    {                                                                                                        \
        .target = (to), .offset = (at) + 9, .kind = PLAN_ABS_HIGH                                            \
    }
#define PUSH "\x68\0\0\0\0\xc7\x44\x24\x04\0\0\0\0"
#define JUMP "\xe9\0\0\0\0"

static bool possible(const char *bytes, size_t size)
{
    struct insn insns[DISPLACED_MAX];
    cr_assert_eq(read_all((const uint8_t *)bytes, size, insns), 1);
    return displace_possible(&insns[0]);
}
#define POSSIBLE(bytes) possible(bytes, sizeof(bytes) - 1)

Test(plan_displace, plain_instructions_are_copied_and_a_jump_leads_back)
{
    /* push %rbp; mov %rsp,%rbp; push %rbx */
    EXPECT("\x55\x48\x89\xe5\x53", "\x55\x48\x89\xe5\x53" JUMP, REL(6, START + 5));
    /* sub $0x18,%rsp; mov %fs:0x28,%rax */
    EXPECT("\x48\x83\xec\x18\x64\x48\x8b\x04\x25\x28\0\0\0",
           "\x48\x83\xec\x18\x64\x48\x8b\x04\x25\x28\0\0\0" JUMP, REL(14, START + 13));
    struct displaced sled;
    displace(NULL, 0, START + 5, &sled);
    cr_expect_eq(sled.length, 5);
    cr_expect_eq(sled.fixups[0].target, START + 5);
}

Test(plan_displace, operands_relative_to_rip_keep_their_address)
{
    /* mov 0x200(%rip),%rax */
    EXPECT("\x48\x8b\x05\0\x02\0\0", "\x48\x8b\x05\0\0\0\0" JUMP, REL(3, START + 0x207), REL(8, START + 7));
    /* cmpl $0x12345678,-0x10(%rip): the immediate comes after the distance */
    EXPECT("\x81\x3d\xf0\xff\xff\xff\x78\x56\x34\x12", "\x81\x3d\0\0\0\0\x78\x56\x34\x12" JUMP,
           REL_BEFORE(2, START - 6, 4), REL(11, START + 10));
    /* cmpb $0,0x10(%rip) */
    EXPECT("\x80\x3d\x10\0\0\0\0", "\x80\x3d\0\0\0\0\0" JUMP, REL_BEFORE(2, START + 0x17, 1),
           REL(8, START + 7));
    /* movdqa 0x10(%rip),%xmm1; a 66 prefix */
    EXPECT("\x66\x0f\x6f\x0d\x10\0\0\0", "\x66\x0f\x6f\x0d\0\0\0\0" JUMP, REL(4, START + 0x18),
           REL(9, START + 8));
    /* vmovdqu64 0x40(%rip),%zmm16; vpternlogd $0x96,0x40(%rip),%zmm1,%zmm17 */
    EXPECT("\x62\xe1\xfe\x48\x6f\x05\x40\0\0\0", "\x62\xe1\xfe\x48\x6f\x05\0\0\0\0" JUMP,
           REL(6, START + 0x4a), REL(11, START + 10));
    EXPECT("\x62\xe3\x75\x48\x25\x0d\x40\0\0\0\x96", "\x62\xe3\x75\x48\x25\x0d\0\0\0\0\x96" JUMP,
           REL_BEFORE(6, START + 0x4b, 1), REL(12, START + 11));
    /* what this capstone does not know: rdsspq %rax; incsspq %rcx; rdpkru */
    EXPECT("\xf3\x48\x0f\x1e\xc8", "\xf3\x48\x0f\x1e\xc8" JUMP, REL(6, START + 5));
    EXPECT("\xf3\x48\x0f\xae\xe9", "\xf3\x48\x0f\xae\xe9" JUMP, REL(6, START + 5));
    EXPECT("\x0f\x01\xee", "\x0f\x01\xee" JUMP, REL(4, START + 3));
    /* jmp *0x10(%rip): no way back */
    EXPECT("\xff\x25\x10\0\0\0", "\xff\x25\0\0\0\0", REL(2, START + 0x16));
}

Test(plan_displace, short_branches_become_long)
{
    /* test %edi,%edi; je +8 */
    EXPECT("\x85\xff\x74\x08", "\x85\xff\x0f\x84\0\0\0\0" JUMP, REL(4, START + 12), REL(9, START + 4));
    /* jle -16 (rel32) */
    EXPECT("\x0f\x8e\xf0\xff\xff\xff", "\x0f\x8e\0\0\0\0" JUMP, REL(2, START - 10), REL(7, START + 6));
    /* jmp +0x10, short and long */
    EXPECT("\xeb\x10", JUMP, REL(1, START + 0x12));
    EXPECT("\xe9\x10\0\0\0", JUMP, REL(1, START + 0x15));
    /* jrcxz +4; then loop -2 with a prefix: counts ecx */
    EXPECT("\xe3\x04", "\xe3\x02\xeb\x05" JUMP JUMP, REL(5, START + 6), REL(10, START + 2));
    EXPECT("\x67\xe2\xfe", "\x67\xe2\x02\xeb\x05" JUMP JUMP, REL(6, START + 1), REL(11, START + 3));
}

Test(plan_displace, calls_push_the_original_return_address)
{
    EXPECT("\xe8\x10\0\0\0", PUSH JUMP, PUSHED(0, START + 5), REL(14, START + 0x15));
    /* push %rbx; call *%rax; call *%r12; call *(%r12) */
    EXPECT("\x53\xff\xd0", "\x53" PUSH "\xff\xe0", PUSHED(1, START + 3));
    EXPECT("\x41\xff\xd4", PUSH "\x41\xff\xe4", PUSHED(0, START + 3));
    EXPECT("\x41\xff\x14\x24", PUSH "\x41\xff\x24\x24", PUSHED(0, START + 4));
    /* call *0x18(%rdi); notrack call *%rdx */
    EXPECT("\xff\x57\x18", PUSH "\xff\x67\x18", PUSHED(0, START + 3));
    EXPECT("\x3e\xff\xd2", PUSH "\x3e\xff\xe2", PUSHED(0, START + 3));
    /* call *0x20(%rip) */
    EXPECT("\xff\x15\x20\0\0\0", PUSH "\xff\x25\0\0\0\0", PUSHED(0, START + 6), REL(15, START + 0x26));
    /* call *(%rsp); call *0x78(%rsp); call *0x100(%rsp,%rax,8): 8 bytes further up */
    EXPECT("\xff\x14\x24", PUSH "\xff\xa4\x24\x08\0\0\0", PUSHED(0, START + 3));
    EXPECT("\xff\x54\x24\x78", PUSH "\xff\xa4\x24\x80\0\0\0", PUSHED(0, START + 4));
    EXPECT("\xff\x94\xc4\0\x01\0\0", PUSH "\xff\xa4\xc4\x08\x01\0\0", PUSHED(0, START + 7));
}

Test(plan_displace, what_cannot_run_elsewhere_is_refused)
{
    cr_expect_not(POSSIBLE("\xcc"));                     /* int3 */
    cr_expect_not(POSSIBLE("\xcd\x80"));                 /* int $0x80 */
    cr_expect_not(POSSIBLE("\xf1"));                     /* int1 */
    cr_expect_not(POSSIBLE("\x48\xcf"));                 /* iretq */
    cr_expect_not(POSSIBLE("\x48\xcb"));                 /* lretq */
    cr_expect_not(POSSIBLE("\xff\x18"));                 /* lcall *(%rax) */
    cr_expect_not(POSSIBLE("\xc7\xf8\x10\0\0\0"));       /* xbegin */
    cr_expect_not(POSSIBLE("\x67\x8b\x05\x10\0\0\0"));   /* mov 0x10(%eip),%eax */
    cr_expect_not(POSSIBLE("\xff\xd4"));                 /* call *%rsp */
    cr_expect_not(POSSIBLE("\xff\x54\x24\xf8"));         /* call *-8(%rsp): what the call itself writes */
    cr_expect_not(POSSIBLE("\x66\x66\x48\xe8\0\0\0\0")); /* of two readings */
    cr_expect(POSSIBLE("\x0f\x05"));                     /* syscall */
    cr_expect(POSSIBLE("\x0f\x01\xf9"));                 /* rdtscp */
    cr_expect(POSSIBLE("\xc3"));
    cr_expect(POSSIBLE("\xc2\x08\0"));
    cr_expect(POSSIBLE("\x41\xff\xd4")); /* call *%r12 */
}

Test(plan_displace, returns_and_jumps_need_no_way_back)
{
    EXPECT("\x31\xc0\xc3", "\x31\xc0\xc3"); /* xor %eax,%eax; ret */
    EXPECT("\x48\x8b\x07\xff\x60\x10", "\x48\x8b\x07\xff\x60\x10");
}

Test(plan_displace, branches_among_them_stay_among_them)
{
    /* 1: dec %edi; je 2f; cmp %edi,%esi; jne 1b; jrcxz 1b; call 1b; 2: jmp 1b */
    EXPECT("\xff\xcf\x74\x0b\x39\xfe\x75\xf8\xe3\xf6\xe8\xf1\xff\xff\xff\xeb\xef",
           "\xff\xcf\x0f\x84\x23\0\0\0\x39\xfe\x0f\x85\xf0\xff\xff\xff" /* to 43, 0 */
           "\xe3\x02\xeb\x05\xe9\xe7\xff\xff\xff"                       /* to 0 */
           PUSH JUMP "\xe9\xd0\xff\xff\xff",
           PUSHED(25, START + 15), REL(39, START));
}

Test(plan_displace, the_longest_code_fits)
{
    struct insn insns[DISPLACED_MAX];
    struct displaced out;
    /* five branches of 1 byte do not exist; what takes the most is jrcxz, jrcxz and a call */
    static const char bytes[] = "\xe3\0\xe3\0\xff\x94\xc4\0\x01\0\0";
    unsigned count = read_all((const uint8_t *)bytes, sizeof bytes - 1, insns);
    displace(insns, count, START + sizeof bytes - 1, &out);
    cr_expect_leq(out.length, PLAN_CODE_MAX);
    cr_expect_leq(out.fixup_count, sizeof out.fixups / sizeof *out.fixups);
}

Test(plan_displace, nothing_is_read_past_the_end)
{
    static const uint8_t vector[] = "\x62\xe3\x75\x48\x25\x0d\x40\0\0\0\x96";
    struct insn_reader *reader = insn_reader_new();
    struct insn insn;
    for (size_t size = 0; size < sizeof vector - 1; size++) {
        uint8_t copy[16];
        memcpy(copy + sizeof copy - size, vector, size);
        cr_expect_not(insn_read(reader, copy + sizeof copy - size, size, START, &insn), "%zu bytes", size);
    }
    cr_expect(insn_read(reader, vector, sizeof vector - 1, START, &insn));
    cr_expect_eq(insn.memory, START + 11 + 0x40);
    insn_reader_free(reader);
}
