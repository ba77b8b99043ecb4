/*
 * go_lines.h - lines and inlined functions of an address by Go's own table (image/go_table.h), which strip
 * leaves: Go 1.16 and later. The runtime prints its tracebacks by it, so it has the inlined functions of each
 * instruction; DWARF, in which Go's compiler writes ranges, is not used where the table has an answer. Private to
 * image/.
 */
#ifndef FATHOM_IMAGE_LINES_GO_LINES_H
#define FATHOM_IMAGE_LINES_GO_LINES_H

#include "image/go_table.h"
#include "image/lines/lines.h"

struct go_lines {
    const struct elf_file *file; /* borrowed, as are all names; NULL: it has no such table */
    struct go_table table;
    uint64_t trees; /* base address of the trees of inlined calls; 0: none */
};

/* false: the file has no table with inlined calls. */
bool go_lines_open(const struct elf_file *file, struct go_lines *out);
/* As lines_at(). 0: not an address of Go's code, or its table is damaged there. */
size_t go_lines_at(const struct go_lines *lines, uint64_t address, struct line_frame *out, size_t max);

#endif
