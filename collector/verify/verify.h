/*
 * verify.h - loads the BPF program that compares samples' stacks with known ones in the kernel (rule.h), and
 * adds known stacks. Needs CAP_BPF and CAP_PERFMON (Linux 5.10 or later).
 *
 * verify_know(), verify_stacks_are(), verify_place(), verify_number_file(), verify_rows(), verify_script(),
 * verify_script_file() and verify_forget() may be called by another thread than the rest.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_VERIFY_H
#define FATHOM_COLLECTOR_VERIFY_VERIFY_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/verify/where.h"
#include "image/go_stacks.h"
#include "image/script.h"
#include "perfdata/code_rows.h"
#include "perfdata/known_stack.h"
#include "perfdata/stack_record.h"
#include "collector/verify/verify_wire.h"

struct verify;

enum verify_wish {
    VERIFY_NEVER,
    VERIFY_BY_DEFAULT, /* unless the user asks for another way to get stacks */
    VERIFY_ASKED,
};

struct verify_options {
    enum verify_wish wish;
    enum verify_where where;
    unsigned compared;    /* return addresses: STACK_RECORD_ALL, or the number of innermost ones; 0: none */
    uint64_t burst, rate; /* stacks to read initially, and per second */
    uint64_t wake_ns;     /* a new stack wakes the recorder at most once in this time */
    enum verify_follow follow;
    /* A new stack is copied only up to a known one around it, of which the words alone are written
     * (STACK_PART_WORDS). */
    bool joins;
    bool one_user; /* samples of other users' processes are dropped, even in the kernel */
    uid_t user;
    uint64_t cgroup; /* only samples of this group are kept: cgroup_number(); 0: of all */
    uint32_t level;
    /* Mean bytes between two samples of probes with an enum verify_allocator; 0: there are none. */
    uint32_t allocation_bytes;
    bool waits; /* report waits: struct wait_record */
    /* report who ends waits: struct waker_record; borrowed. NULL: do not */
    const struct verify_interrupts *wakers;
};

/* page_bits of struct stack_record, for stacks compared like this. */
uint8_t verify_page_bits(unsigned compared);

/* -EPERM, -EACCES: not allowed; -ENOTSUP: this kernel cannot. */
int verify_new(const struct verify_options *options, struct verify **out, struct fathom_error *err);
void verify_free(struct verify *verify);
/* Whether known stacks are valid wherever their files are mapped. */
bool verify_finds_files(const struct verify *verify);
/* The program's file descriptor, for the followed events. */
int verify_program(const struct verify *verify);
/* Sets a file descriptor of the event of stacks: two for each CPU, one of which wakes the recorder at each
 * record. To be called before the events are enabled. */
int verify_output(struct verify *verify, int cpu, bool wakes, int fd, struct fathom_error *err);
/* Sets how many bytes of stacks may be written to a CPU's ring until the next call. Initially none. */
void verify_room(struct verify *verify, int cpu, int64_t bytes);
/* When the BPF program saw this thread start, CLOCK_MONOTONIC, ns; 0: it did not. Distinguishes threads that
 * reuse a TID. */
uint64_t verify_birth(const struct verify *verify, pid_t tid);
/* Starts or stops following a process or thread (depending on enum verify_follow). On failure its samples
 * have no records. */
void verify_follow(struct verify *verify, pid_t id, bool follow);
/* Sets the base of a thread's stack. false: the map is full. */
bool verify_base(struct verify *verify, pid_t tid, uint64_t base);
/* With `waits`: notes that a thread has been off CPU since before the recording, in a reported wait with
 * number 0. false: the program already knows of the wait. */
bool verify_waits(struct verify *verify, pid_t tid, enum wait_reason reason);
/* With `waits`: calls see() for each thread that is off CPU now, with its wait as if it ended (WAIT_ENDS,
 * WAIT_UNREAD), until it returns nonzero, which is returned. */
typedef int verify_see_wait(void *context, const struct wait_record *wait, struct fathom_error *err);
int verify_waiting(const struct verify *verify, verify_see_wait *see, void *context,
                   struct fathom_error *err);
/* Removes an ended thread. */
void verify_end(struct verify *verify, pid_t tid);
void verify_counts(const struct verify *verify, struct verify_counts *out);

/* For what learns stacks, to which the struct verify is a context (infer/live/stack_learner.h): */

/* Adds a known stack; its number is that of a stack record. If there is no space, the oldest ones are
 * removed. Returns 1; 0: it cannot be compared (too many words), the kernel has no memory for it, or it is a
 * caller's and was known before. A caller's stack is rejected if stacks are not compared as a whole, as
 * nothing would check it (rule_again()). */
int verify_know(void *verify, const struct known_stack *stack, struct fathom_error *err);
/* Sets where the threads of a space have their stacks; bias: added to the addresses of its code. Returns
 * whether their second stacks are read from now on. */
bool verify_stacks_are(void *verify, uint32_t space, const struct go_stacks *go, uint64_t bias);
/* Uses the stacks of this space for the process and its future children, until they are placed; 0: none. On
 * failure its stacks count as new. */
void verify_place(void *verify, uint32_t pid, uint32_t space);
/* Sets the number of a file's code, for known stacks (struct stack_place). On failure stacks in its code
 * count as new. */
void verify_number_file(void *verify, const struct stack_file *file, uint32_t number);
/* Sets where code of a numbered file has its return address. false: there is no space, and earlier rows are
 * removed. */
bool verify_rows(void *verify, const struct code_rows_key *key, const struct code_rows *rows);
/* Sets the interpreter of a process, with the address of its state, also for children by fork; script NULL:
 * none. What it runs is announced from now on (script_record.h), if the kernel has BTF. */
void verify_script(void *verify, uint32_t pid, const struct script_runtime *script, uint64_t state);
/* The same for each process with the numbered file; state: bytes from the address of the file's offset 0. */
void verify_script_file(void *verify, uint32_t number, const struct script_runtime *script, uint64_t state);
/* Forgets all stacks of a space. */
void verify_forget(void *verify, uint32_t space);
/* No longer announces stacks by this number, one from STACK_NUMBER_KEPT on; 0: by any of these numbers. Any
 * thread may call it. */
void verify_retract(void *verify, uint32_t number);

#endif
