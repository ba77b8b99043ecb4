/*
 * process.h - the recorded processes at one moment of the recording: address spaces, threads, stack bases.
 *
 * Fed with records in time order (MMAP2, COMM, FORK, EXIT, CGROUP); its answers hold at the time of the last one. A
 * forked child starts with its parent's mappings and the stack of the thread that forked; an exec drops both.
 * A file is opened when a PC first hits it. Mappings of data are only for data.h: below, a mapping is an
 * executable one.
 *
 * The base of a stack is, whatever its source (records `[stack:TID]`, unwinding, voting):
 *   - main thread: the SP with which the kernel started the program (startstack in /proc/PID/stat). `_start`
 *     as a caller then has height 8: it popped argc, aligned SP, pushed two words and made the call, and its
 *     CFI row says CFA = SP + 8 throughout.
 *   - thread: the SP with which clone3 (or clone) called its function: the address of the slot with the
 *     return address into it, + 8, which is start_thread's CFA. start_thread then has height 0.
 *   - coroutine: the CFA of the outermost function that runs on it, the one given to makecontext, which then
 *     has height 0.
 *   - alternate signal stack: 16 bytes above the CFA of the handler, which then has height 16 (unwind_signal_base()).
 * clone3 itself, ld.so's entry code, __start_context and a signal's restorer lie above the base: they are not
 * part of any path. Coroutine stacks within a thread's own stack count as part of it.
 *
 * Not thread-safe: look-ups cache their results.
 */
#ifndef FATHOM_PROCESS_PROCESS_H
#define FATHOM_PROCESS_PROCESS_H

#include "base/log.h"
#include "image/cache.h"
#include "image/cfi/cfi.h"
#include "image/kernel/layout.h"
#include "perfdata/record.h"

struct processes;
struct process;

struct mapping {
    uint64_t start, end; /* addresses in the process */
    uint64_t offset;     /* of start, in the file */
    struct image *image; /* NULL: no file, or it could not be opened (logged once); owned by the cache */
    const char *path;
};

/* The build-id in a mapping's record; size 0: none, or an invalid one. */
struct build_id process_build_id(const struct record_mmap *mmap);

/* A place in code: a PC resolved by the process's mappings. */
struct place {
    struct image *image;
    uint64_t address;  /* the PC as the image's virtual address */
    uint32_t function; /* index in the image; IMAGE_NO_FUNCTION: none */
};

enum stack_kind {
    STACK_UNKNOWN, /* SP is on no stack whose base is known */
    STACK_OWN,     /* on the thread's own */
    STACK_SHARED,  /* on a stack that belongs to no thread: a coroutine's, an alternate signal stack */
};

/* images and log are borrowed. NULL: out of memory. */
struct processes *processes_new(struct image_cache *images, const struct log *log);
void processes_free(struct processes *processes);
/* Takes any record; those that are not about a process, or are invalid (a mapping past the end of the address space), are
 * ignored. A process lives until processes_free(), or if it ended, and all of its threads are known, until RETIRED_KEPT
 * (base/retired.h) others have ended after it, unless it is held then. A reused PID reuses the struct. */
int processes_apply(struct processes *processes, const struct record *record, struct fathom_error *err);
/* The images have new names for code made at run time (image_cache_code_names()): such code is looked up again. */
void processes_renamed(struct processes *processes);
void process_hold(struct process *process);
void process_let_go(struct process *process); /* once per hold, but not after processes_free() */
/* NULL: unknown PID. */
struct process *process_find(struct processes *processes, uint32_t pid);
/* The process of a sample, with its code made at run time as it was then. Samples come in time order. */
struct process *process_at(struct processes *processes, const struct sample *sample);
/* The layout of the recorded kernel's code, as far as records have it; valid as long as the processes. */
const struct kernel_layout *process_kernel(const struct process *process);
uint32_t process_pid(const struct process *process);
const char *process_name(const struct process *process); /* COMM; "": unknown */
/* The names of code that it makes at run time (image/made/code_names.h); NULL: it names none. */
const struct code_set *process_code_set(const struct process *process);
/* Whether the names of its code may change: some of it is known to be replaced at the same addresses, or images are `live`
 * (image.h). */
bool process_code_changes(const struct process *process);
/* The program's file: the first one mapped executable since the process's last exec; NULL: unknown. */
const char *process_file(const struct process *process);
/* The path of the sample's cgroup; NULL: not recorded, or unknown. */
const char *process_cgroup(const struct process *process, const struct sample *sample);
/* The program that it runs now, as a number that also identifies all programs that started it (programs.h): an exec starts a
 * program, a fork continues its parent's. 0: unknown; UINT32_MAX: out of memory. */
uint32_t process_program(const struct process *process);
/* Its name; *parent: the program that started it, 0: unknown. */
const char *process_program_name(const struct process *process, uint32_t program, uint32_t *parent);
/* A thread's own COMM, even after its end until its TID is reused; the process's if it has none. */
const char *process_thread_name(const struct process *process, uint32_t tid);
/* false: no executable mapping of a file that could be opened covers the PC. function may still be none. */
bool process_place(const struct process *process, uint64_t pc, struct place *out);
/* The same with the CFI row of the PC. Results are cached, so that repeated look-ups are cheap. */
bool process_cfi(const struct process *process, uint64_t pc, struct place *place, struct cfi_row *row);
/* The same, but the row is valid for the registers after the instruction at the PC (sample.regs_after). */
bool process_cfi_after(const struct process *process, uint64_t pc, struct place *place, struct cfi_row *row);
/* The executable mapping that covers the PC; NULL: none. Valid until the next processes_apply(). */
const struct mapping *process_mapping(const struct process *process, uint64_t pc);

/* Whether executable memory is mapped whose code cannot be read: a file that cannot be opened or is not the
 * recorded build, or memory without a file (JIT code). Such code may call, and be called by, any image of the
 * process. O(1) while the mappings do not change. */
bool process_has_unread(const struct process *process);
/* Iterates over those mappings (*at starts at 0); NULL at the end. Valid until the next processes_apply(). */
const struct mapping *process_next_unread(const struct process *process, size_t *at);
/* Identifies the current mappings: equal to an earlier value, or to that of another process, only if the
 * mappings are the same. Never 0. */
uint64_t process_state(const struct process *process);
/* Opens all files that are mapped executable, as if a PC had hit each. */
void process_open_all(const struct process *process);
/* An executable mapping by its index, in address order; NULL: past the end. Its image may not have been
 * opened yet (process_open_all()). *build_id: as recorded; NULL: not recorded. Valid until the next
 * processes_apply(). */
const struct mapping *process_mapping_at(const struct process *process, size_t index,
                                         const struct build_id **build_id);
/* The same for the mapping that covers an address; NULL: none. */
const struct mapping *process_mapping_unopened(const struct process *process, uint64_t address,
                                               const struct build_id **build_id);
/* The same for the mapping of the process's program; NULL: it has none with a build-id. */
const struct mapping *process_program_mapping(const struct process *process,
                                              const struct build_id **build_id);

/* Where a thread's own stack begins. A child of fork() runs on a copy of the stack of the thread that forked,
 * so its first thread need not have started where programs do. */
enum stack_start {
    STACK_START_PROGRAM, /* `_start` */
    STACK_START_THREAD,  /* the function given to clone */
};
enum stack_start process_stack_start(const struct process *process, uint32_t tid);
/* When a thread started, in ns, since TIDs are reused. An exec counts as a new start. 0: before the
 * recording. */
uint64_t process_thread_birth(const struct process *process, uint32_t tid);

/* The base of the stack that sp of this thread points into. */
enum stack_kind process_stack_base(const struct process *process, uint32_t tid, uint64_t sp, uint64_t *base);
/* A key for the flow of execution at a sample: the thread, or the shared stack that it is on, since a
 * coroutine continues where it left off, whichever thread resumes it. process may be NULL. */
uint64_t process_thread_key(const struct process *process, const struct sample *sample);
/* Whether the thread's own stack is known. Then a sample outside of it is on a shared one. */
bool process_has_stack(const struct process *process, uint32_t tid);
/* Makes [low, base] the thread's own stack: found by unwinding or voting. One with the same base is widened;
 * others of its own that it overlaps are replaced. */
int process_set_stack(struct process *process, uint32_t tid, uint64_t low, uint64_t base,
                      struct fathom_error *err);
/* The same for a stack that belongs to no thread. It does not affect threads' own stacks in
 * process_stack_base(). */
int process_set_shared_stack(struct process *process, uint64_t low, uint64_t base, struct fathom_error *err);
/* Adds a stack that belongs to no thread and begins at base (>= PROCESS_STACK_REACH); it is assumed to reach
 * down that far, or to the next stack. A stack that contains base ends there. */
#define PROCESS_STACK_REACH 65536u
int process_begin_shared_stack(struct process *process, uint64_t base, struct fathom_error *err);

#endif
