/*
 * unit.h - one function with its .cold parts, decoded, with the tables that it jumps through: what is copied as one.
 * Private to rewrite/.
 *
 * A unit is used for one function after the other and keeps its memory.
 */
#ifndef FATHOM_REWRITE_MOVE_UNIT_H
#define FATHOM_REWRITE_MOVE_UNIT_H

#include "rewrite/move/survey.h"
#include "image/code/insn.h"
#include "image/function_code.h"

#define ENTRY_JUMP 5 /* bytes of the jump at the old entry */

struct move_part {
    uint64_t address;
    uint32_t size;         /* bytes */
    uint32_t first, count; /* instructions */
    const struct cfi_fde *fde;
    const uint8_t *bytes;
};

/* Distances of 4 bytes from its start (gcc and clang, position-independent), or addresses of 8. */
struct move_table {
    uint64_t address;
    uint32_t count; /* entries, perhaps more than are used */
    uint8_t width;
    bool certain; /* its first entries all lead into the function */
    bool claimed; /* a jump was seen to go through it */
};

struct move_unit {
    const struct move_survey *survey;
    struct insn_reader *reader;
    uint32_t function;
    uint64_t entry;
    enum move_refusal refusal;
    struct move_part *parts; /* ascending */
    uint32_t part_count, part_capacity;
    uint32_t main;               /* the part with the entry */
    struct function_part *spans; /* the same parts */
    uint32_t span_capacity;
    struct function_code code;
    uint32_t *uses; /* for each instruction: 1 + index of the table whose address it has; 0: none */
    uint32_t
        *through; /* the same: of the table that it jumps through; 0: it is no jump, or by another pointer */
    uint32_t use_capacity;
    struct move_table *tables;
    uint32_t table_count, table_capacity;
    bool open;   /* it has jumps that may go to any address: tail calls, or to its labels */
    bool labels; /* data points to its labels, to be re-pointed */
    bool leaves; /* it jumps to other code while its frame stands: a part of it that was not recognised */
    bool probes; /* it has SystemTap probes, whose notes tell where their arguments are */
};

int move_unit_begin(struct move_unit *unit, const struct move_survey *survey); /* 0 or -ENOMEM */
void move_unit_free(struct move_unit *unit);
/* Reads the function that owns itself; unit->refusal tells whether it can be moved. 0 or -ENOMEM. */
int move_unit_read(struct move_unit *unit, uint32_t function);
/* The part that contains the instruction. */
uint32_t move_unit_part(const struct move_unit *unit, uint32_t insn);
const uint8_t *move_unit_bytes(const struct move_unit *unit, uint32_t insn);
/* Whether a word of data points to a label of the unit, and must follow it. Words in tables, which are copied, need not.
 */
bool move_unit_follows(const struct move_unit *unit, const struct survey_label *label);

/* Whether several instructions have the address of the table, as distances of it. Copies that lead into each other then go by one
 * table: what one reads from its own, another would add to the address of another. */
bool move_unit_is_shared(const struct move_unit *unit, uint32_t table);
/* Where the entry of a table leads; false: the table has no such entry, as another one begins there, or it is no code of the
 * unit. */
bool move_unit_entry(const struct move_unit *unit, const struct move_table *table, uint32_t entry,
                     uint32_t *insn);

/* tables.c: finds the tables and judges the jumps. 0 or -ENOMEM. */
int move_unit_tables(struct move_unit *unit);

#endif
