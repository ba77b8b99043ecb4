/*
 * shorten.h - shortens long function names (C++) to the available columns.
 */
#ifndef FATHOM_REPORT_TEXT_SHORTEN_H
#define FATHOM_REPORT_TEXT_SHORTEN_H

#include <stddef.h>

#define SHORTEN_LEAST 16 /* names are not made shorter than this */

/* A copy of the name of at most `capacity` bytes (at least SHORTEN_LEAST): unchanged if it fits, otherwise with
 * "(..)" for arguments, then also "<..>" for template arguments, and finally "..." for its middle. Those of
 * "operator<" and "(anonymous namespace)" do not count as brackets. The caller frees it; NULL: out of memory.
 */
char *name_shorten(const char *name, size_t capacity);

#endif
