/*
 * process.h - the traced processes as they are at a moment of the recording: address spaces, threads, stack
 * bases.
 *
 * Fed with records in order of time (MMAP2, COMM, FORK, EXIT); what it tells is true at the time of the last
 * one. A forked child starts with its parent's mappings and the stack of the thread that forked; an exec
 * drops both. Only executable mappings are kept. A file is opened when a PC falls into it for the first time.
 *
 * The base of a stack is, in every source of it (records `[stack:TID]`, unwinding, voting):
 *   - main thread: the SP with which the kernel started the program (startstack in /proc/PID/stat). `_start`
 *     as a caller then has height 8: it popped argc, aligned SP, pushed two words and made the call, and its
 *     CFI row says CFA = SP + 8 throughout.
 *   - thread: the SP with which clone3 (or clone) called its function: the address of the slot with the
 *     return address into it, + 8, which is start_thread's CFA. start_thread then has height 0.
 *   - coroutine, alternate signal stack: the CFA of the outermost function that runs on it, which then has
 *     height 0: the function given to makecontext, the signal's handler.
 * clone3 itself, ld.so's entry code, __start_context and a signal's restorer lie above the base: they are
 * part of no path. Coroutine stacks that lie within a thread's own one count as part of it.
 *
 * Not for use by several threads at a time: look-ups remember what they found.
 */
#ifndef FATHOM_PROCESS_PROCESS_H
#define FATHOM_PROCESS_PROCESS_H

#include "base/log.h"
#include "image/cache.h"
#include "image/cfi/cfi.h"
#include "perfdata/record.h"

struct processes;
struct process;

struct mapping {
    uint64_t start, end; /* addresses in the process */
    uint64_t offset;     /* of start, in the file */
    struct image *image; /* NULL: no file, or it could not be opened (said once through the log); owned by the
                            cache */
    const char *path;
};

/* A place in code: what a PC is, once the process's mappings are known. */
struct place {
    struct image *image;
    uint64_t address;  /* the PC as the image's virtual address */
    uint32_t function; /* index in the image, IMAGE_NO_FUNCTION when none */
};

enum stack_kind {
    STACK_UNKNOWN, /* SP lies on no stack whose base is known */
    STACK_OWN,     /* on the thread's own */
    STACK_SHARED,  /* on one that belongs to no thread: a coroutine's, an alternate signal stack */
};

/* images and log are borrowed. NULL: out of memory. */
struct processes *processes_new(struct image_cache *images, const struct log *log);
void processes_free(struct processes *processes);
/* Any record; those that say nothing of a process, or nothing that can be (a mapping past the end of the
 * address space), are ignored. Processes live until processes_free(); a PID that is used again keeps its
 * struct. */
int processes_apply(struct processes *processes, const struct record *record, struct fathom_error *err);
/* NULL: nothing is known of this PID. */
struct process *process_find(struct processes *processes, uint32_t pid);
uint32_t process_pid(const struct process *process);
const char *process_name(const struct process *process); /* COMM; "" when unknown */
/* A thread's own COMM, of an ended one too until another has its number; the process's when it has none. */
const char *process_thread_name(const struct process *process, uint32_t tid);
/* false: no executable mapping of a file that could be opened covers the PC. function may still be none. */
bool process_place(const struct process *process, uint64_t pc, struct place *out);
/* The same with the CFI row of the PC. What was asked for before is remembered, so that it costs next to
 * nothing. */
bool process_cfi(const struct process *process, uint64_t pc, struct place *place, struct cfi_row *row);
/* The executable mapping that covers the PC; NULL when there is none. Good until the next
 * processes_apply(). */
const struct mapping *process_mapping(const struct process *process, uint64_t pc);

/* Whether executable memory is mapped whose code nobody can read: a file that cannot be opened or is of
 * another build than the recorded one, or memory without a file (JIT code). What runs there may call, and be
 * called by, any image of the process. O(1) while the mappings stay. */
bool process_has_unread(const struct process *process);
/* Those mappings one after the other (*at is 0 at first); NULL at the end. Good until the next
 * processes_apply(). */
const struct mapping *process_next_unread(const struct process *process, size_t *at);
/* A number of what is mapped now: the same as before, or that of another process, only while the mappings are
 * the same. Never 0. */
uint64_t process_state(const struct process *process);
/* Opens all files that are mapped executable, as if a PC had fallen into each. */
void process_open_all(const struct process *process);
/* An executable mapping by its place among them, in order of address; NULL: there are no more. Its image may
 * not have been asked for (process_open_all()). *build_id: as recorded; NULL: it was not. Good until the next
 * processes_apply(). */
const struct mapping *process_mapping_at(const struct process *process, size_t index,
                                         const struct build_id **build_id);

/* Where a thread's own stack begins. A child of fork() runs on a copy of the stack of the thread that forked,
 * so its first thread need not have begun where programs do. */
enum stack_start {
    STACK_START_PROGRAM, /* `_start` */
    STACK_START_THREAD,  /* what clone was given */
};
enum stack_start process_stack_start(const struct process *process, uint32_t tid);
/* When a thread began, in ns: TIDs are used again. An exec begins all anew. 0: before the recording. */
uint64_t process_thread_birth(const struct process *process, uint32_t tid);

/* The base of the stack that sp of this thread points into. */
enum stack_kind process_stack_base(const struct process *process, uint32_t tid, uint64_t sp, uint64_t *base);
/* A key for what runs at a sample: the thread, or the shared stack that it is on, since a coroutine goes on
 * where it left off, whichever thread resumes it. process may be NULL. */
uint64_t process_strand(const struct process *process, const struct sample *sample);
/* Whether a stack of this thread's own is known. Then a sample outside of it is on a shared one. */
bool process_has_stack(const struct process *process, uint32_t tid);
/* Makes [low, base] the thread's own stack: from an unwound stack or by voting. One of the same base is
 * widened, others of its own that it overlaps are replaced. */
int process_set_stack(struct process *process, uint32_t tid, uint64_t low, uint64_t base,
                      struct fathom_error *err);
/* The same for a stack that belongs to no thread. What is a thread's own for process_stack_base() stays
 * so. */
int process_set_shared_stack(struct process *process, uint64_t low, uint64_t base, struct fathom_error *err);
/* A stack that belongs to no thread begins at base, which is at least PROCESS_STACK_REACH: as far down as
 * that, or to the next one, it is taken to reach. One that it lies within ends there. */
#define PROCESS_STACK_REACH 65536u
int process_begin_shared_stack(struct process *process, uint64_t base, struct fathom_error *err);

#endif
