/*
 * switch_tables.h - where a function's jumps lead by tables, including to parts of it that are not known yet.
 * Private to image/.
 */
#ifndef FATHOM_IMAGE_SWITCH_TABLES_H
#define FATHOM_IMAGE_SWITCH_TABLES_H

#include "image/code/operands.h"
#include "image/elf/slots.h"
#include "image/function_parts.h"

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
