/* slips.h - finds the name that was probably meant, for "did you mean". */
#ifndef FATHOM_BASE_SLIPS_H
#define FATHOM_BASE_SLIPS_H

#include <stdbool.h>

#define SLIPS_NAME 128 /* bytes of the longest name that is compared */
#define SLIPS_MOST 2u  /* letters */

/* The least number of characters to insert, delete, replace or swap with a neighbour to turn one name into the other. `most` + 1: more
 * than `most`. folded: case is ignored, and '-' equals '_'. */
unsigned slips_between(const char *a, const char *b, bool folded, unsigned most);

/* Whether the typed word differs from the name in fewer letters than *fewest, and than half of the name; then *fewest becomes their number.
 * Initialise *fewest to SLIPS_MOST + 1. */
bool slips_are_few(const char *typed, const char *name, unsigned *fewest);

#endif
