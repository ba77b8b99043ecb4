/*
 * start.S - the code executed first in a duplicated file (duplicate.h). If GS is not set, it points GS to a page whose
 * counters never start a burst (wire.h). Assembled as data and copied into the file, where the mover appends what
 * continues. The loader calls it while it relocates the file, or it runs as the entry point (registers: psABI, section
 * 3.4.1), or as DT_INIT with three arguments.
 */
#include "rewrite/duplicate/wire.h"

#define NR_mmap        9
#define NR_arch_prctl  158
#define ARCH_SET_GS    0x1001
#define ARCH_GET_GS    0x1004
#define NEVER          0x7fffffff

    .section .rodata
    .globl duplicate_start, duplicate_start_end
    .hidden duplicate_start, duplicate_start_end
    .type duplicate_start, @object
duplicate_start:
    jmp 1f
2:  /* change, without a runtime: no burst; ZF is set */
    push %rax
    push %rcx
    push %rdi
    mov %gs:WIRE_SELF, %rdi
    movl $0, WIRE_BURST_LEFT(%rdi)
    add $WIRE_CHECKS_LEFT, %rdi
    mov $WIRE_GROUPS, %ecx
    mov $NEVER, %eax
    rep stosl
    pop %rdi
    pop %rcx
    pop %rax
    cmp %esp, %esp
    ret
1:  push %rdi
    push %rsi
    push %rdx
    push $0
    mov $NR_arch_prctl, %eax
    mov $ARCH_GET_GS, %edi
    mov %rsp, %rsi
    syscall
    pop %rcx
    test %rcx, %rcx
    jnz 3f
    xor %edi, %edi
    mov $4096, %esi
    mov $3, %edx /* PROT_READ | PROT_WRITE */
    mov $0x22, %r10d /* MAP_PRIVATE | MAP_ANONYMOUS */
    mov $-1, %r8
    xor %r9d, %r9d
    mov $NR_mmap, %eax
    syscall
    lea 2b(%rip), %rcx
    mov %rcx, WIRE_CHANGE(%rax)
    mov %rax, WIRE_SELF(%rax)
    mov %rax, %rsi
    lea WIRE_CHECKS_LEFT(%rax), %rdi
    mov $WIRE_GROUPS, %ecx
    mov $NEVER, %eax
    rep stosl
    mov $ARCH_SET_GS, %edi
    mov $NR_arch_prctl, %eax
    syscall
3:  pop %rdx
    pop %rsi
    pop %rdi
duplicate_start_end:
    .size duplicate_start, . - duplicate_start
    .section .note.GNU-stack, "", @progbits
