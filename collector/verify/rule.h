/*
 * rule.h - the rule by which the BPF program (verify.bpf.c) decides whether a sample's stack is known, and the layout
 * of the maps that it decides with.
 *
 * A stack is looked up by its process (or those with the same code), the page of code of its PC, and its depth; a known stack is the code
 * that it stands for, and a list of words that must be in place: all return addresses, and saved frame pointers where a CFA depends on them; and at most
 * one register that a CFA depends on. Words that repeat, as a recursion's do, are noted once. A return
 * address may be any of the same function with the same CFI row. So a stack that fits is as certain as an unwound
 * one: its functions are what unwinding would find.
 *
 * With a stack, those of its callers become known: where each one is when its call returns. Their samples have the
 * same stack record's number; the CFA tells which frame of it is theirs.
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
    __u64 page;  /* PC >> page_bits */
    __u64 depth; /* base - SP */
    __u32 space; /* infer/live/spaces.h */
    __u32 zero;
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

struct rule_known {
    __u32 count;
    __u32 extent;    /* bytes from SP on that hold all words of its stacks */
    __u32 registers; /* whether a stack has a register other than BP */
    __u32 below;     /* whether one has a word below SP, in the red zone */
    __u32
        outer; /* whether one has a word among the STACK_RECORD_OUTER bytes before the base, beyond what can be read from SP on */
    __u32 switched; /* stacks that go on on another one are under a further key */
    struct {
        __u32 number;      /* its first stack record's */
        __u32 alias;       /* its latest stack record's */
        __u32 words;       /* index of its first block; 0: nothing is compared */
        __u16 first, last; /* offsets in the page that the PC may have */
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
    __u32 number; /* as in its record */
    __u32 count;  /* further samples since the first record, if stacks are not compared whole */
    __u64 birth;  /* of the thread that it was announced for: another one may have its number now */
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
