/*
 * switch_tables.h - where the jumps of a function lead by tables, also to parts of it that are not known yet. Private to image/.
 */
#ifndef FATHOM_IMAGE_SWITCH_TABLES_H
#define FATHOM_IMAGE_SWITCH_TABLES_H

#include "image/code/operands.h"
#include "image/elf/slots.h"
#include "image/function_parts.h"

struct switch_tables {
    struct lead { /* to the outside of the function's parts */
        uint32_t from;
        uint64_t address;
    } * leads; /* by jump */
    uint32_t lead_count, lead_capacity;
};

/* Adds edges to the code, and WAY_TABLE to jumps that go by a table, known or not; replaces the leads. Starts with 0. 0 or -ENOMEM. */
int switch_tables_read(struct switch_tables *tables, struct function_code *code,
                       const struct function_parts *parts, struct slots *slots);
void switch_tables_close(struct switch_tables *tables);

/* Whether an indirect jump goes by a table that is known. */
bool switch_is_table(const struct operand *target);
/* Where an entry of it leads: an address, or a distance of 4 bytes from the table's start. 0: it is none. */
uint64_t switch_entry(const struct elf_file *file, struct slots *slots, const struct operand *table,
                      uint32_t entry);

#endif
