/*
 * rule.h - the rule by which the BPF program (verify.bpf.c) decides whether a sample's stack is known, and the layout
 * of the maps that it decides with.
 *
 * A stack is looked up by the page of code of its PC, as an offset in a file, and its depth; a known stack is the code
 * that it stands for, and a list of words that must be in place: all return addresses, and saved frame pointers where a CFA depends on them; and at most
 * one register that a CFA depends on. Words that repeat, as a recursion's do, are noted once. A return
 * address may be any of the same function with the same CFI row. So a stack that fits is as certain as an unwound
 * one: its functions are what unwinding would find.
 *
 * With a stack, those of its callers become known: where each one is when its call returns. Their samples have the
 * same stack record's number; the CFA tells which frame of it is theirs. So if a stack is not known, its caller's may be: where its
 * return address is, CFI tells of the code around all that was met (perfdata/code_rows.h). Where none fits as a whole, the stack of a further
 * caller may be known: then what is written of the new stack are its bytes up to there, and the words of that.
 *
 * A return address is compared as a file's number and an offset in it (RULE_IN_FILE): all processes of the same files share what is known.
 * Where files lie in a process (struct rule_process) is asked of the kernel's list of mappings, which can be done once in an
 * interrupt: for the PC, or else for a return address. Further ones are guessed: the file lies where this word would be right. What is
 * found is kept until the process executes another program, or has more or less code mapped. Neither need be true: a guess can be wrong by
 * chance, and a file can be replaced by one that is as large. So with a stack that was read elsewhere the record says where its files
 * were taken to lie (STACK_PART_PLACED), and readers, who know of all mappings, take it for the sample's only if they do.
 *
 * Stacks with code in no file, or without a base, are known to processes that have the same code at the same addresses (infer/live/spaces.h), and
 * so are all where the kernel's mappings cannot be asked (Linux 5.17, BTF): then addresses are compared as they are.
 *
 * Depths and heights count down from the base of the thread's stack, so that threads share what is known. A stack whose base is
 * not known, such as a goroutine's, which moves, has no depth: words count from SP, and it is looked up by its innermost return
 * addresses, RULE_STEPS at most. Where these are is known of the places in a page of code (RULE_ROWS), and of each list of them
 * how far the next one is (RULE_STEP). Only where all return addresses are compared; else the base counts as 0.
 *
 * A thread may be on its runtime's system stack, which goes on on another one (stack_record.h, STACK_PART_SWITCH). A key of which such
 * stacks are known says so (`switched`); they are under a key of their own, by as many return addresses of the other stack, which are
 * found in the same way from the first key on. Their words have heights as if the other stack lay behind the system stack.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_RULE_H
#define FATHOM_COLLECTOR_VERIFY_RULE_H

#include "collector/verify/verify_wire.h"
#include "image/script_layout.h"
#include "perfdata/code_rows.h"
#include "perfdata/script_record.h"
#include "perfdata/stack_record.h"

#define RULE_STACK_MAX  STACK_RECORD_MAX /* bytes of a stack that are read */
#define RULE_BUFFER     65536u
#define RULE_STACKS     16u  /* known stacks per key */
#define RULE_WORDS      24u  /* per block */
#define RULE_BLOCKS_MAX 16u  /* per stack */
#define RULE_TIMES_MAX  128u /* that one block may be there */

/* In place of a depth: what the key leads to. The first three are of stacks without a base; RULE_STEP and RULE_CHAIN have a hash of the
 * page and return addresses in place of the page. */
#define RULE_ROWS  (1ull << 62)    /* `number` of each place: bytes from SP to the return address */
#define RULE_STEP  (RULE_ROWS + 1) /* `extent`: bytes from the last return address to the next */
#define RULE_CHAIN (RULE_ROWS + 2) /* stacks */
#define RULE_RUNS                                                                                            \
    (RULE_ROWS + 3) /* `number` of each place: a block of what repeats in stacks, counted from SP */
#define RULE_STEPS 3u

/* By space: where a thread's runtime keeps its stacks (image/go_stacks.h). */
struct rule_switch {
    __s32 thread;
    __u32 machine, system, current, saved;
    __u32 call_size, grow_size, zero;
    __u64 call, grow;
};
#define RULE_SWITCH_HIGH 8u     /* in what `current` leads to: where its stack begins */
#define RULE_SWITCH_AT   32768u /* bytes of the system stack: more are not taken for one */

/* Of a list of return addresses, with one more. */
static inline __u64 rule_hash(__u64 hash, __u64 word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

struct rule_key {
    __u64 page;  /* PC >> page_bits; of a file, its offset in it */
    __u64 depth; /* base - SP */
    __u32 space; /* infer/live/spaces.h; 0: known wherever the files are mapped */
    __u32 file;  /* number of the PC's; 0: of a space */
};

/* Code of a file in a process. Found by the kernel's list of mappings at the first sample there. */
struct rule_place {
    __u64 start, size; /* of the mapping */
    __u64 at;          /* where the file's offset 0 would lie */
    __u32 file;        /* its number */
    __u32 guessed;     /* what is mapped there had no number: it may be another file that fits as well */
};
#define RULE_PLACES 32u

/* By process: where files lie. It is begun anew when the process has another program, or other code mapped. Never changed, but
 * replaced: several CPUs read it. */
struct rule_process {
    __u64 born; /* of its first thread: start_time */
    __u64 exec; /* self_exec_id */
    __u64 code; /* exec_vm */
    __u32 version;
    __u32 added; /* places, since it was begun; the oldest are replaced */
    struct rule_place places[RULE_PLACES];
};

/* A block of words that must be in place, so many times, each time `period` bytes further out, as those of a recursion are. Index 0 is
 * never used. */
struct rule_words {
    __u32 count;
    __u32 next; /* index of the block with further words; 0: none */
    __u16 reg;  /* 1 + place of a register in a stack record; 0: none. Of a stack's first block alone */
    __u16 period;
    __u32 times; /* 1 in a stack's first block */
    __u64 value; /* base - that register */
    __u32 height
        [RULE_WORDS]; /* the low 32 bits of base - address, a multiple of 8; RULE_RELATIVE may be added */
    __u32 size[RULE_WORDS]; /* how many values, from `low` on, it may have */
    __u64 low[RULE_WORDS];
};
#define RULE_BP       7u /* `reg` of BP */
#define RULE_RELATIVE 1u /* `low` is base - word */
#define RULE_IN_FILE                                                                                         \
    2u /* `low` is RULE_FILE_BITS of an offset in a file, and above these the file's number */
#define RULE_FILE_BITS 40u
#define RULE_FILES     ((1u << (64 - RULE_FILE_BITS)) - 1) /* numbers are at most that */

#define RULE_MIXED                                                                                           \
    2u /* in place of a version, which are odd: they are of two processes, or of none (KNOWN_STACK_ANY) */

struct rule_known {
    __u32 count;
    __u32
        extent; /* bytes from SP on that hold all words of its stacks, but for those that are further out than RULE_STACK_MAX */
    __u32 below; /* whether one has a word below SP, in the red zone */
    __u32
        outer; /* whether one has a word among the STACK_RECORD_OUTER bytes before the base, beyond what can be read from SP on */
    __u32 switched; /* stacks that go on on another one are under a further key */
    struct {
        __u32 number;      /* its first stack record's */
        __u32 alias;       /* its latest stack record's */
        __u32 words;       /* index of its first block; 0: nothing is compared */
        __u16 first, last; /* offsets in the page that the PC may have */
        __u32
            inner; /* number of a record that has more frames inside of these, the innermost of which is of the function at these offsets; 0: none */
        __u32 version; /* of the process that its records are of (struct rule_process); 0: a space's */
    } stacks[RULE_STACKS];
};

struct rule_thread {
    __u64 base;  /* of its stack; 0: not known */
    __u64 birth; /* CLOCK_MONOTONIC, ns: when it started; 0: before the recording, or not known */
};

/* What was announced last. */
struct rule_told_key {
    __u64 page;
    __u64 sp;
    __u32 tid;
    __u32 zero;
};
struct rule_told {
    __u32 number;  /* as in its record */
    __u32 version; /* of the process (struct rule_process); 0: its record told no places */
    __u32 count;   /* further samples since the first record, if stacks are not compared whole */
    __u32 zero;
    __u64 birth; /* of the thread that it was announced for: another one may have its number now */
};

/* By process: where its interpreter is. */
struct rule_script {
    __u64 state; /* its address: image/script.h */
    struct script_layout layout;
    __u32 careful; /* in so many samples more, all code is compared with what was there (script.h) */
};

/* A thread, and its chain as it was announced last (script_record.h). */
struct rule_script_thread {
    __u64 state;     /* address of the interpreter's state of it; 0: not known */
    __u64 number;    /* of the chain; 0: none */
    __u64 places;    /* a hash of where its functions' code is, and of the instructions that call */
    __u64 birth;     /* of the thread */
    __u32 at;        /* the innermost function's instruction */
    __u32 told;      /* enum script_record_kind, of the last record; 0: there was none, or it was lost */
    __u32 unchecked; /* samples since all code was compared with what was there */
    __u32 missed;    /* samples in which it had no state */
};

/* Where a thread waits: one of the last locks, or of the last instructions with the depth of the stack, by a hash. */
#define RULE_WAIT_SITES 8u
struct rule_wait_site {
    __u32 tag, usual; /* usual: as in struct rule_wait, of the waits here */
    __u64 began;      /* likewise */
};

/* A thread that has no CPU, or how long it had none before. */
struct rule_wait {
    __u64 since, woken;         /* CLOCK_MONOTONIC, ns; since 0: it runs; woken 0: it was not woken */
    __u64 began;                /* the last one, as above; 0: there was none */
    __u64 usual;                /* from the beginning of one to that of the next, ns */
    __u64 shorts[WAIT_REASONS]; /* all that were not long, by reason - 1, ns */
    __u64 ip, sp, bp;           /* the user's */
    __u64 lock;                 /* wait_lock() */
    __u32 pid;
    __u32 number;      /* struct wait_record */
    __u8 reason, told; /* told: this wait */
    __u16 zero;
    __u32 free;
    struct rule_wait_site locks[RULE_WAIT_SITES], depths[RULE_WAIT_SITES];
};

/* What is told of it, but for its kind and times. */
static inline struct wait_record rule_wait_record(const struct rule_wait *w, __u32 tid)
{
    return (struct wait_record){.magic = WAIT_RECORD_MAGIC,
                                .reason = w->reason,
                                .pid = w->pid,
                                .tid = tid,
                                .number = w->number,
                                .ip = w->ip,
                                .sp = w->sp,
                                .bp = w->bp,
                                .lock = w->lock};
}

/* Code that was told, and by what it is told from other code that is at its address later. */
struct rule_code_key {
    __u64 code;
    __u32 pid, zero;
};
struct rule_code {
    __u64 texts[4]; /* addresses: python.h, php.h, ruby.h, v8.h */
    __u64 line;
    __u64 name; /* a hash of the qualified one: other code's texts may be at the same addresses, too */
};

/* What a process took of the budget of new stacks, within a second or so. */
struct rule_share {
    __u64 second;
    __u64 taken; /* stacks */
};

/* Whether a process may take one more, of so many that are left: not more than half of them. So one that makes new stacks without end
 * has, in the long run, what comes in (`rate`), and leaves twice as much for those that take less. */
static inline int rule_may_take(const struct rule_share *share, __u64 second, __u64 left)
{
    return share->second != second || share->taken < left / 2;
}

/* Whether a known stack that is not compared whole is read again at its n-th sample. */
static inline int rule_again(__u32 n)
{
    return n == 2 || n == 8 || n == 64;
}

#endif
