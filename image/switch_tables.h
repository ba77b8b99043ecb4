/*
 * switch_tables.h - where a function's jumps lead by tables, including to parts of it that are not known yet.
 * Private to image/.
 */
#ifndef FATHOM_IMAGE_SWITCH_TABLES_H
#define FATHOM_IMAGE_SWITCH_TABLES_H

#include "image/code/operands.h"
#include "image/elf/slots.h"
#include "image/function_parts.h"

/* How many cases a switch has, by the comparison before it: cmp $last,index; ja default; ...; jmp *table(index) in the
 * order of addresses, at a distance of few instructions. */
struct switch_bound { /* initially 0 */
    uint32_t compared, cases;
    uint8_t age; /* instructions since the check; `cases` expires */
    bool is_compared;
};

/* Advances over one instruction. */
void switch_bound_step(struct switch_bound *bound, const struct code_insn *insn, const uint8_t *bytes);
/* Cases of the jump that is the next instruction; 0: unknown. */
uint32_t switch_bound_cases(const struct switch_bound *bound);

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
bool switch_tables_fit(const struct function_code *code);

struct switch_tables {
    struct lead { /* a target outside of the function's parts */
        uint32_t from;
        uint64_t address;
    } * leads; /* sorted by jump */
    uint32_t lead_count, lead_capacity;
};

/* Adds edges to the code, and WAY_TABLE to jumps by a known or unknown table; replaces the leads. Start with 0. 0
 * or -ENOMEM. */
int switch_tables_read(struct switch_tables *tables, struct function_code *code,
                       const struct function_parts *parts, struct slots *slots);
void switch_tables_close(struct switch_tables *tables);

/* Whether an indirect jump goes by a known table. */
bool switch_is_table(const struct operand *target);
/* The target of a table's entry, which is an address, or a 4-byte distance from the table's start. 0: none. */
uint64_t switch_entry(const struct elf_file *file, struct slots *slots, const struct operand *table,
                      uint32_t entry);

#endif
