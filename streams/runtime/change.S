/*
 * change.S - duplicated code calls this where a burst begins, ends, or the log is to be emptied (rewrite/duplicate/wire.h). Its caller
 * has left the red zone alone and keeps nothing in the flags but what it asks for: ZF, that the checking version goes on. All
 * registers are kept; vector registers are not touched.
 */
#include "rewrite/duplicate/wire.h"

        .text
        .globl  burst_enter
        .hidden burst_enter
        .type   burst_enter, @function
burst_enter:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushq   %rax
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        pushq   %r11
        andq    $-16, %rsp
        cld
        movq    %gs:WIRE_SELF, %rdi
        movq    %rbp, %rsi
        call    burst_change
        cmpb    $1, %al /* nothing below changes flags */
        leaq    -72(%rbp), %rsp
        popq    %r11
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        popq    %rax
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   burst_enter, . - burst_enter
        .section .note.GNU-stack, "", @progbits
