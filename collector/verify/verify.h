/*
 * verify.h - loads the BPF program that compares samples' stacks with known ones in the kernel (rule.h), and
 * tells it which stacks are known. Needs CAP_BPF and CAP_PERFMON (Linux 5.10 or later).
 *
 * verify_know(), verify_stacks_are(), verify_place(), verify_number_file(), verify_rows(), verify_script(), verify_script_file() and verify_forget() may be called by another
 * thread than the rest.
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
    VERIFY_BY_DEFAULT, /* unless the user asks for another way of knowing stacks */
    VERIFY_ASKED,
};

struct verify_options {
    enum verify_wish wish;
    enum verify_where where;
    unsigned compared;    /* return addresses: STACK_RECORD_ALL, or so many of the innermost; 0: none */
    uint64_t burst, rate; /* stacks to read at first, and then per second */
    uint64_t wake_ns;     /* in so long a new stack wakes the recorder once */
    enum verify_follow follow;
    bool
        joins; /* a new stack is copied as far as a known one is around it: of that, the words alone (STACK_PART_WORDS) */
    bool one_user; /* samples of other users' processes are left out, even in the kernel */
    uid_t user;
    uint64_t cgroup; /* likewise, other groups': cgroup_number() */
    uint32_t level;
    uint32_t
        allocation_bytes; /* the mean between two samples of probes with an enum verify_allocator; 0: there are none */
    bool waits;           /* the times in which threads have no CPU are told: struct wait_record */
    const struct verify_interrupts *wakers; /* and who ends them: struct waker_record; borrowed. NULL: not */
};

/* struct stack_record, of stacks that are compared so. */
uint8_t verify_page_bits(unsigned compared);

/* -EPERM, -EACCES: not allowed; -ENOTSUP: this kernel cannot. */
int verify_new(const struct verify_options *options, struct verify **out, struct fathom_error *err);
void verify_free(struct verify *verify);
/* Whether stacks can be known wherever their files are mapped. */
bool verify_finds_files(const struct verify *verify);
/* The program's descriptor, for the events that are followed. */
int verify_program(const struct verify *verify);
/* Descriptors of the stacks' event, two for each CPU, one of which wakes the recorder at each record. Before they are
 * enabled. */
int verify_output(struct verify *verify, int cpu, bool wakes, int fd, struct fathom_error *err);
/* Bytes of stacks that may be written to a CPU's ring from now on, until this is called again. At first none. */
void verify_room(struct verify *verify, int cpu, int64_t bytes);
/* When the kernel's program saw this thread start, CLOCK_MONOTONIC, ns; 0: it did not. Tells users of one number apart. */
uint64_t verify_birth(const struct verify *verify, pid_t tid);
/* Follows a process or thread (according to verify_follow) from now on; or no longer. Failures leave samples without
 * records. */
void verify_follow(struct verify *verify, pid_t id, bool follow);
/* The base of a thread's stack. false: there is no room for it. */
bool verify_base(struct verify *verify, pid_t tid, uint64_t base);
/* Of `waits`: the thread, which has no CPU since before, waits from now on, in a wait that is told, with number 0. false: the program knows of it. */
bool verify_waits(struct verify *verify, pid_t tid, enum wait_reason reason);
/* Of `waits`: calls see() for each thread that has no CPU now, with its wait as if it ended (WAIT_ENDS, WAIT_UNREAD), until that is not 0, which is returned. */
typedef int verify_see_wait(void *context, const struct wait_record *wait, struct fathom_error *err);
int verify_waiting(const struct verify *verify, verify_see_wait *see, void *context,
                   struct fathom_error *err);
/* A thread has ended. */
void verify_end(struct verify *verify, pid_t tid);
void verify_counts(const struct verify *verify, struct verify_counts *out);

/* Makes a stack known in the kernel; its number is that of a stack record. Where there is no more room, the
 * oldest ones are forgotten. Returns 1; 0: it cannot be compared (too many words), the kernel has no memory for it,
 * or it is a caller's and was known before. A caller's is not taken where stacks are not compared whole, as nothing
 * would check it (rule_again()). */
int verify_know(struct verify *verify, const struct known_stack *stack, struct fathom_error *err);
/* Where the threads of the space have their stacks; bias: added to the addresses of its code. Whether their second ones are read from
 * now on. */
bool verify_stacks_are(struct verify *verify, uint32_t space, const struct go_stacks *go, uint64_t bias);
/* The stacks of this space are those of the process from now on, and of its children, until they are placed; 0: none. A
 * failure makes its stacks new. */
void verify_place(struct verify *verify, uint32_t pid, uint32_t space);
/* The number of a file's code, for known stacks (struct stack_place). A failure makes stacks in its code new. */
void verify_number_file(struct verify *verify, const struct stack_file *file, uint32_t number);
/* Where code of a numbered file has its return address. false: there is no room, and what was told before is forgotten. */
bool verify_rows(struct verify *verify, const struct code_rows_key *key, const struct code_rows *rows);
/* The process has this interpreter, whose state is at this address in it, and its children by fork; script NULL: it has none. What that runs is announced
 * from now on (script_record.h), where the kernel's BTF is there. */
void verify_script(struct verify *verify, uint32_t pid, const struct script_runtime *script, uint64_t state);
/* Likewise, each process with the numbered file; state: bytes from where the file's offset 0 would lie. */
void verify_script_file(struct verify *verify, uint32_t number, const struct script_runtime *script,
                        uint64_t state);
/* Forgets all stacks of a space. */
void verify_forget(struct verify *verify, uint32_t space);
/* Stacks are no longer announced by this number, one from STACK_NUMBER_KEPT on; 0: by none of these. Any thread may call it. */
void verify_retract(struct verify *verify, uint32_t number);

#endif
