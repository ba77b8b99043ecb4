/*
 * core.h - the core of the probe runtime: turns function entries into the call tree in the store.
 *
 * The rest of the runtime (images, plans, patching, interposition) makes trampolines that call probe_entry,
 * and registers images, functions and stacks here. For stack bases and heights see process/process.h; for how
 * entries alone give the tree; for the difficult cases, enter.c.
 *
 * All functions may be called by any thread at any time, even by signal handlers that interrupted probe_entry
 * or another of them (they block signals while they hold a lock). Before core_start() and after its failure,
 * they and probe_entry do nothing; numbers are then UINT32_MAX. They do not call libc.
 */
#ifndef FATHOM_PATHMAP_PROBE_CORE_H
#define FATHOM_PATHMAP_PROBE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/wire/plan.h"
#include "pathmap/wire/recording.h"
#include "pathmap/wire/store.h"

/* Creates the store DIR/store-PID-N of this process with the first free number N. Call once, from the
 * program's first thread and before the first entry. 0 or -errno. The directory's name is copied. */
int core_start(const char *directory);

/* Sets the trainer's word (`trainer` in struct mail), which must stay in place. Once it shows that the
 * trainer has ended, the store takes no new nodes and forked children make no stores. */
void core_watch(const uint32_t *trainer);
/* Call it before core_start(); the default is zeros. */
void core_record(const struct recording *recording);
/* `tell` is called with the errno if a forked child cannot create a store. */
void core_tell(void (*tell)(int error));
/* Whether the address space of the process is limited: the core then takes as little of it as possible. */
bool core_is_limited(void);
/* Call after a time in which entries were not seen: each stack is unwound at its next entry. No thread may be
 * between an entry and its return to the trampoline. */
void core_resync(void);
/* Records that a burst of this length has ended. */
void core_burst(uint64_t ns);
/* For bursts that depend on the contexts in which threads are when entries are seen again: whether entries were
 * counted in that context before. */
enum core_context { CORE_NONE, CORE_KNOWN, CORE_NEW };
/* Starts to examine these contexts; call it before core_resync(). Entries do not count until core_decide(). */
void core_listen(void);
/* Waits for the first context, at most this long; returns what is known so far. */
enum core_context core_first_context(uint64_t ns);
/* Sets how much an entry counts from now on. 0: there is no burst. */
void core_decide(uint32_t weight);
/* Records that a burst was omitted because of its context. */
void core_burst_omitted(void);
/* Stops recording, and makes no more system calls. */
void core_leave(void);

/* The number of an image, added if new; an unloaded image that is loaded again at the same place keeps its
 * number. UINT32_MAX: none left. */
uint32_t core_image(const char *path, const uint8_t *build_id, uint32_t build_id_size, uint64_t bias,
                    uint64_t low, uint64_t high);
/* Reserves the ids first .. first + count - 1 (ids start at 1) for an image's functions, to be described by
 * core_function() in ascending order of vaddr, before their hooks are installed. A reloaded image gets the
 * same ids if count is the same. UINT32_MAX: none left. */
uint32_t core_functions(uint32_t image, uint32_t count);
/* size: bytes of contiguous code from vaddr; identifies the calling function of call sites that are not in
 * core_calls(). */
void core_function(uint32_t id, uint32_t image, uint64_t vaddr, uint32_t size);
/* Registers the calls in the plan, which must stay in place; its hooks are the image's functions, in order.
 * They identify the right caller where frames grow. */
void core_calls(uint32_t image, const struct plan *plan);
void core_summary(uint32_t image, const struct store_summary *summary);
/* dlclose: its functions are no longer entered. */
void core_unload(uint32_t image);

/* Registers a stack [low, high) that is not a thread's own: a coroutine's, an alternate signal stack. Unknown
 * ones are detected, but two in one mapping, or one within a thread's own stack, cannot be told apart unless
 * registered. Forgets overlapping stacks. */
void core_stack(uint64_t low, uint64_t high);

/* Where the known stack that contains an address ends; 0: none. The answer may be outdated when it arrives. */
uint64_t core_stack_end(uint64_t address);

/* In a forked child, by its only thread: gives it its own store, with its current paths and counts of 0. Does
 * nothing if already done (by a hook in the child), or in a vfork child, which runs in its parent's memory.
 */
void core_fork_child(void);
/* Sets the root of the main thread: `_start` at height 8, entered once. Call before the first entry of that
 * thread. */
void core_main_root(uint32_t image, uint64_t start_vaddr);

/* For trampolines, at a function's entry. Stack: [return address into the trampoline][id, 8 bytes][return
 * address of the function] and the rest of its caller's frame. Preserves all registers, the flags and the
 * stack; uses no vector register. The id is one that core_functions() reserved. */
extern void probe_entry(void);
/* What trampolines should call: probe_entry or, if more than counting is requested, its slower path for all
 * entries. */
void (*core_entry(void))(void);
/* The same, with PROBE_RED_ZONE bytes between the id and the return address of the function. */
extern void probe_entry_below(void);
/* Does nothing; replaces either. */
extern void probe_nothing(void);

/* The same from C, for callers that know where the function's return address is (cyg.c). frame_pointer: BP at
 * the function's entry; 0: unknown. */
void core_enter(uint32_t id, const uint64_t *return_slot, uint64_t frame_pointer);

#endif
