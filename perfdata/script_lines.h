/* script_lines.h - the source line of an instruction, from the line tables of code objects. */
#ifndef FATHOM_PERFDATA_SCRIPT_LINES_H
#define FATHOM_PERFDATA_SCRIPT_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Instructions of one line; they begin where the previous row's end. */
struct script_row {
    uint32_t end;  /* bytes from the code's first instruction */
    uint32_t line; /* 0: none */
};

/* The rows of a table of CPython 3.11 or later (Objects/locations.md), up to a damaged part. size: of the table, in bytes,
 * below 64 KB as in records; out: space for as many rows. first: the code's first line. Returns their number. O(size). */
size_t python_rows(const uint8_t *table, size_t size, uint32_t first, struct script_row *out);
/* The same for Ruby's table (script_record.h). out: space for `most` rows. O(words of instructions), at most 7 per byte of the
 * table. */
size_t ruby_rows(const uint8_t *table, size_t size, struct script_row *out, size_t most);
/* The line of the instruction `at`, in bytes from the first one; 0: unknown. O(log count). */
uint32_t script_line(const struct script_row *rows, size_t count, uint32_t at);

#endif
