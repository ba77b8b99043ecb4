/*
 * script_lines.h - the source line of an instruction, by the tables of code objects.
 */
#ifndef FATHOM_PERFDATA_SCRIPT_LINES_H
#define FATHOM_PERFDATA_SCRIPT_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Instructions of one line; they begin where those of the row before end. */
struct script_row {
    uint32_t end;  /* bytes from the code's first instruction on */
    uint32_t line; /* 0: none */
};

/* The rows of a table of CPython 3.11 or later (Objects/locations.md), up to what is damaged in it. size: of the table, in bytes, below 64 KB
 * as a record's; out: room for as many rows. first: the code's first line. Returns how many there are. O(size). */
size_t python_rows(const uint8_t *table, size_t size, uint32_t first, struct script_row *out);
/* Likewise, of Ruby's table (script_record.h). out: room for `most` rows. O(words of instructions), which is at most 7 for each byte of the table. */
size_t ruby_rows(const uint8_t *table, size_t size, struct script_row *out, size_t most);
/* The line of the instruction `at`, bytes from the first one on; 0: the rows do not tell. O(log count). */
uint32_t script_line(const struct script_row *rows, size_t count, uint32_t at);

#endif
