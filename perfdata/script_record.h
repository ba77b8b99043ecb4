/*
 * script_record.h - what the BPF program that follows an event says about the functions that an interpreter runs in a thread:
 * raw data of the event "stacks", besides stack records (stack_record.h). Also compiled for the BPF target.
 *
 * A chain is what a thread's interpreter has called, the innermost function first: for each the address of its code object, and
 * the instruction in it. A record precedes its thread's sample in the ring, and also that sample's stack record; a sample
 * without one has the chain that was announced last for its thread. Code objects are described before the first chain with
 * them, and again when other code has the same address.
 */
#ifndef FATHOM_PERFDATA_SCRIPT_RECORD_H
#define FATHOM_PERFDATA_SCRIPT_RECORD_H

#include <linux/types.h>

#include "base/script_language.h"

#define SCRIPT_RECORD_MAGIC   0x52435346u /* "FSCR" */
#define SCRIPT_RECORD_VERSION 1

enum script_record_kind {
    SCRIPT_CHAIN = 1, /* a new chain: struct script_called of each function follows. It gets the number */
    /* the chain with this number, if it is not the one announced before, or is at another instruction */
    SCRIPT_SAME,
    SCRIPT_NONE,   /* the interpreter runs nothing in this thread */
    SCRIPT_UNREAD, /* a new chain for which there was no space, or whose memory could not be read */
    SCRIPT_CODE,   /* struct script_code_told, and `count` bytes of its line table, follow */
};

struct script_record {
    __u32 magic;
    __u8 version, kind;
    __u8 language; /* enum script_language */
    __u8 flags;    /* SCRIPT_CUT, SCRIPT_POLLED */
    __u32 count;   /* CHAIN: functions; CODE: bytes of the table */
    __u32 at;      /* CHAIN, SAME: replaces the innermost function's script_called.at */
    __u64 number;  /* CHAIN, SAME: never 0; CODE: the address of the code object */
};
#define SCRIPT_CODES_MOST 64u /* described before one chain; a chain with more is new again the next time */
#define SCRIPT_CUT        1u  /* the chain has more functions further out */
#define SCRIPT_POLLED     2u  /* read at the record's time, which is not that of a sample */

/* A chain's number is a hash of what was called, without the innermost function's instruction, and of the process. */
struct script_called {
    /* address of the code object; for PHP, any number that identifies it; for V8, its SharedFunctionInfo, or a type of frames */
    __u64 code;
    /* the instruction that runs or calls: bytes from the first one; beyond the code's end: it has not begun. For PHP, its line;
     * 0: it has none. For V8, 0 */
    __u32 at;
    __u32 marks; /* SCRIPT_ENTERED */
};
/* machine code called the interpreter's loop, which began with this function; in V8, each has a frame of its own */
#define SCRIPT_ENTERED    1u
#define SCRIPT_CALLED_MAX 1024u

/* A string of the runtime: for CPython, a compact one (PEP 393); for Ruby and PHP, plain bytes, and for PHP "class::function",
 * or nothing for code outside of functions; for V8, Latin-1 or UTF-16. Strings that are too long lack their end, or for file
 * names their beginning. */
struct script_text {
    __u32 bytes; /* that are in the record */
    __u8 width;  /* of a character: 1, 2, 4; 0: the string could not be read */
    __u8 ascii;  /* if not, 1 byte is a character of Latin-1 */
    __u8 cut, zero;
};
#define SCRIPT_NAME_MAX  256u /* bytes */
#define SCRIPT_FILE_MAX  512u
#define SCRIPT_TABLE_MAX 32768u

/* Ruby's line table: __u32 words of instructions, __u32 count of lines; where lines begin (struct succ_index_table of iseq.c);
 * and the lines, as in struct iseq_insn_info_entry: the first four bytes of each. */
/* IMMEDIATE_TABLE_SIZE: words of instructions, nine per word of this table */
#define RUBY_IMMEDIATE              54u
#define RUBY_IMMEDIATE_BYTES(words) (((words) < RUBY_IMMEDIATE ? (words) + 8 : RUBY_IMMEDIATE) / 9 * 8)
#define RUBY_BLOCK                  512u /* struct succ_dict_block: words of instructions, */
#define RUBY_BLOCK_BYTES            80u
#define RUBY_POSITIONS_BYTES(words)                                                                          \
    (RUBY_IMMEDIATE_BYTES(words) +                                                                           \
     ((words) < RUBY_IMMEDIATE ? 0                                                                           \
                               : ((words)-RUBY_IMMEDIATE + RUBY_BLOCK - 1) / RUBY_BLOCK * RUBY_BLOCK_BYTES))
#define RUBY_LINE_BYTES 12u

struct script_code_told {
    __u32 line; /* its first line */
    __u32 zero;
    struct script_text name, file;
    __u8 name_bytes[SCRIPT_NAME_MAX], file_bytes[SCRIPT_FILE_MAX];
};

#endif
