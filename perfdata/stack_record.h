/*
 * stack_record.h - what a BPF program that follows an event says of a sample's stack: the raw data of
 * the event "stacks" (a software bpf-output event). Also compiled for the BPF target.
 *
 * A stack record stands right before its sample in the ring of its CPU; the collector gives it the sample's
 * time, so that the two stay neighbours when records are sorted. Right before that of a stack that is larger than a record may stand
 * others, with the same number, of kind MORE. A sample of a followed thread without a record
 * has the stack that was announced last for its thread, page of code and SP: all of the known return addresses
 * that were compared are in place.
 */
#ifndef FATHOM_PERFDATA_STACK_RECORD_H
#define FATHOM_PERFDATA_STACK_RECORD_H

#include <linux/types.h>

#define STACK_RECORD_MAGIC   0x4b545346u /* "FSTK" */
#define STACK_RECORD_VERSION 2
#define STACK_RECORD_BARE    1 /* an earlier version: what follows the head are the stack's bytes, from SP on */

enum stack_record_kind {
    STACK_RECORD_NEW = 1, /* no known stack fits: its bytes follow. It gets the number */
    STACK_RECORD_SAME,    /* the stack with this number fits, and not the one announced before */
    STACK_RECORD_AGAIN, /* the one announced before fits, as far as it was compared: read to check that. As NEW */
    STACK_RECORD_NONE, /* no known stack fits, and it was not read: over budget */
    STACK_RECORD_RETURNED, /* of a precise sample: its function may have returned before the stack could be read */
    STACK_RECORD_GONE, /* nothing is there to be read: the process is in the kernel, at its end or within execve */
    STACK_RECORD_MORE, /* bytes of the new stack whose record, with the same number, comes next: see STACK_RECORD_MORES */
};

#define STACK_RECORD_MAX                                                                                     \
    61440u /* bytes of a stack: one of this size was cut, as a record is at most 64 KiB */
#define STACK_WORDS_MAX      262144 /* bytes of one of which the outer part is words, or in records of kind MORE */
#define STACK_RECORD_NO_BASE 16384       /* bytes of a stack that are read if its base is not known */
#define STACK_RECORD_LATE    0xffffffffu /* the number of RETURNED */
#define STACK_RECORD_NOWHERE 0xfffffffeu /* that of GONE */
#define STACK_NUMBER_KEPT                                                                                    \
    0xf0000000u /* numbers from this one on are those of stacks that earlier recordings left (infer/live/stack_keeper.h) */
#define STACK_RECORD_ALL 255 /* compared: all return addresses */

struct stack_record {
    __u32 magic;
    __u8 version, kind;
    __u8 page_bits; /* a page of code is 2^page_bits bytes */
    __u8 compared;  /* how many return addresses are compared, the innermost first; 0: none */
    __u32 number;   /* NONE: 0; RETURNED, GONE: STACK_RECORD_LATE, _NOWHERE; else none of these */
    __u32 size;     /* bytes that follow: parts; 0: none */
    __u64 ip, sp;   /* the user's, as in the sample's registers */
};

/* What follows the head, one behind the other: each begins with this. A reader passes over types that it does not know. */
struct stack_part {
    __u16 type; /* enum stack_part_type */
    __u16 zero;
    __u32 size; /* bytes that follow it; but for the last part, a multiple of 8 */
};

enum stack_part_type {
    STACK_PART_REGISTERS =
        1, /* u64 mask, as of perf_event_attr.sample_regs_user; u64 for each of its bits, ascending */
    STACK_PART_BYTES, /* s64 offset from sp; bytes of the stack from there on: STACK_RECORD_HOLE where a page is not there */
    STACK_PART_RUN, /* struct stack_run: what of the stack lies between the bytes before this part and those behind it */
    STACK_PART_SWITCH, /* struct stack_switch: bytes before this part are those of two stacks */
    STACK_PART_FRAMES, /* struct stack_frames, and frames: what a walk of the stack found while recording. The copy is mostly left out */
    STACK_PART_CODE,  /* struct stack_code: of a new stack, where the code at the PC lies, for the recorder */
    STACK_PART_WORDS, /* struct stack_words, and struct stack_word_at of each: what is known of the stack behind the bytes before this part */
    STACK_PART_PLACED, /* struct stack_placed, and u64 of each file: of a known stack that was read elsewhere, where this one lies */
};

#define STACK_RECORD_HOLE 0xfd /* in each byte: an address outside all code and all stacks */

/* Words that are there again and again, each time further out by `period` bytes, as a recursion's return addresses are. Of other
 * words between the parts nothing is known. */
struct stack_run {
    __u32 period, times; /* bytes; the first time, at the end of the bytes before this part, is counted */
    __u32 count, zero;   /* of words in a period */
    __u32 at[24];        /* the first time, from sp, a multiple of 8; STACK_RUN_RELATIVE may be added */
};
#define STACK_RUN_RELATIVE 1u /* the word is an address, and grows by a period each time */

/* Behind its bytes the stack is a known one's: the words that unwinding this depends on, as they are in this stack. */
struct stack_words {
    __u32 whole; /* bytes from sp on, to the end of the outermost word: at most STACK_WORDS_MAX */
    __u32 count; /* of the words */
};
struct stack_word_at {
    __u32 at; /* bytes from sp on */
    __u32 zero;
    __u64 value;
};

/* The thread was on its runtime's system stack (image/go_stacks.h). Of that are the bytes from sp on up to `at`; then comes the saved PC
 * of the stack that it goes on to, and then, from its saved SP on, that stack. */
struct stack_switch {
    __u32 at; /* bytes from sp on, a multiple of 8; 0: there is one stack alone */
    __u32 zero;
};

/* A stack by its frames, as far as they are not those of another one's (walks.h). Further frames follow, the outermost first: of each
 * the PC - that of the frame around it, zigzag; the CFA of that one - its own; both ULEB128, modulo 2^64; the outermost as if PC and CFA were 0
 * around it. Then of those with marks, in that order: how many frames were passed since the last one, ULEB128; the marks, a byte. */
struct stack_frames {
    __u32 outer; /* number of a stack of an earlier record, whose outermost frames these are; 0: none */
    __u16 shared, count; /* frames of that; further ones: together at most STACK_FRAMES_MAX */
    __u16 marked;        /* of the further ones */
    __u8 end;            /* enum stack_frames_end */
    __u8 flags;
    __u32 switch_at; /* as in struct stack_switch */
    __u64 back; /* the word below the outermost CFA: the return address, or where the walk could not go on */
};
enum stack_frames_end {
    STACK_END_ROOT = 0,        /* at the outermost frame */
    STACK_END_CUT = 1,         /* at the end of the copy */
    STACK_END_NO_MAPPING = 2,  /* at a PC outside all known code */
    STACK_END_NO_CFI = 3,      /* at code without CFI */
    STACK_END_UNSUPPORTED = 4, /* at a CFI rule that is not supported */
    STACK_END_BAD = 5,         /* at a CFA that did not grow */
    STACK_END_LONG = 6,        /* after STACK_FRAMES_MAX frames */
    STACK_END_SWITCHED = 7,    /* where it goes on on another stack, which was not copied */
    STACK_END_SIGNAL =
        8, /* at the first handler on an alternate signal stack; once ROOT, with a restorer as `back` */
};
#define STACK_FRAMES_MAX  4096
#define STACK_FRAMES_BACK 1 /* flag: `back` was read */
#define STACK_FRAMES_KEPT                                                                                    \
    4 /* flag: they are those of a stack of an earlier recording, whose words are in place here */
#define STACK_FRAMES_LATE 2 /* flag: a later stack was written before this one: nothing refers to it */

/* A file whose code is mapped from an offset on, as the kernel tells it from all others, and what its name may lead to later. Of what the
 * kernel itself maps (the vDSO), `changed` is the size in bytes, and the others are 0. */
struct stack_file {
    __u64 inode, changed; /* i_ino; i_ctime, ns */
    __u64 page;           /* vm_pgoff */
    __u32 device, generation;
};

/* Whether it is told: other processes may have the same. Of mappings without a file, only the vDSO is recorded with code. */
static inline int stack_file_is_told(const struct stack_file *file)
{
    return file->inode || file->changed;
}

/* Of a stack that was read: what is needed to know it in other processes. */
struct stack_code {
    struct stack_file file; /* of the PC's code; inode and changed 0: none, or not known */
    __u64 at;               /* where offset 0 of it would lie */
    __u64 base;             /* of the stack; 0: not known */
    __u32 version;          /* of what is known of the process's mappings */
    __u32 zero;
};

/* A known stack fits that was read in another process, or before files were mapped elsewhere: `base` is that of the thread's stack,
 * and its code lies in files whose offsets 0 would lie at the addresses that follow. The program may have guessed these from the return
 * addresses, or not know yet that something else is mapped there: the stack is the sample's if its files lie so. */
struct stack_placed {
    __u64 base;
    __u64
        depth; /* base - SP; of a stack of which only the callers were read before, as it is after the return to them */
    __u64 count; /* of the addresses that follow: at most STACK_PLACED_MAX */
};
#define STACK_PLACED_MAX 16u

#define STACK_RECORD_OUTER                                                                                   \
    4096u /* bytes before the base, if it is known, of a stack that is larger than a record: its second part of bytes */
/* Where all of it fits into so many records of kind MORE, they stand before its record: each has one part of bytes. They are, one behind the
 * other without a gap, those between the first and the second part of the record that follows. Three: 240 KB in all, within STACK_WORDS_MAX. */
#define STACK_RECORD_MORES 3u
#define STACK_RECORD_BELOW                                                                                   \
    128u /* bytes below sp that a function may use (psABI, section 3.2.2): the red zone */

/* AX, BX, CX, DX, SI, DI, BP, SP, IP, R8 to R15: arch/x86/include/uapi/asm/perf_regs.h. */
#define STACK_RECORD_REGISTERS      0xff01ffu
#define STACK_RECORD_REGISTER_COUNT 17u

/* A record with a stack, as the program writes it: its bytes follow. */
struct stack_record_read {
    struct stack_record head;
    struct stack_part registers_part;
    __u64 mask, registers[STACK_RECORD_REGISTER_COUNT];
    struct stack_part code_part;
    struct stack_code code;
    struct stack_part bytes_part;
    __s64 offset; /* 0, or -STACK_RECORD_BELOW */
};

#endif
