/*
 * jump_tables.h - where the indirect jumps of a function go: register contents through its code, and the tables that they come
 * from. Private to image/.
 */
#ifndef FATHOM_IMAGE_JUMP_TABLES_H
#define FATHOM_IMAGE_JUMP_TABLES_H

#include "image/code/operands.h"
#include "image/function_code.h"

/* Register contents before each instruction, in the order of addresses: also at the last few branches to places that are reached in
 * no other way. Start with 0. */
struct operand_walk {
    struct operands operands; /* before the instruction that was entered last */
    struct {
        uint32_t to;
        struct operands operands;
    } carried[16];
    unsigned next;
};

void operand_walk_enter(struct operand_walk *walk, const struct function_code *code, uint32_t insn);
void operand_walk_leave(struct operand_walk *walk, const struct function_code *code, uint32_t insn);

/* Whether a function has no more edges than real ones do. */
bool jump_tables_fit(const struct function_code *code);
/* Adds the edges of a switch: 4-byte distances from the table's own start (gcc, clang), up to one that leads out of the
 * function. 0 or -ENOMEM. */
int jump_table_distances(struct function_code *code, const struct image *image, uint32_t jump,
                         uint64_t table);

/* The same of 8-byte addresses, in programs that are not relocated. */
int jump_table_addresses(struct function_code *code, const struct image *image, uint32_t jump,
                         uint64_t table);

#endif
