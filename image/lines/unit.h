/*
 * unit.h - the lines and functions of one compilation unit, copied from libdwarf into plain tables. Private to
 * image/.
 */
#ifndef FATHOM_IMAGE_LINES_UNIT_H
#define FATHOM_IMAGE_LINES_UNIT_H

#include <libdwarf/libdwarf.h>

#include "base/arena.h"
#include "base/hash.h"
#include "image/lines/lines.h"

#define LINES_DEPTH_MOST 200u /* nesting of DIEs, and so of inlining */

struct lines_row { /* valid from address up to the next row's */
    uint64_t address;
    uint32_t order; /* in the line table: of rows with equal addresses the last counts */
    uint32_t line;  /* 0: unknown */
    uint32_t discriminator;
    const char *file; /* NULL: unknown */
    bool end;         /* nothing is known from here on */
};

struct lines_scope { /* one address range of a function, or of an inlined call inside it */
    uint64_t low, high;
    uint64_t die;          /* offset of its DIE: lines_unit_name() */
    const char *call_file; /* where an inlined function was called from */
    uint32_t call_line, call_discriminator;
    uint32_t depth;       /* of inlining; 0: the function itself */
    uint32_t first, last; /* of a function: its inlined calls are scopes [first, last) of `inlined` */
    bool walked;          /* of a function: the inlined calls were read */
};

struct lines_scopes {
    struct lines_scope *items;
    size_t count, capacity;
};

struct lines_split_file;
struct part_file;

/* State shared by all units. */
struct lines_source {
    Dwarf_Debug debug;
    const char *path;                /* of the file with the debug information */
    const char *program;             /* the path of the program itself */
    struct lines_split_file *splits; /* the open ones; see split.h */
    uint32_t split_count, split_capacity;
    uint32_t missing; /* units whose split debug information was not found */
    char first_missing[256];
    uint8_t first_lack;            /* why (split.c) */
    struct part_file *packages[2]; /* PROGRAM.dwp, at two places; NULL: none */
    bool tried[2];                 /* the package was searched for */
    char lacks[512];               /* lines_reader_lacks() */
    Dwarf_Debug shared;            /* the file to which dwz moved shared parts; NULL: none */
    struct arena *arena;           /* of all names */
    struct table *names;           /* number of its file << 48 | offset of a DIE -> struct lines_name */
    uint64_t work;                 /* remaining budget: lines_spend() */
};

/* Subtracts from the remaining budget; an entry of a table, a range or a DIE counts as one. Each takes at least a
 * byte of real debug information, but a damaged file can refer to one table from many places. false: the budget
 * is exhausted. */
bool lines_spend(struct lines_source *source, uint64_t work);

struct lines_range {
    uint64_t low, high;
};

/* Appends the address ranges of a DIE to a growing array, except empty and discarded ones (address 0). 0,
 * -ENOMEM, or -EOVERFLOW: the budget is exhausted (lines_spend()). */
struct lines_ranges {
    struct lines_range *items;
    size_t count, capacity;
};
/* What is needed to read range lists: */
struct lines_ranges_source {
    struct lines_source *source;
    Dwarf_Debug debug; /* the file of the DIEs */
    uint16_t version;
    uint64_t low; /* base address of the unit */
    /* For split debug information, else NULL: the skeleton's file, which has the addresses. */
    Dwarf_Debug program;
    Dwarf_Die skeleton;
    uint64_t old_base;    /* of its lists in .debug_ranges */
    Dwarf_Unsigned lists; /* the number of its lists in .debug_rnglists.dwo, and where these end */
    Dwarf_Unsigned lists_end;
};
int lines_ranges_read(const struct lines_ranges_source *source, Dwarf_Die die, struct lines_ranges *out);

struct lines_unit {
    uint64_t offset; /* of its DIE in .debug_info */
    uint16_t version;
    bool loaded;
    bool split;             /* its functions are in another file (split.h) */
    uint64_t split_id;      /* if so: the number of its part there */
    struct lines_row *rows; /* by address */
    size_t row_count;
    struct lines_scopes functions; /* by address; without nested ones, unless `nested` */
    bool nested;                   /* functions within functions were added */
    struct lines_scopes inlined;
    /* Set once loaded, to read scopes: */
    const char **files; /* by number as in DW_AT_call_file and the line table */
    size_t file_count;
    Dwarf_Debug debug; /* of the file with the unit's functions */
    uint32_t number;   /* its number, for names */
    Dwarf_Die die,
        part; /* the unit's DIE; with split debug information its part's, in the other file (else NULL) */
    struct lines_ranges_source ranges;
};

/* Fills the tables, except for inlined calls; skips what is damaged. 0, -ENOMEM, or -EOVERFLOW: the budget is
 * exhausted. */
int lines_unit_load(struct lines_source *source, struct lines_unit *unit);
/* Adds the functions nested in others. */
int lines_unit_nested(struct lines_source *source, struct lines_unit *unit);
/* Adds a function's inlined calls, once. */
int lines_unit_walk(struct lines_source *source, struct lines_unit *unit, struct lines_scope *function);
/* The name of a scope's function: */
struct lines_name {
    const char *shown, *linkage; /* as in struct line_frame */
    uint32_t start;
};
/* The name of a scope of the unit; NULL: unknown. */
const struct lines_name *lines_unit_name(struct lines_source *source, const struct lines_unit *unit,
                                         const struct lines_scope *scope);
void lines_unit_free(struct lines_unit *unit);

#endif
