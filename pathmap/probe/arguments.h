/*
 * arguments.h - assembly that preserves a function's integer arguments across a call (internal to the probe
 * runtime).
 *
 * For wrappers of C library functions: rdi to r9 (x86-64 psABI, section 3.2.3) are saved, and SP, which is 8
 * modulo 16 at a function's entry, is aligned for the call. The unwind information is included.
 */
#ifndef FATHOM_PATHMAP_PROBE_ARGUMENTS_H
#define FATHOM_PATHMAP_PROBE_ARGUMENTS_H

#define ARGUMENTS_SAVE                                                                                       \
    "    push %rdi\n"                                                                                        \
    "    .cfi_adjust_cfa_offset 8\n"                                                                         \
    "    push %rsi\n"                                                                                        \
    "    .cfi_adjust_cfa_offset 8\n"                                                                         \
    "    push %rdx\n"                                                                                        \
    "    .cfi_adjust_cfa_offset 8\n"                                                                         \
    "    push %rcx\n"                                                                                        \
    "    .cfi_adjust_cfa_offset 8\n"                                                                         \
    "    push %r8\n"                                                                                         \
    "    .cfi_adjust_cfa_offset 8\n"                                                                         \
    "    push %r9\n"                                                                                         \
    "    .cfi_adjust_cfa_offset 8\n"                                                                         \
    "    sub $8, %rsp\n"                                                                                     \
    "    .cfi_adjust_cfa_offset 8\n"

#define ARGUMENTS_RESTORE                                                                                    \
    "    add $8, %rsp\n"                                                                                     \
    "    .cfi_adjust_cfa_offset -8\n"                                                                        \
    "    pop %r9\n"                                                                                          \
    "    .cfi_adjust_cfa_offset -8\n"                                                                        \
    "    pop %r8\n"                                                                                          \
    "    .cfi_adjust_cfa_offset -8\n"                                                                        \
    "    pop %rcx\n"                                                                                         \
    "    .cfi_adjust_cfa_offset -8\n"                                                                        \
    "    pop %rdx\n"                                                                                         \
    "    .cfi_adjust_cfa_offset -8\n"                                                                        \
    "    pop %rsi\n"                                                                                         \
    "    .cfi_adjust_cfa_offset -8\n"                                                                        \
    "    pop %rdi\n"                                                                                         \
    "    .cfi_adjust_cfa_offset -8\n"

#endif
