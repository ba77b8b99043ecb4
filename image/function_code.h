/*
 * function_code.h - all instructions of one function and its .cold parts, decoded once for several passes.
 * Private to image/ and rewrite/.
 */
#ifndef FATHOM_IMAGE_FUNCTION_CODE_H
#define FATHOM_IMAGE_FUNCTION_CODE_H

#include "image/code/code.h"
#include "image/image.h"

#define FUNCTION_CODE_NONE UINT32_MAX

enum {
    WAY_BRANCH = 1,   /* a branch leads here */
    WAY_ALONE = 2,    /* neither the previous instruction nor padding continues to this one */
    WAY_NONE = 4,     /* padding after such an instruction, to which nothing leads */
    WAY_MORE = 8,     /* more than one branch leads here */
    WAY_TABLE = 16,   /* a jump by an unknown table */
    WAY_POINTED = 32, /* the code takes its address */
};

struct table_edge { /* possible target of a jump through a table */
    uint32_t from, to;
};

struct function_code {
    struct code_insn *insns; /* by address; a byte that is not an instruction is a CODE_STOP of length 1 */
    uint32_t *jumps; /* a direct jump's target in the function; FUNCTION_CODE_NONE: outside, or none */
    uint8_t *ways;   /* WAY_ bits */
    uint32_t count, capacity;
    struct table_edge *edges;
    uint32_t edge_count, edge_capacity;
};

/* A part of a function; its bytes are read as far as the file has them. */
struct function_part {
    uint64_t address;
    uint32_t size;
};

/* Replaces the previous contents. parts: sorted by address. 0 or -ENOMEM. */
int function_code_read(struct function_code *code, const struct image *image,
                       const struct function_part *parts, uint32_t part_count);
void function_code_free(struct function_code *code);
/* The instruction that starts exactly there, or FUNCTION_CODE_NONE. */
uint32_t function_code_find(const struct function_code *code, uint64_t address);
/* Whether control continues from this instruction to the next in the array. */
bool function_code_goes_on(const struct function_code *code, uint32_t insn);
/* Notes that the jump `from` may go to the instruction at the address. false: no instruction is there, or out of
 * memory (*rc: -ENOMEM). */
bool function_code_add_edge(struct function_code *code, uint32_t from, uint64_t address, int *rc);

#endif
