/*
 * arguments.h - assembly that preserves a function's integer arguments across a call (internal to the probe
 * runtime).
 *
 * For wrappers of C library functions: rdi to r9 (x86-64 psABI, section 3.2.3) are saved, and SP, which is 8
 * modulo 16 at a function's entry, is aligned for the call. The unwind information is included.
 */
#ifndef FATHOM_PATHMAP_PROBE_ARGUMENTS_H
#define FATHOM_PATHMAP_PROBE_ARGUMENTS_H

#define ARGUMENTS_PUSH(reg) "    push %" #reg "\n    .cfi_adjust_cfa_offset 8\n"
#define ARGUMENTS_POP(reg)  "    pop %" #reg "\n    .cfi_adjust_cfa_offset -8\n"

#define ARGUMENTS_SAVE                                                                                       \
    ARGUMENTS_PUSH(rdi)                                                                                      \
    ARGUMENTS_PUSH(rsi)                                                                                      \
    ARGUMENTS_PUSH(rdx)                                                                                      \
    ARGUMENTS_PUSH(rcx)                                                                                      \
    ARGUMENTS_PUSH(r8)                                                                                       \
    ARGUMENTS_PUSH(r9) "    sub $8, %rsp\n    .cfi_adjust_cfa_offset 8\n"

#define ARGUMENTS_RESTORE                                                                                    \
    "    add $8, %rsp\n    .cfi_adjust_cfa_offset -8\n" ARGUMENTS_POP(r9) ARGUMENTS_POP(r8)                  \
        ARGUMENTS_POP(rcx) ARGUMENTS_POP(rdx) ARGUMENTS_POP(rsi) ARGUMENTS_POP(rdi)

#endif
