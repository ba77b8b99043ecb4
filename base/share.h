/* share.h - a part of a whole, as text. */
#ifndef FATHOM_BASE_SHARE_H
#define FATHOM_BASE_SHARE_H

#include <stdint.h>

/* Tenths of a percent, rounded; 1 to 999 for any part other than none and all. */
unsigned share_tenths(uint64_t part, uint64_t whole);

#define SHARE_SIZE 8 /* characters with the NUL */
/* "12.3%"; "<0.1%" rather than "0.0%" if not zero, and "100.0%" only for the whole. Returns `text`. */
const char *share_format(char text[SHARE_SIZE], uint64_t part, uint64_t whole);
/* The same with a bound: "12.3% +-0.4". Plain when the bound is 0. */
#define SHARE_BOUND_SIZE  (2 * SHARE_SIZE + 4)
#define SHARE_BOUND_WIDTH 14 /* of the longest, "100.0% +-100.0" */
const char *share_bound_format(char text[SHARE_BOUND_SIZE], uint64_t part, uint64_t bound, uint64_t whole);

#endif
