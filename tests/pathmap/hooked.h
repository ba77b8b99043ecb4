/*
 * hooked.h - functions with a hook at their entry, for tests that drive the core of the probe runtime as trampolines do.
 *
 * A hooked function has a section of its own, so that its size is known. NAME_hooked is its entry, patched: the
 * trampoline, then the function.
 */
#ifndef FATHOM_TESTS_PATHMAP_HOOKED_H
#define FATHOM_TESTS_PATHMAP_HOOKED_H

#define TRAMPOLINE(id, name)                                                                                 \
    __asm__(".text\n.p2align 4\n" #name "_hooked:\n jmp 1f\n"                                                \
            "1: push $" #id "\n call *hook_slot(%rip)\n lea 8(%rsp), %rsp\n jmp " #name "\n");
/* Once in a file; `entry` is what trampolines call. */
#define HOOK_SLOT(entry) __asm__(".data\n.p2align 3\n.globl hook_slot\nhook_slot: .quad " #entry "\n.text\n");

#define HOOKED(name)     __attribute__((noinline, used, section("h_" #name)))
#define BOUNDS(id, name) extern const char __start_h_##name[], __stop_h_##name[];
#define BOUND(id, name)  [id] = {(uint64_t)__start_h_##name, (uint64_t)__stop_h_##name},
#define NAME(id, name)   [id] = #name,

#define AFTER() __asm__ volatile("" : : : "memory") /* no tail call */

#endif
