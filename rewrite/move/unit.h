/*
 * unit.h - one function with its .cold parts, decoded, with the tables that it jumps through: what is copied as
 * one. Private to rewrite/.
 *
 * A unit is reused for one function after the other, with its memory.
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

/* Distances of 4 bytes from its start (gcc and clang, position-independent), or 8-byte addresses. */
struct move_table {
    uint64_t address;
    uint32_t count; /* entries, possibly more than are used */
    uint8_t width;
    bool certain; /* all of its first entries lead into the function */
    bool claimed; /* a jump was seen to use it */
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
    uint32_t *uses;    /* by instruction: 1 + index of the table whose address it has; 0: none */
    uint32_t *through; /* the same for the table that it jumps through; 0: none, or another pointer */
    uint32_t use_capacity;
    struct move_table *tables;
    uint32_t table_count, table_capacity;
    bool open;   /* some of its jumps may go to any address: tail calls, or its labels */
    bool labels; /* data has pointers to its labels, which must be re-pointed */
    bool leaves; /* it jumps to other code within its frame: an unrecognised part of it */
    bool probes; /* it has SystemTap probes, whose notes describe their arguments */
};

int move_unit_begin(struct move_unit *unit, const struct move_survey *survey); /* 0 or -ENOMEM */
void move_unit_free(struct move_unit *unit);
/* Reads a function (no .cold part); unit->refusal says whether it can be moved. 0 or -ENOMEM. */
int move_unit_read(struct move_unit *unit, uint32_t function);
/* The part with the instruction. */
uint32_t move_unit_part(const struct move_unit *unit, uint32_t insn);
const uint8_t *move_unit_bytes(const struct move_unit *unit, uint32_t insn);
/* Whether a data word points to a label of the unit, and must change with it. Words in tables need not, as these
 * are copied. */
bool move_unit_follows(const struct move_unit *unit, const struct survey_label *label);

/* Whether several instructions have the table's address, as the base of its distances. Copies that lead into each
 * other then use one table: a distance read from one copy's table may be added to the address of the other's. */
bool move_unit_is_shared(const struct move_unit *unit, uint32_t table);
/* Where a table's entry leads; false: the table has no such entry, as another one begins there, or it leads to no
 * code of the unit. */
bool move_unit_entry(const struct move_unit *unit, const struct move_table *table, uint32_t entry,
                     uint32_t *insn);

/* tables.c: finds the tables and judges the jumps. 0 or -ENOMEM. */
int move_unit_tables(struct move_unit *unit);

#endif
