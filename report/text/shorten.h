/*
 * shorten.h - long names of functions (C++) in as much room as there is.
 */
#ifndef FATHOM_REPORT_TEXT_SHORTEN_H
#define FATHOM_REPORT_TEXT_SHORTEN_H

#include <stddef.h>

#define SHORTEN_LEAST 16 /* names get no shorter than this */

/* A copy of the name of at most `room` bytes (SHORTEN_LEAST where it is less): as it is when it fits,
 * otherwise with "(..)" for arguments, then "<..>" for template arguments too, and at last "..." for its
 * middle. "operator<" and "(anonymous namespace)" are no brackets. The caller frees it; NULL: out of
 * memory. */
char *name_shorten(const char *name, size_t room);

#endif
