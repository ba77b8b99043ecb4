/*
 * script_lines.h - the source line of an instruction, by the tables of code objects.
 */
#ifndef FATHOM_PERFDATA_SCRIPT_LINES_H
#define FATHOM_PERFDATA_SCRIPT_LINES_H

#include <stddef.h>
#include <stdint.h>

/* By the table of CPython 3.11 and later (Objects/locations.md). first: the code's first line; at: bytes from its first instruction on. 0: the
 * table does not tell. */
uint32_t python_line(const uint8_t *table, size_t size, uint32_t first, uint32_t at);

#endif
