/*
 * code_rows.h - where code has its return address, by offsets in a file: a table that the recorder's BPF program looks up, made of CFI. Also
 * compiled for the BPF target.
 */
#ifndef FATHOM_PERFDATA_CODE_ROWS_H
#define FATHOM_PERFDATA_CODE_ROWS_H

#include <linux/types.h>

#define CODE_ROWS_BITS  14u   /* a table is of so many bits of offsets */
#define CODE_ROWS_STEPS 10u   /* to find one among them */
#define CODE_ROWS_MAX   1024u /* rows: of denser code the last ones are missing */

/* A rule: bytes to the return address, from SP or BP; and those to the caller's BP + 1, or 0: BP is that. */
#define CODE_ROW_RETURN  0xffffu
#define CODE_ROW_BP_AT   16u /* bits */
#define CODE_ROW_BP      0x7fffu
#define CODE_ROW_FROM_BP 0x80000000u
#define CODE_ROW_NONE    0xffffffffu /* it is not known */

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
