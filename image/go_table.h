/*
 * go_table.h - reads .gopclntab, which the Go linker writes and strip leaves. It has each function's name and,
 * for each PC, how far SP is below the return address, the file and line, and the inlined call (Go's
 * src/debug/gosym/pclntab.go, src/runtime/symtab.go; the formats of Go 1.2, 1.16, 1.18 and 1.20). Private to
 * image/.
 */
#ifndef FATHOM_IMAGE_GO_TABLE_H
#define FATHOM_IMAGE_GO_TABLE_H

#include "base/bytes.h"
#include "image/elf/elf_file.h"

#define GO_MAGIC_1_20 0xfffffff1u /* of the last of these formats */

struct go_table {
    const uint8_t *data; /* the section; NULL: the file has no such table, or one of an unknown format */
    size_t size;
    uint32_t magic;                 /* format; 0: none */
    uint32_t count;                 /* functions */
    uint8_t quantum;                /* bytes of the shortest instruction */
    bool relative;                  /* function entries are relative to `text`: Go 1.18 and later */
    uint64_t address;               /* of the section */
    uint64_t text;                  /* address */
    uint64_t names, pcs, functions; /* offsets in the section */
    uint64_t units, files;          /* the same; names end where units begin, files where pcs begin. 1.2: 0 */
};

struct go_function {
    uint64_t address, size; /* size: up to the next function */
    const char *name;       /* borrowed from the file */
    bool outermost;         /* TOPFRAME: it has no caller */
    bool writes_sp;         /* SPWRITE: it changes to another stack; not set before Go 1.17 */
    struct bytes deltas;    /* for go_delta_next() */
    /* Go 1.16 and later: */
    uint32_t files, lines; /* for go_value_at() */
    uint32_t calls;        /* the same; for the indexes in the tree of inlined calls; 0: it has none */
    uint32_t unit;         /* for go_table_file() */
    uint64_t
        tree; /* of inlined calls: address, or distance from moduledata.gofunc if `relative`; GO_NO_TREE */
};

#define GO_NO_TREE UINT64_MAX

/* A range of addresses with one frame size. */
struct go_delta {
    uint64_t start, end; /* addresses */
    int64_t value;       /* return address - SP */
};

/* false: the file has no table of a known format. out->magic: the unknown format, or 0. */
bool go_table_open(const struct elf_file *file, struct go_table *out);
/* i < count. false: the table is damaged. */
bool go_table_function(const struct go_table *table, uint32_t i, struct go_function *out);
/* Advances to the next range; start with *delta zeroed. false: there are no more. */
bool go_delta_next(const struct go_table *table, struct go_function *function, struct go_delta *delta);
/* Finds the function at an address, by a binary search. */
bool go_table_find(const struct go_table *table, uint64_t address, struct go_function *out);
/* The range that contains an address in one of the function's tables, and its value. false: none. *steps: the
 * number of ranges that may be read; updated to what is left. */
bool go_range_at(const struct go_table *table, const struct go_function *function, uint32_t values,
                 uint64_t address, uint32_t *steps, struct go_delta *out);
/* The value at an address in one of the function's tables; -1: none. */
int32_t go_value_at(const struct go_table *table, const struct go_function *function, uint32_t values,
                    uint64_t address, uint32_t *steps);
/* The name at this offset, borrowed from the file; NULL: no name begins there. */
const char *go_table_name(const struct go_table *table, uint32_t name);
const char *go_table_file(const struct go_table *table, const struct go_function *function, uint32_t number);

#endif
