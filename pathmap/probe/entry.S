/*
 * entry.S - runs at the entry of every hooked function: handles the common case without a call.
 *
 * Called by trampolines as described in core.h. The common case: the stack is the one that the thread was
 * last on, the caller's frame is the innermost one on the shadow stack whose return address is in place,
 * and the caller's node has a child for (function, height, site): the first one, the one in probe_edges, or
 * one of the first ENTRY_SIBLINGS. core_enter() handles everything else. enter.c explains why a child found
 * like this is the right one.
 *
 * A signal handler may interrupt this anywhere and pass through here itself: it changes only what is above
 * the interrupted entry on the shadow stack, and lists, by single stores. Registers and flags are saved and
 * restored; flags by lahf and seto, as popf takes about 20 cycles. Vector registers are not touched.
 */
#include "pathmap/probe/layout.h"

#define SAVED  56               /* bytes pushed below */
#define ID     (SAVED + 8)      /* above the return address into the trampoline */
#define RETURN (SAVED + 16)     /* the hooked function's return address */
#define CFA    (SAVED + 24)

        .macro  SAVE
        endbr64
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        lahf
        seto    %al
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %r8
        .cfi_adjust_cfa_offset 8
        .endm

#ifndef MONITORED
#define ENTRY probe_entry
#else
#define ENTRY probe_entry_monitored     /* of entry_monitored.S */
#endif

        .text
        .globl  ENTRY
        .hidden ENTRY
        .type   ENTRY, @function
        .p2align 6
ENTRY:
        .cfi_startproc
        SAVE
        .cfi_remember_state

        movq    probe_thread@gottpoff(%rip), %rdi
        movq    %fs:(%rdi), %rdi
        testq   %rdi, %rdi
        jz      .Lslow
        movq    THREAD_CURRENT(%rdi), %rdi      /* the stack */
        movq    STACK_BASE(%rdi), %rax
        movq    STACK_LIMIT(%rdi), %rdx
        leaq    CFA(%rsp), %rcx
        subq    %rcx, %rax                      /* rax: height */
        leaq    -8(%rax), %rcx
        cmpq    (%rdx), %rcx
        jae     .Lslow
        testb   $7, %al                         /* frames 8 bytes apart cannot overrun the shadow stack */
        jnz     .Lslow

        /* A loop, because it is predicted: without branches the next entry's frame would have to wait for this. */
        movq    STACK_TOP(%rdi), %rsi           /* rsi: the caller's frame */
        cmpl    %eax, FRAME_HEIGHT(%rsi)
        jae     .Lpop
.Lcaller:
        movl    FRAME_NODE(%rsi), %edx
        movl    %eax, %ecx
        subl    FRAME_HEIGHT(%rsi), %ecx
        shlq    $NODE_SHIFT, %rdx
        addq    probe_nodes(%rip), %rdx         /* rdx: its node */
        movl    RETURN(%rsp,%rcx), %ecx         /* what is now where its return address was */
        cmpl    NODE_SITE(%rdx), %ecx
        jne     .Lreturned

        movl    RETURN(%rsp), %r8d
        shlq    $32, %r8
        orq     %rax, %r8                       /* r8: height and site, as laid out in a node */
        movl    NODE_FIRST_CHILD(%rdx), %edx
        movl    %edx, %ecx
        shlq    $NODE_SHIFT, %rcx
        addq    probe_nodes(%rip), %rcx
        cmpq    %r8, NODE_HEIGHT(%rcx)
        jne     .Lsearch
        movl    ID(%rsp), %r8d
        cmpl    NODE_FUNCTION(%rcx), %r8d
        jne     .Lsearch_key
.Lfound:                                        /* edx: the child, rcx: its address */
#ifdef MONITORED
        movq    NODE_COUNT(%rcx), %r8
        shlq    $NODE_FLAGS, %r8
        jz      .Lslow                          /* it has no weight */
#endif
        movq    probe_weight(%rip), %r8
        addq    %r8, NODE_COUNT(%rcx)
        shlq    $32, %rdx
        orq     %rax, %rdx
        movq    %rdx, FRAME_SIZE(%rsi)
        addq    $FRAME_SIZE, %rsi
        movq    %rsi, STACK_TOP(%rdi)
        movq    %rdx, (%rsi)                    /* again: a handler before the last one put its own there */
#ifdef MONITORED
        movq    STACK_THREAD(%rdi), %rdi
        addq    %r8, THREAD_TOTAL(%rdi)
#endif
.Ldone:
        popq    %r8
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %rax
        .cfi_adjust_cfa_offset -8
        addb    $127, %al                       /* sets the overflow flag when it was set */
        sahf
        popq    %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_restore_state

.Lpop:
        subq    $FRAME_SIZE, %rsi
        cmpl    %eax, FRAME_HEIGHT(%rsi)
        jae     .Lpop
        jmp     .Lcaller

        /* The frame has returned, unless its node does not have its return address. */
.Lreturned:
        cmpl    $0, NODE_SITE(%rdx)
        je      .Lslow
        subq    $FRAME_SIZE, %rsi
        jmp     .Lcaller

        /* The first child does not match. Try the second, the one in probe_edges, or one of the next few. */
        .macro  SIBLING
        movl    NODE_NEXT_SIBLING(%rcx), %edx
        movl    %edx, %ecx
        shlq    $NODE_SHIFT, %rcx
        jz      .Lslow                          /* no more children */
        addq    probe_nodes(%rip), %rcx
        cmpq    %r8, NODE_HEIGHT(%rcx)
        je      5f
4:
        .subsection 1
5:      movl    ID(%rsp), %edx
        cmpl    NODE_FUNCTION(%rcx), %edx
        jne     4b
        movq    %rcx, %rdx
        subq    probe_nodes(%rip), %rdx
        shrq    $NODE_SHIFT, %rdx
        jmp     .Lfound
        .previous
        .endm

.Lsearch_key:
        movl    RETURN(%rsp), %r8d
        shlq    $32, %r8
        orq     %rax, %r8
.Lsearch:
        SIBLING
        movl    FRAME_NODE(%rsi), %edx
        imulq   $EDGE_PARENT, %rdx, %rdx
        movl    ID(%rsp), %ecx
        addq    %rcx, %rdx
        xorq    %r8, %rdx
        movabsq $EDGE_SPREAD, %rcx
        imulq   %rcx, %rdx
        movq    %rdx, %rcx
        shrq    $(64 - EDGE_BITS), %rcx
        leaq    probe_edges(%rip), %r8
        movq    (%r8,%rcx,8), %rcx
        cmpl    %ecx, %edx                      /* the tag */
        jne     .Lwalk
        shrq    $32, %rcx
        movl    %ecx, %edx
        shlq    $NODE_SHIFT, %rcx
        addq    probe_nodes(%rip), %rcx
        movl    RETURN(%rsp), %r8d
        shlq    $32, %r8
        orq     %rax, %r8
        cmpq    %r8, NODE_HEIGHT(%rcx)
        jne     .Lwalk
        movl    ID(%rsp), %r8d
        cmpl    NODE_FUNCTION(%rcx), %r8d
        jne     .Lwalk
        movl    FRAME_NODE(%rsi), %r8d
        cmpl    NODE_PARENT(%rcx), %r8d
        je      .Lfound
.Lwalk:
        movl    FRAME_NODE(%rsi), %ecx
        shlq    $NODE_SHIFT, %rcx
        addq    probe_nodes(%rip), %rcx
        movl    NODE_FIRST_CHILD(%rcx), %ecx    /* again: a handler may have put others before it */
        shlq    $NODE_SHIFT, %rcx
        addq    probe_nodes(%rip), %rcx
        movl    RETURN(%rsp), %r8d
        shlq    $32, %r8
        orq     %rax, %r8
        .rept   ENTRY_SIBLINGS - 1
        SIBLING
        .endr

        /* beyond: bytes between the id and the hooked function's return address */
        .macro  SLOW beyond
        pushq   %r9
        .cfi_adjust_cfa_offset 8
        pushq   %r10
        .cfi_adjust_cfa_offset 8
        pushq   %r11
        .cfi_adjust_cfa_offset 8
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        movq    %rbp, %rdx
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movl    (ID + 32)(%rsp), %edi
        leaq    (RETURN + 32 + \beyond)(%rsp), %rsi
        andq    $-16, %rsp
        call    core_enter
        movq    %rbp, %rsp
        .cfi_def_cfa_register %rsp
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbp
        popq    %r11
        .cfi_adjust_cfa_offset -8
        popq    %r10
        .cfi_adjust_cfa_offset -8
        popq    %r9
        .cfi_adjust_cfa_offset -8
        jmp     .Ldone
        .endm
.Lslow:
        SLOW    0
        .cfi_endproc
        .size   ENTRY, . - ENTRY

#ifndef MONITORED

        /* Leaves every entry to core_enter(). */
        .globl  probe_entry_slow
        .hidden probe_entry_slow
        .type   probe_entry_slow, @function
        .p2align 4
probe_entry_slow:
        .cfi_startproc
        SAVE
        jmp     .Lslow                          /* where the frame is described in the same way */
        .cfi_endproc
        .size   probe_entry_slow, . - probe_entry_slow

        /* The same, below the red zone of a function that jumps back to its hook. */
        .globl  probe_entry_below
        .hidden probe_entry_below
        .type   probe_entry_below, @function
        .p2align 4
probe_entry_below:
        .cfi_startproc
        SAVE
        SLOW    PROBE_RED_ZONE
        .cfi_endproc
        .size   probe_entry_below, . - probe_entry_below

        .globl  probe_nothing
        .hidden probe_nothing
        .type   probe_nothing, @function
        .p2align 4
probe_nothing:
        .cfi_startproc
        endbr64
        ret
        .cfi_endproc
        .size   probe_nothing, . - probe_nothing
#endif
        .section .note.GNU-stack, "", @progbits
