/*
 * change.S - duplicated code calls this where a burst begins or ends, or the log must be emptied
 * (rewrite/duplicate/wire.h). The caller has skipped the red zone and needs no flags preserved; it expects ZF to
 * be set if the checking version should continue. All registers are preserved; vector registers are not touched.
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
