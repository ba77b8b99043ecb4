/*
 * core.h - the heart of the probe runtime: from entries of functions to the call tree in the store.
 *
 * The other half of the runtime (images, plans, patching, interposition) makes trampolines that call
 * probe_entry, and tells here which images, functions and stacks there are. What a stack's base and a height
 * are: process/process.h. How entries alone make the tree: DESIGN section 1; the doubtful cases: enter.c.
 *
 * All functions may be called by any thread at any time, also by signal handlers that interrupted probe_entry
 * or another of them (they block signals while they hold a lock). Before core_start() and after its failure,
 * they and probe_entry do nothing; numbers are then UINT32_MAX. They call nothing of libc.
 */
#ifndef FATHOM_PATHMAP_PROBE_CORE_H
#define FATHOM_PATHMAP_PROBE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/wire/plan.h"
#include "pathmap/wire/store.h"

/* Makes the store DIR/store-PID-N of this process, N being the first number that is free; to be called once,
 * by the program's first thread and before the first entry. 0 or -errno. The directory's name is copied. */
int core_start(const char *directory);

/* The trainer's word (struct mail's `trainer`), which stays where it is. Once it tells that nobody waits for
 * the store any more, the store takes no new nodes and forked children make none of their own. */
void core_watch(const uint32_t *trainer);
/* `tell` is called when a forked child cannot make a store, with the errno. */
void core_tell(void (*tell)(int error));
/* Whether the address space of the process has a limit: the core takes as little of it as it can then. */
bool core_is_limited(void);
/* Nothing more is recorded, and no system call is made any more. */
void core_leave(void);

/* The number of an image, added when new; an image that was unloaded and is back at the same place has its
 * old number. UINT32_MAX: none left. */
uint32_t core_image(const char *path, const uint8_t *build_id, uint32_t build_id_size, uint64_t bias,
                    uint64_t low, uint64_t high);
/* Reserves the ids first .. first + count - 1 (ids start at 1) for an image's functions, to be described by
 * core_function() in ascending order of vaddr, before their hooks are put in. An image that is back gets the
 * same ids when count is the same. UINT32_MAX: none left. */
uint32_t core_functions(uint32_t image, uint32_t count);
void core_function(uint32_t id, uint32_t image, uint64_t vaddr);
/* The bytes of code that follow vaddr without a gap. Not needed, but with it a call site that core_calls()
 * did not tell of still tells which function called. */
void core_function_size(uint32_t id, uint32_t size);
/* The calls that the plan knows, which stays where it is; its hooks are the image's functions, in their
 * order. With them entries get their right caller where frames grow. */
void core_calls(uint32_t image, const struct plan *plan);
void core_summary(uint32_t image, const struct store_summary *summary);
/* dlclose: no entry of its functions comes any more. */
void core_unload(uint32_t image);

/* A stack beside the threads' own, [low, high): a coroutine's, an alternate signal stack. Unknown ones are
 * found by themselves, but two of them in one mapping, or one within a thread's own stack, cannot be told
 * apart unless told here. Forgets what was known of stacks that it overlaps. */
void core_stack(uint64_t low, uint64_t high);

/* In a forked child, by its only thread: gives it a store of its own, into which its current paths are put
 * with counts of 0. Does nothing when that was done already (a hook in the child found out by itself), and in
 * a vfork child, which runs in its parent's memory. */
void core_fork_child(void);
/* The root of the main thread: `_start` at height 8, entered once. Before the first entry of that thread. */
void core_main_root(uint32_t image, uint64_t start_vaddr);

/* For trampolines, at a function's entry. Stack: [return address into the trampoline][id, 8 bytes][return
 * address of the function] and the rest of its caller's frame. Leaves every register, the flags and the stack
 * as they were; uses no vector register. The id is one that core_functions() reserved. */
extern void probe_entry(void);
/* In its place, does nothing at all. */
extern void probe_nothing(void);

/* The same from C, for callers that know where the return address of the function is (cyg.c). frame_pointer:
 * BP at the function's entry; 0: not known. */
void core_enter(uint32_t id, const uint64_t *return_slot, uint64_t frame_pointer);

#endif
