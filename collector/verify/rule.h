/*
 * rule.h - the rule by which the BPF program (verify.bpf.c) decides whether a sample's stack is known, and
 * the layout of the maps that it uses.
 *
 * A stack is looked up by its depth and the page of its PC, as an offset in a file. A known stack is the code
 * it is valid for, a list of words that must match, and at most one register on which a CFA depends. The
 * words are all return addresses, and the saved frame pointers on which a CFA depends. Words that repeat, as
 * in a recursion, are stored once. A return address may be any of the same function with the same CFI row. So
 * a match is as certain as an unwound stack: unwinding would find the same functions.
 *
 * Each stack also makes those of its callers known, as they are when the call returns. Their samples carry
 * the same stack record's number; the CFA tells which of its frames is theirs. So if a stack is not known,
 * its caller's may be: CFI of all code seen so far says where the return address is (perfdata/code_rows.h).
 * If no stack matches as a whole, that of a caller further out may be known: then only the bytes of the new
 * stack up to there, and the words of the known one, are written.
 *
 * A return address is compared as a file's number and an offset in it (RULE_IN_FILE), so all processes with
 * the same files share known stacks. Where files are mapped in a process (struct rule_process) comes from the
 * kernel's list of mappings, which can be searched once per interrupt: for the PC, or else for a return
 * address. The mappings of other files are guessed: at the address at which the word would match. Results are
 * kept until the process executes another program or the size of its mapped code changes. Both can be wrong:
 * a guess by chance, and a result if a file is replaced by one of the same size. So for a stack that was read
 * elsewhere the record contains where its files were assumed to be mapped (STACK_PART_PLACED), and readers,
 * who know all mappings, use the stack for the sample only if that is true.
 *
 * Stacks with code outside of files, or without a base, are known for processes with the same code at the
 * same addresses (infer/live/spaces.h). So are all stacks where the program cannot search the kernel's
 * mappings (it needs Linux 5.17 and BTF): then addresses are compared directly.
 *
 * Depths and heights count down from the base of the thread's stack, so that threads share known stacks. A
 * stack without a known base, such as that of a goroutine, which moves, has no depth: heights count from SP,
 * and the key is made of its innermost return addresses, at most RULE_STEPS. Where the first one is depends
 * on the place in a page of code (RULE_ROWS); the distance to each further one depends on the list of
 * addresses so far (RULE_STEP). This is done only if all return addresses are compared; else the base counts
 * as 0.
 *
 * A thread may be on its runtime's system stack, which continues on another stack (stack_record.h,
 * STACK_PART_SWITCH). A key with such stacks is marked (`switched`); they have a key of their own, made of up
 * to RULE_STEPS return addresses of the other stack, found in the same way starting at the first key. Their
 * words have heights as if the other stack directly followed the system stack.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_RULE_H
#define FATHOM_COLLECTOR_VERIFY_RULE_H

#include "collector/verify/verify_wire.h"
#include "image/script_layout.h"
#include "perfdata/code_rows.h"
#include "perfdata/script_record.h"
#include "perfdata/stack_record.h"

#define RULE_STACK_MAX  STACK_RECORD_MAX /* maximum bytes read of a stack */
#define RULE_BUFFER     65536u
#define RULE_STACKS     16u  /* known stacks per key */
#define RULE_WORDS      24u  /* per block */
#define RULE_BLOCKS_MAX 16u  /* per stack */
#define RULE_TIMES_MAX  128u /* maximum repetitions of a block */

/* Instead of a depth: what the key is for. The first three are for stacks without a base; RULE_STEP and
 * RULE_CHAIN have a hash of the page and return addresses instead of the page. */
#define RULE_ROWS  (1ull << 62)    /* `number` of each place: bytes from SP to the return address */
#define RULE_STEP  (RULE_ROWS + 1) /* `extent`: bytes from the last return address to the next */
#define RULE_CHAIN (RULE_ROWS + 2) /* stacks */
#define RULE_RUNS  (RULE_ROWS + 3) /* `number` of each place: a block of repeated words, counted from SP */
#define RULE_STEPS 3u

/* By space: where the runtime of a thread keeps its stacks (image/go_stacks.h). */
struct rule_switch {
    __s32 thread;
    __u32 machine, system, current, saved;
    __u32 call_size, grow_size, zero;
    __u64 call, grow;
};
#define RULE_SWITCH_HIGH 8u /* offset in the struct that `current` points to: the beginning of its stack */
#define RULE_SWITCH_AT   32768u /* maximum bytes of the system stack */

/* The hash of a list of return addresses with one more. */
static inline __u64 rule_hash(__u64 hash, __u64 word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

struct rule_key {
    __u64 page;  /* PC >> page_bits, or that of its offset in the file */
    __u64 depth; /* base - SP */
    __u32 space; /* infer/live/spaces.h; 0: known wherever the files are mapped */
    __u32 file;  /* number of the PC's file; 0: the key is for a space */
};

/* Where a file's code is mapped in a process. Found in the kernel's list of mappings at the first sample
 * there. */
struct rule_place {
    __u64 start, size; /* of the mapping */
    __u64 at;          /* address of the file's offset 0 */
    __u32 file;        /* its number */
    __u32 guessed;     /* what is mapped there had no number: it may be another file that also fits */
};
#define RULE_PLACES 32u

/* By process: where files are mapped. Reset when the process executes another program or maps other code.
 * Entries are replaced, never changed in place: several CPUs read them. */
struct rule_process {
    __u64 born; /* start_time of its first thread */
    __u64 exec; /* self_exec_id */
    __u64 code; /* exec_vm */
    __u32 version;
    __u32 added; /* places added since the reset; the oldest are replaced */
    struct rule_place places[RULE_PLACES];
};

/* A block of words that must match `times` times, each `period` bytes further out, as in a recursion. Index 0
 * is never used. */
struct rule_words {
    __u32 count;
    __u32 next; /* index of the next block; 0: none */
    __u16 reg;  /* 1 + index of a register in a stack record; 0: none. Only in a stack's first block */
    __u16 period;
    __u32 times; /* 1 in a stack's first block */
    __u64 value; /* base - value of that register */
    /* Low 32 bits of base - address, a multiple of 8, plus RULE_RELATIVE or RULE_IN_FILE. */
    __u32 height[RULE_WORDS];
    __u32 size[RULE_WORDS]; /* number of allowed values, starting at `low` */
    __u64 low[RULE_WORDS];
};
#define RULE_BP        7u /* `reg` of BP */
#define RULE_RELATIVE  1u /* `low` is base - word */
#define RULE_IN_FILE   2u /* `low` is an offset in a file (RULE_FILE_BITS) with the file's number above it */
#define RULE_FILE_BITS 40u
#define RULE_FILES     ((1u << (64 - RULE_FILE_BITS)) - 1) /* maximum number of a file */

#define RULE_MIXED                                                                                           \
    2u /* instead of a version (these are odd): of two processes, or of none (KNOWN_STACK_ANY) */

struct rule_known {
    __u32 count;
    /* Bytes from SP that contain all words of its stacks, except those further out than RULE_STACK_MAX. */
    __u32 extent;
    __u32 below; /* whether a stack has a word below SP, in the red zone */
    /* Whether a stack has a word among the STACK_RECORD_OUTER bytes before the base that is too far from SP
     * to be read with the rest. */
    __u32 outer;
    __u32 switched; /* stacks that continue on another stack have a further key */
    struct {
        __u32 number;      /* of its first stack record */
        __u32 alias;       /* of its latest stack record */
        __u32 words;       /* index of its first block; 0: nothing is compared */
        __u16 first, last; /* range of the PC's offset in the page */
        /* Number of a record with more frames inside of these, the innermost of them of the function at these
         * offsets; 0: none. */
        __u32 inner;
        __u32 version; /* of the process of its records (struct rule_process); 0: those of a space */
    } stacks[RULE_STACKS];
};

struct rule_thread {
    __u64 base;  /* of its stack; 0: unknown */
    __u64 birth; /* CLOCK_MONOTONIC, ns: its start; 0: before the recording, or unknown */
};

/* The last announcement, by thread, page and SP. */
struct rule_told_key {
    __u64 page;
    __u64 sp;
    __u32 tid;
    __u32 zero;
};
struct rule_told {
    __u32 number;  /* number in its record */
    __u32 version; /* of the process (struct rule_process); 0: its record had no places */
    __u32 count;   /* samples after the first record, if stacks are not compared as a whole */
    __u32 zero;
    __u64 birth; /* birth of its thread: another thread may have the same TID now */
};

/* By process: its interpreter. */
struct rule_script {
    __u64 state; /* address of the interpreter's state: image/script.h */
    struct script_layout layout;
    __u32 careful; /* compare all code in so many more samples (script.h) */
};

/* A thread, and its last announced chain (script_record.h). */
struct rule_script_thread {
    __u64 state;     /* address of the interpreter's state of it; 0: not known */
    __u64 number;    /* of the chain; 0: none */
    __u64 places;    /* hash of the addresses of its functions' code and of the calling instructions */
    __u64 birth;     /* of the thread */
    __u32 at;        /* current instruction of the innermost function */
    __u32 told;      /* enum script_record_kind of the last record; 0: none, or it was lost */
    __u32 unchecked; /* samples since all code was last compared with what was there */
    __u32 missed;    /* samples in which the thread had no interpreter state */
};

/* A place where a thread waits: one of its last locks, or of its last instructions with the depth of the
 * stack, as a hash. */
#define RULE_WAIT_SITES 8u
struct rule_wait_site {
    __u32 tag, usual; /* usual: as in struct rule_wait, for the waits here */
    __u64 began;      /* likewise */
};

/* A thread's current wait (off CPU), and its earlier waits. */
struct rule_wait {
    __u64 since, woken;         /* CLOCK_MONOTONIC, ns; since 0: it runs; woken 0: it was not woken yet */
    __u64 began;                /* beginning of the last wait, same clock; 0: none */
    __u64 usual;                /* usual time between the beginnings of two waits, ns */
    __u64 shorts[WAIT_REASONS]; /* total of all waits that were not long, by reason - 1, ns */
    __u64 ip, sp, bp;           /* the user's */
    __u64 lock;                 /* wait_lock() */
    __u32 pid;
    __u32 number;      /* struct wait_record */
    __u8 reason, told; /* told: this wait */
    __u16 zero;
    __u32 free;
    struct rule_wait_site locks[RULE_WAIT_SITES], depths[RULE_WAIT_SITES];
};

/* A wait's record, without its kind and times. */
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

/* Code that was announced, and what distinguishes it from other code at the same address later. */
struct rule_code_key {
    __u64 code;
    __u32 pid, zero;
};
struct rule_code {
    __u64 texts[4]; /* addresses, see python.h, php.h, ruby.h, v8.h */
    __u64 line;
    __u64 name; /* hash of the qualified name: texts of other code may later be at the same addresses */
};

/* A process's share of the budget for new stacks, in about one second. */
struct rule_share {
    __u64 second;
    __u64 taken; /* stacks */
};

/* Whether a process may take one more of the stacks that are left: at most half of them. So a process that
 * makes new stacks without end gets, in the long run, what is added (`rate`), and leaves twice as much for
 * processes that take less. */
static inline int rule_may_take(const struct rule_share *share, __u64 second, __u64 left)
{
    return share->second != second || share->taken < left / 2;
}

/* Whether a known stack that is not compared as a whole is read again at its n-th sample. */
static inline int rule_again(__u32 n)
{
    return n == 2 || n == 8 || n == 64;
}

#endif
