/* origin.h - the source line of an instruction. Private to report/. */
#ifndef FATHOM_REPORT_ANNOTATE_ORIGIN_H
#define FATHOM_REPORT_ANNOTATE_ORIGIN_H

#include "image/lines/lines.h"

enum { INLINED_MOST_SHOWN = 32 }; /* functions at one address */

/* Texts are borrowed from struct lines. */
struct origin {
    const char *file, *function; /* of the innermost function inlined there; NULL: unknown */
    uint32_t line;
    bool inlined;
    const char *own_file; /* in the function itself, where the outermost of them is inlined; NULL: unknown */
    uint32_t own_line;
};

/* lines: NULL: nothing is known. */
struct origin origin_at(struct lines *lines, uint64_t address);
/* Whether it is the same line in the same function. (Texts of struct lines are interned.) */
bool origin_same(const struct origin *a, const struct origin *b);
/* A hash for tables. */
uint64_t origin_key(const struct origin *origin);

#endif
