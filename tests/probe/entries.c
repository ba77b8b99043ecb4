/*
 * entries.c - functions whose first instructions are hard to displace, called a known number of times; each
 * is checked for what it returns. And one that sees every register, before which all are set.
 */
#include <stdio.h>
#include <string.h>

#include "tests/programs/program.h"

#define ASM_FUNCTION(name, body)                                                                             \
    __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name                        \
            ":\n.cfi_startproc\n" body ".cfi_endproc\n.size " #name ", . - " #name "\n")

extern int rip_load(void), rip_compare(int x), short_jump(int x), jump_first(void), loop_inside(int x),
    loop_all(int x), loop_red_zone(int x), landing_pad(int x), bare_return(int x), after_bare(int x),
    long_jump(int x);
extern uint64_t call_first(void), sees_flags(uint64_t x);
extern void see_registers(void), try_registers(void);

int value = 5;
ASM_FUNCTION(rip_load, "mov value(%rip), %eax\n add $1, %eax\n ret\n");
ASM_FUNCTION(rip_compare, "cmpl $5, value(%rip)\n lea 1(%rdi), %eax\n je 1f\n mov $0, %eax\n 1: ret\n");
ASM_FUNCTION(short_jump, "test %edi, %edi\n je 1f\n mov $1, %eax\n ret\n 1: mov $2, %eax\n ret\n");
ASM_FUNCTION(jump_first, "jmp 1f\n nop\n nop\n nop\n 1: mov $3, %eax\n ret\n");
ASM_FUNCTION(long_jump, "jrcxz 1f\n mov %edi, %eax\n ret\n 1: lea 9(%rdi), %eax\n ret\n");
ASM_FUNCTION(loop_inside, "xor %eax, %eax\n 1: inc %eax\n dec %edi\n jnz 1b\n ret\n");
ASM_FUNCTION(loop_all, "add $7, %eax\n dec %edi\n jnz loop_all\n ret\n");
/* Rounds that pass the hook, as they go through a register, with data in the red zone. */
ASM_FUNCTION(loop_red_zone,
             "cmp $9, %edi\n jne 1f\n movl $0, -8(%rsp)\n 1: incl -8(%rsp)\n dec %edi\n je 2f\n"
             " cmp $-1, %edi\n je loop_red_zone\n lea loop_red_zone(%rip), %rax\n jmp *%rax\n"
             " 2: mov -8(%rsp), %eax\n ret\n");
ASM_FUNCTION(landing_pad, "endbr64\n lea (%rdi,%rdi), %eax\n ret\n");
/* returns the address that it was called with the return address of: its own second instruction's */
ASM_FUNCTION(call_first,
             "call 1f\n sub $8, %rsp\n add $8, %rsp\n lea call_first(%rip), %rdx\n sub %rdx, %rax\n ret\n"
             "1: mov (%rsp), %rax\n ret\n");
/* nothing between the two */
__asm__(
    ".text\n.p2align 4\n.globl bare_return\n.type bare_return, @function\nbare_return:\n.cfi_startproc\n "
    "ret\n"
    ".cfi_endproc\n.size bare_return, 1\n"
    ".globl after_bare\n.type after_bare, @function\nafter_bare:\n.cfi_startproc\n lea 4(%rdi), %eax\n ret\n"
    ".cfi_endproc\n.size after_bare, . - after_bare\n");

/* All general registers but SP, flags and vector registers as see_registers() found and left them. */
struct seen {
    uint64_t registers[15], flags;
    unsigned char vectors[16][16];
} before, after;
ASM_FUNCTION(
    see_registers,
    "mov %rax, after(%rip)\n mov %rbx, 8+after(%rip)\n mov %rcx, 16+after(%rip)\n"
    "mov %rdx, 24+after(%rip)\n mov %rsi, 32+after(%rip)\n mov %rdi, 40+after(%rip)\n"
    "mov %rbp, 48+after(%rip)\n mov %r8, 56+after(%rip)\n mov %r9, 64+after(%rip)\n"
    "mov %r10, 72+after(%rip)\n mov %r11, 80+after(%rip)\n mov %r12, 88+after(%rip)\n"
    "mov %r13, 96+after(%rip)\n mov %r14, 104+after(%rip)\n mov %r15, 112+after(%rip)\n"
    "pushf\n pop 120+after(%rip)\n"
    "movups %xmm0, 128+after(%rip)\n movups %xmm1, 144+after(%rip)\n movups %xmm2, 160+after(%rip)\n"
    "movups %xmm7, 240+after(%rip)\n movups %xmm8, 256+after(%rip)\n movups %xmm15, 368+after(%rip)\n"
    "ret\n");
/* Loads `before`, calls, keeps what the ABI wants kept. */
ASM_FUNCTION(
    try_registers,
    "push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n sub $8, %rsp\n"
    "movups 128+before(%rip), %xmm0\n movups 144+before(%rip), %xmm1\n movups 160+before(%rip), %xmm2\n"
    "movups 240+before(%rip), %xmm7\n movups 256+before(%rip), %xmm8\n movups 368+before(%rip), %xmm15\n"
    "push 120+before(%rip)\n popf\n"
    "mov before(%rip), %rax\n mov 8+before(%rip), %rbx\n mov 16+before(%rip), %rcx\n"
    "mov 24+before(%rip), %rdx\n mov 32+before(%rip), %rsi\n mov 40+before(%rip), %rdi\n"
    "mov 48+before(%rip), %rbp\n mov 56+before(%rip), %r8\n mov 64+before(%rip), %r9\n"
    "mov 72+before(%rip), %r10\n mov 80+before(%rip), %r11\n mov 88+before(%rip), %r12\n"
    "mov 96+before(%rip), %r13\n mov 104+before(%rip), %r14\n mov 112+before(%rip), %r15\n"
    "call see_registers\n"
    "add $8, %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n");

static int failures;

static void check(const char *what, uint64_t got, uint64_t expected)
{
    if (got != expected) {
        printf("%s: %llu, not %llu\n", what, (unsigned long long)got, (unsigned long long)expected);
        failures++;
    }
}

static void check_registers(unsigned round)
{
    unsigned char *bytes = (unsigned char *)&before;
    for (unsigned i = 0; i < sizeof before; i++)
        bytes[i] = (unsigned char)(i * 7 + round * 31 + 1);
    /* CF, PF, AF, ZF, SF and OF as the round says; IF and the bit that is always 1 */
    before.flags = 0x202 | (round & 1) | (round & 2) << 1 | (round & 4) << 2 | (round & 8) << 3 |
                   (round & 16) << 3 | (round & 32) << 6;
    try_registers();
    for (unsigned i = 0; i < 15; i++)
        check("register", after.registers[i], before.registers[i]);
    check("flags", after.flags, before.flags);
    static const int vectors[] = {0, 1, 2, 7, 8, 15};
    for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++)
        check("vector", memcmp(after.vectors[vectors[i]], before.vectors[vectors[i]], 16) != 0, 0);
}

static KNOWN int with_many(const char *format, ...)
{
    char text[100];
    __builtin_va_list list;
    __builtin_va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    __builtin_va_end(list);
    return strcmp(text, "1 2.5 three 4 5.25 6 7 8.125") != 0;
}

int main(void)
{
    for (int i = 1; i <= 64; i++) {
        check("rip_load", (uint64_t)rip_load(), 6);
        check("rip_compare", (uint64_t)rip_compare(i), (uint64_t)i + 1);
        check("short_jump", (uint64_t)short_jump(i & 1), i & 1 ? 1 : 2);
        check("jump_first", (uint64_t)jump_first(), 3);
        uint64_t rcx = i & 1;
        int eax;
        __asm__ volatile("call long_jump" : "=a"(eax), "+c"(rcx) : "D"(i) : "rdx", "memory", "cc");
        check("long_jump", (uint64_t)eax, i & 1 ? (uint64_t)i : (uint64_t)i + 9);
        check("loop_inside", (uint64_t)loop_inside(i), (uint64_t)i);
        check("loop_red_zone", (uint64_t)loop_red_zone(9), 9);
        check("landing_pad", (uint64_t)landing_pad(i), 2 * (uint64_t)i);
        check("call_first", call_first(), 5);
        bare_return(i);
        check("after_bare", (uint64_t)after_bare(i), (uint64_t)i + 4);
        check_registers((unsigned)i - 1);
        check("with_many",
              (uint64_t)with_many("%d %g %s %d %g %d %d %g", 1, 2.5, "three", 4, 5.25, 6, 7, 8.125), 0);
    }
    int sum = 1, left = 10;
    __asm__ volatile("call loop_all" : "+a"(sum), "+D"(left) : : "rcx", "rdx", "memory", "cc");
    check("loop_all", (uint64_t)sum, 71);
    puts(failures ? "bad" : "all right");
    return failures != 0;
}
