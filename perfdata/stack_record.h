/*
 * stack_record.h - what a BPF program that follows an event says about a sample's stack: the raw data of the event "stacks" (a
 * software bpf-output event). Also compiled for the BPF target.
 *
 * A stack record directly precedes its sample in the ring of its CPU; the collector gives it the sample's time, so that the two
 * stay adjacent when records are sorted. The record of a stack that is larger than a record may be directly preceded by others
 * of kind MORE with the same number. A sample of a followed thread without a record has the stack that was announced last for
 * its thread, page of code and SP: all of the known return addresses that were compared are in place.
 */
#ifndef FATHOM_PERFDATA_STACK_RECORD_H
#define FATHOM_PERFDATA_STACK_RECORD_H

#include <linux/types.h>

#define STACK_RECORD_MAGIC   0x4b545346u /* "FSTK" */
#define STACK_RECORD_VERSION 2
/* an earlier version: the head is followed by the stack's bytes, from SP on */
#define STACK_RECORD_BARE 1

enum stack_record_kind {
    STACK_RECORD_NEW = 1, /* no known stack fits: its bytes follow. It gets the number */
    STACK_RECORD_SAME,    /* the stack with this number fits, and is not the one announced before */
    /* the one announced before fits, as far as it was compared: read to check that. Otherwise like NEW */
    STACK_RECORD_AGAIN,
    STACK_RECORD_NONE, /* no known stack fits, and it was not read: over budget */
    /* for a precise sample: its function may have returned before the stack could be read */
    STACK_RECORD_RETURNED,
    STACK_RECORD_GONE, /* there is nothing to read: the process is in the kernel, ending or in execve */
    /* bytes of the new stack whose record, with the same number, comes next: see STACK_RECORD_MORES */
    STACK_RECORD_MORE,
};

/* bytes of a stack: one of this size was cut, as a record is at most 64 KiB */
#define STACK_RECORD_MAX 61440u
/* bytes of a stack whose outer part is words, or in records of kind MORE */
#define STACK_WORDS_MAX      262144
#define STACK_RECORD_NO_BASE 16384       /* bytes of a stack that are read if its base is unknown */
#define STACK_RECORD_LATE    0xffffffffu /* the number in RETURNED */
#define STACK_RECORD_NOWHERE 0xfffffffeu /* the number in GONE */
/* numbers from this one on are stacks from earlier recordings (infer/live/stack_keeper.h) */
#define STACK_NUMBER_KEPT 0xf0000000u
#define STACK_RECORD_ALL  255 /* `compared`: all return addresses */

struct stack_record {
    __u32 magic;
    __u8 version, kind;
    __u8 page_bits; /* a page of code is 2^page_bits bytes */
    __u8 compared;  /* how many return addresses are compared, the innermost first; 0: none */
    __u32 number;   /* NONE: 0; RETURNED, GONE: STACK_RECORD_LATE, _NOWHERE; any other number for the rest */
    __u32 size;     /* bytes of parts that follow; 0: none */
    __u64 ip, sp;   /* the user's, from the sample's registers */
};

/* The head is followed by parts, each of which begins with this. Readers skip unknown types. */
struct stack_part {
    __u16 type; /* enum stack_part_type */
    __u16 zero;
    __u32 size; /* bytes that follow it: a multiple of 8 except for the last part */
};

enum stack_part_type {
    STACK_PART_REGISTERS =
        1, /* u64 mask, like perf_event_attr.sample_regs_user; u64 for each of its bits, ascending */
    /* s64 offset from sp; bytes of the stack from there on: STACK_RECORD_HOLE if a page is not present */
    STACK_PART_BYTES,
    /* struct stack_run: the part of the stack between the bytes before this part and those after it */
    STACK_PART_RUN,
    STACK_PART_SWITCH, /* struct stack_switch: the bytes before this part belong to two stacks */
    /* struct stack_frames, and frames: what a walk of the stack found while recording. The copy is then usually omitted */
    STACK_PART_FRAMES,
    STACK_PART_CODE, /* struct stack_code: for a new stack, where the code at the PC is; for the recorder */
    /* struct stack_words, and a struct stack_word_at for each: what is known of the stack after the bytes before this part */
    STACK_PART_WORDS,
    /* struct stack_placed, and u64 for each file: for a known stack that was read elsewhere, where its code is here */
    STACK_PART_PLACED,
};

#define STACK_RECORD_HOLE 0xfd /* fills missing bytes: an address outside all code and all stacks */

/* Words that repeat, each time `period` bytes further out, like the return addresses of a recursion. Other words between the
 * parts are unknown. */
struct stack_run {
    /* bytes; `times` includes the first time, at the end of the bytes before this part */
    __u32 period, times;
    __u32 count, zero; /* words per period */
    /* offsets of the first time from sp, multiples of 8; STACK_RUN_RELATIVE may be added */
    __u32 at[24];
};
#define STACK_RUN_RELATIVE 1u /* the word is an address that grows by a period each time */

/* After its bytes the stack is the same as a known one: the words that unwinding the known one depends on, as they are in this
 * stack. */
struct stack_words {
    __u32 whole; /* bytes from sp to the end of the outermost word: at most STACK_WORDS_MAX */
    __u32 count; /* number of words */
};
struct stack_word_at {
    __u32 at; /* bytes from sp */
    __u32 zero;
    __u64 value;
};

/* The thread was on its runtime's system stack (image/go_stacks.h). The bytes from sp up to `at` are of that; then comes the
 * saved PC of the stack that it continues on, and then, from its saved SP on, that stack. */
struct stack_switch {
    __u32 at; /* bytes from sp, a multiple of 8; 0: there is only one stack */
    __u32 zero;
};

/* A stack as frames, without those that it shares with another one (walks.h). Its further frames follow, outermost first: for
 * each the PC minus that of the frame around it, zigzag; the CFA of that frame minus its own; both ULEB128, modulo 2^64; for
 * the outermost, PC and CFA around it are 0. Then, for those with marks, in this order: the number of frames passed since the
 * last one, ULEB128; the marks, a byte. */
struct stack_frames {
    /* number of a stack of an earlier record that it shares its outermost frames with; 0: none */
    __u32 outer;
    __u16 shared, count; /* frames of that stack; further frames: together at most STACK_FRAMES_MAX */
    __u16 marked;        /* number of further frames with marks */
    __u8 end;            /* enum stack_frames_end */
    __u8 flags;
    __u32 switch_at; /* as in struct stack_switch */
    /* the word below the outermost CFA: the return address, or the address at which the walk could not continue */
    __u64 back;
};
enum stack_frames_end {
    STACK_END_ROOT = 0,        /* at the outermost frame */
    STACK_END_CUT = 1,         /* at the end of the copy */
    STACK_END_NO_MAPPING = 2,  /* at a PC outside all known code */
    STACK_END_NO_CFI = 3,      /* at code without CFI */
    STACK_END_UNSUPPORTED = 4, /* at an unsupported CFI rule */
    STACK_END_BAD = 5,         /* at a CFA that did not grow */
    STACK_END_LONG = 6,        /* after STACK_FRAMES_MAX frames */
    STACK_END_SWITCHED = 7,    /* it continues on another stack, which was not copied */
    /* at the first handler on an alternate signal stack; in the past ROOT, with a restorer as `back` */
    STACK_END_SIGNAL = 8,
};
#define STACK_FRAMES_MAX  4096
#define STACK_FRAMES_BACK 1 /* flag: `back` was read */
/* flag: they are those of a stack of an earlier recording, whose words are in place here */
#define STACK_FRAMES_KEPT 4
#define STACK_FRAMES_LATE 2 /* flag: a later stack was written before this one, so nothing refers to it */

/* A file whose code is mapped from an offset on, as the kernel identifies it, and to which its name may refer later. For what
 * the kernel itself maps (the vDSO), `changed` is the size in bytes, and the others are 0. */
struct stack_file {
    __u64 inode, changed; /* i_ino; i_ctime, ns */
    __u64 page;           /* vm_pgoff */
    __u32 device, generation;
};

/* Whether the file is recorded: other processes may have the same one. Of mappings without a file, only the vDSO is recorded
 * with code. */
static inline int stack_file_is_told(const struct stack_file *file)
{
    return file->inode || file->changed;
}

/* For a stack that was read: what is needed to recognise it in other processes. */
struct stack_code {
    struct stack_file file; /* of the PC's code; inode and changed 0: none, or unknown */
    __u64 at;               /* address of its offset 0 */
    __u64 base;             /* of the stack; 0: unknown */
    __u32 version;          /* of what is known of the process's mappings */
    __u32 zero;
};

/* A known stack fits that was read in another process, or before files were mapped elsewhere: `base` is that of the thread's
 * stack, and its code is in files with their offsets 0 at the addresses that follow. The BPF program may have guessed these
 * from the return addresses, or may not know yet that something else is mapped there: the stack is the sample's only if its
 * files are there. */
struct stack_placed {
    __u64 base;
    /* base - SP; for a stack of which only the callers were read before, after the return to them */
    __u64 depth;
    __u64 count; /* number of addresses that follow: at most STACK_PLACED_MAX */
};
#define STACK_PLACED_MAX 16u

/* bytes before the base, if it is known, of a stack that is larger than a record: its second part of bytes */
#define STACK_RECORD_OUTER 4096u
/* If all of the stack fits into this many records of kind MORE, they precede its record: each has one part of bytes. Together,
 * without gaps, these are the bytes between the first and the second part of the record that follows. Three: 240 KB in all,
 * within STACK_WORDS_MAX. */
#define STACK_RECORD_MORES 3u
/* bytes below sp that a function may use (psABI, section 3.2.2): the red zone */
#define STACK_RECORD_BELOW 128u

/* AX, BX, CX, DX, SI, DI, BP, SP, IP, R8 to R15: arch/x86/include/uapi/asm/perf_regs.h. */
#define STACK_RECORD_REGISTERS      0xff01ffu
#define STACK_RECORD_REGISTER_COUNT 17u

/* A record with a stack, as the BPF program writes it; the stack's bytes follow. */
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
