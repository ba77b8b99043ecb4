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

#define LINES_DEPTH_MOST 200u /* of nested DIEs, and so of inlining */

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
    bool walked;          /* of a function: these were read */
};

struct lines_scopes {
    struct lines_scope *items;
    size_t count, capacity;
};

struct lines_split_file;
struct part_file;

/* What units share. */
struct lines_source {
    Dwarf_Debug debug;
    const char *path;                /* of the file with the debug information */
    const char *program;             /* the path of the program itself */
    struct lines_split_file *splits; /* opened; see split.h */
    uint32_t split_count, split_capacity;
    uint32_t missing; /* units whose split debug information is not there */
    char first_missing[256];
    uint8_t first_lack;            /* why (split.c) */
    struct part_file *packages[2]; /* PROGRAM.dwp, at two places; NULL: none */
    bool tried[2];                 /* they were looked for */
    char lacks[512];               /* lines_reader_lacks() */
    Dwarf_Debug shared;            /* the file to which dwz moved shared parts; NULL: none */
    struct arena *arena;           /* of all names */
    struct table *names;           /* number of its file << 48 | offset of a DIE -> struct lines_name */
    uint64_t work;                 /* how much more may be done: lines_spend() */
};

/* Takes so much off the work that is left: an entry of a table, a range or a DIE is one. Real debug information has
 * none of less than a byte, but a damaged one can name a table from many places. false: none is left. */
bool lines_spend(struct lines_source *source, uint64_t work);

struct lines_range {
    uint64_t low, high;
};

/* Appends the address ranges of a DIE to a growing array, except empty and discarded ones (address 0). 0,
 * -ENOMEM, or -EOVERFLOW: no work is left (lines_spend()). */
struct lines_ranges {
    struct lines_range *items;
    size_t count, capacity;
};
/* What lists of ranges are read with: */
struct lines_ranges_source {
    struct lines_source *source;
    Dwarf_Debug debug; /* the file of the DIEs */
    uint16_t version;
    uint64_t low; /* base address of the unit */
    /* Of split debug information, else NULL: the skeleton, whose file has the addresses. */
    Dwarf_Debug program;
    Dwarf_Die skeleton;
    uint64_t old_base;    /* of its lists in .debug_ranges */
    Dwarf_Unsigned lists; /* the number of its lists in .debug_rnglists.dwo, and the end of these there */
    Dwarf_Unsigned lists_end;
};
int lines_ranges_read(const struct lines_ranges_source *source, Dwarf_Die die, struct lines_ranges *out);

struct lines_unit {
    uint64_t offset; /* of its DIE in .debug_info */
    uint16_t version;
    bool loaded;
    bool split;             /* its functions are in another file (split.h) */
    uint64_t split_id;      /* then: that of its part there */
    struct lines_row *rows; /* by address */
    size_t row_count;
    struct lines_scopes functions; /* by address: those that are in no other, unless `nested` */
    bool nested;                   /* functions in functions are there too */
    struct lines_scopes inlined;
    /* Once loaded, what scopes are read with: */
    const char **files; /* by number as in DW_AT_call_file and the line table */
    size_t file_count;
    Dwarf_Debug debug; /* of the file with the unit's functions */
    uint32_t number;   /* its number, for names */
    Dwarf_Die die,
        part; /* the unit's; of split debug information, that of its part in the other file (else NULL) */
    struct lines_ranges_source ranges;
};

/* Fills the tables but for inlined calls, skipping what is damaged. 0, -ENOMEM, or -EOVERFLOW: no work is left. */
int lines_unit_load(struct lines_source *source, struct lines_unit *unit);
/* Adds the functions that are in others. */
int lines_unit_nested(struct lines_source *source, struct lines_unit *unit);
/* Adds a function's inlined calls, once. */
int lines_unit_walk(struct lines_source *source, struct lines_unit *unit, struct lines_scope *function);
/* What a scope's function is called: */
struct lines_name {
    const char *shown, *linkage; /* as in struct line_frame */
    uint32_t start;
};
/* Of a scope of the unit; NULL: unknown. */
const struct lines_name *lines_unit_name(struct lines_source *source, const struct lines_unit *unit,
                                         const struct lines_scope *scope);
void lines_unit_free(struct lines_unit *unit);

#endif
