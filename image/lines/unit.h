/*
 * unit.h - the lines and functions of one compilation unit, read out of libdwarf into plain tables.
 * Private to image/.
 */
#ifndef FATHOM_IMAGE_LINES_UNIT_H
#define FATHOM_IMAGE_LINES_UNIT_H

#include <libdwarf/libdwarf.h>

#include "base/arena.h"
#include "base/hash.h"
#include "image/lines/lines.h"

struct lines_row { /* valid from address up to the next row's */
    uint64_t address;
    uint32_t order;   /* in the line table: of rows with equal addresses the last counts */
    uint32_t line;    /* 0: unknown */
    const char *file; /* NULL: unknown */
    bool end;         /* nothing is known from here on */
};

struct lines_scope { /* one address range of a function, or of an inlined call inside it */
    uint64_t low, high;
    const char *name;      /* NULL: unknown */
    const char *call_file; /* where an inlined function was called from */
    uint32_t call_line;
    uint32_t depth;       /* of inlining; 0: the function itself */
    uint32_t first, last; /* of a function: its inlined calls are scopes [first, last) of `inlined` */
};

struct lines_scopes {
    struct lines_scope *items;
    size_t count, room;
};

struct lines_unit {
    uint64_t offset; /* of its DIE in .debug_info */
    uint16_t version;
    bool loaded;
    struct lines_row *rows; /* by address */
    size_t row_count;
    struct lines_scopes functions; /* by address */
    struct lines_scopes inlined;
};

/* What units share. */
struct lines_source {
    Dwarf_Debug debug;
    Dwarf_Debug shared;  /* the file to which dwz moved shared parts; NULL: none */
    struct arena *arena; /* of all names */
    struct table *names; /* offset of a DIE -> const char * */
};

struct lines_range {
    uint64_t low, high;
};

/* Appends the address ranges of a DIE to a growing array, except empty and discarded ones (address 0). 0 or
 * -ENOMEM. */
struct lines_ranges {
    struct lines_range *items;
    size_t count, room;
};
int lines_ranges_read(Dwarf_Debug debug, Dwarf_Die die, uint16_t version, uint64_t unit_low,
                      struct lines_ranges *out);

/* Fills the tables, skipping what is damaged. 0 or -ENOMEM. */
int lines_unit_load(struct lines_source *source, struct lines_unit *unit);
void lines_unit_free(struct lines_unit *unit);

#endif
