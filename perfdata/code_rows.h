/*
 * code_rows.h - rules for finding return addresses, by offset in a file: a table made from CFI that the recorder's BPF program
 * looks up. Also compiled for the BPF target.
 */
#ifndef FATHOM_PERFDATA_CODE_ROWS_H
#define FATHOM_PERFDATA_CODE_ROWS_H

#include <linux/types.h>

#define CODE_ROWS_BITS  14u   /* a table covers 2^14 bytes of a file */
#define CODE_ROWS_STEPS 10u   /* to find a row by bisection */
#define CODE_ROWS_MAX   1024u /* rows; denser code lacks the last ones */

/* A rule has the number of bytes to the return address, from SP or BP; and 1 + the number of bytes to the caller's saved BP, or
 * 0 if BP is the caller's. */
#define CODE_ROW_RETURN  0xffffu
#define CODE_ROW_BP_AT   16u /* shift, in bits */
#define CODE_ROW_BP      0x7fffu
#define CODE_ROW_FROM_BP 0x80000000u
#define CODE_ROW_NONE    0xffffffffu /* unknown */

struct code_rows_key {
    __u32 file;  /* its number (known_stack.h, struct stack_place) */
    __u32 chunk; /* offset >> CODE_ROWS_BITS */
};

/* A row applies up to the next one's start. */
struct code_rows {
    __u32 count;
    __u32 rule[CODE_ROWS_MAX];
    __u16 start[CODE_ROWS_MAX]; /* ascending; offset within the chunk */
};

#endif
