/*
 * script_record.h - what the BPF program that follows an event says of the functions that an interpreter runs in a thread: raw data of
 * the event "stacks", besides stack records (stack_record.h). Also compiled for the BPF target.
 *
 * A chain is what a thread's interpreter has called, the innermost function first: of each the address of its code object, and the
 * instruction in it. A record stands before its thread's sample in the ring, and before that's stack record; a sample without one has
 * the chain that was announced last for its thread. Code objects are told before the first chain with them, and again when other code
 * has that address.
 */
#ifndef FATHOM_PERFDATA_SCRIPT_RECORD_H
#define FATHOM_PERFDATA_SCRIPT_RECORD_H

#include <linux/types.h>

#include "base/script_language.h"

#define SCRIPT_RECORD_MAGIC   0x52435346u /* "FSCR" */
#define SCRIPT_RECORD_VERSION 1

enum script_record_kind {
    SCRIPT_CHAIN = 1, /* a new one: struct script_called of each function follows. It gets the number */
    SCRIPT_SAME, /* the chain with this number, and not the one announced before, or at another instruction */
    SCRIPT_NONE, /* the interpreter runs nothing in this thread */
    SCRIPT_UNREAD, /* a new one, for which there was no room, or of which no memory could be read */
    SCRIPT_CODE,   /* struct script_code_told, and so many bytes of its table of lines, follow */
};

struct script_record {
    __u32 magic;
    __u8 version, kind;
    __u8 language; /* enum script_language */
    __u8 flags;    /* SCRIPT_CUT, SCRIPT_POLLED */
    __u32 count;   /* CHAIN: functions; CODE: bytes of the table */
    __u32 at;      /* CHAIN, SAME: of the innermost function, in place of its script_called.at */
    __u64 number;  /* CHAIN, SAME: never 0; CODE: the address of the code object */
};
#define SCRIPT_CODES_MOST 64u /* that are told before one chain; one with more is new again the next time */
#define SCRIPT_CUT        1u  /* the chain has more functions further out */
#define SCRIPT_POLLED     2u  /* it was read at the record's time, which is not that of a sample */

/* A hash of what was called, but for the innermost function's instruction, and of the process, is the number of a chain. */
struct script_called {
    __u64
        code; /* address of the code object; of PHP, any number that stands for it; of V8, its SharedFunctionInfo, or a type of frames */
    __u32
        at; /* the instruction that runs or calls: bytes from the first one; beyond the code's end: it has not begun. Of PHP, its line; 0: it has none. Of V8, 0 */
    __u32 marks; /* SCRIPT_ENTERED */
};
#define SCRIPT_ENTERED                                                                                       \
    1u /* machine code called the interpreter's loop, which began with this one; of V8, each has a frame of its own */
#define SCRIPT_CALLED_MAX 1024u

/* A string of the runtime's: of CPython, a compact one (PEP 393); of Ruby and PHP, bytes as they are, and of PHP "class::function", or nothing for what stands in no
 * function; of V8, Latin-1 or UTF-16. What is longer lacks its end, or, of a file's name, its beginning. */
struct script_text {
    __u32 bytes; /* that are told */
    __u8 width;  /* of a character: 1, 2, 4; 0: it could not be read */
    __u8 ascii;  /* else 1 byte is a character of Latin-1 */
    __u8 cut, zero;
};
#define SCRIPT_NAME_MAX  256u /* bytes */
#define SCRIPT_FILE_MAX  512u
#define SCRIPT_TABLE_MAX 32768u

/* Ruby's table of lines: __u32 words of instructions, __u32 count of lines; where lines begin (struct succ_index_table of iseq.c); and the lines, as struct
 * iseq_insn_info_entry has them: the first four bytes of each. */
#define RUBY_IMMEDIATE              54u /* IMMEDIATE_TABLE_SIZE: words of instructions, nine in each of these words */
#define RUBY_IMMEDIATE_BYTES(words) (((words) < RUBY_IMMEDIATE ? (words) + 8 : RUBY_IMMEDIATE) / 9 * 8)
#define RUBY_BLOCK                  512u /* struct succ_dict_block: words of instructions, */
#define RUBY_BLOCK_BYTES            80u
#define RUBY_POSITIONS_BYTES(words)                                                                          \
    (RUBY_IMMEDIATE_BYTES(words) +                                                                           \
     ((words) < RUBY_IMMEDIATE ? 0                                                                           \
                               : ((words)-RUBY_IMMEDIATE + RUBY_BLOCK - 1) / RUBY_BLOCK * RUBY_BLOCK_BYTES))
#define RUBY_LINE_BYTES 12u

struct script_code_told {
    __u32 line; /* its first */
    __u32 zero;
    struct script_text name, file;
    __u8 name_bytes[SCRIPT_NAME_MAX], file_bytes[SCRIPT_FILE_MAX];
};

#endif
