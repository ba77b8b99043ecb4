/*
 * jump_tables.h - where a function's indirect jumps go: follows register contents through its code, and reads the
 * tables. Private to image/.
 */
#ifndef FATHOM_IMAGE_JUMP_TABLES_H
#define FATHOM_IMAGE_JUMP_TABLES_H

#include "image/code/operands.h"
#include "image/function_code.h"

/* Register contents before each instruction, in the order of addresses. Also those at the last few branches, for
 * targets that are reached in no other way. Start with 0. */
struct operand_walk {
    struct operands operands; /* before the last instruction entered */
    struct {
        uint32_t to;
        struct operands operands;
    } carried[16];
    unsigned next;
};

void operand_walk_enter(struct operand_walk *walk, const struct function_code *code, uint32_t insn);
void operand_walk_leave(struct operand_walk *walk, const struct function_code *code, uint32_t insn);

/* Whether a function has a plausible number of edges. */
bool jump_tables_fit(const struct function_code *code);
/* Adds the edges of a switch by a table of 4-byte distances from its own start (gcc, clang), up to the first one
 * that leads out of the function. 0 or -ENOMEM. */
int jump_table_distances(struct function_code *code, const struct image *image, uint32_t jump,
                         uint64_t table);

/* The same for tables of 8-byte addresses, in programs that are not relocated. */
int jump_table_addresses(struct function_code *code, const struct image *image, uint32_t jump,
                         uint64_t table);

#endif
