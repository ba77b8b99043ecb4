/* slips.h - finds the name that was probably meant, for "did you mean". */
#ifndef FATHOM_CLI_SLIPS_H
#define FATHOM_CLI_SLIPS_H

#include <stdbool.h>

#define SLIPS_MOST 2u /* letters */

/* Whether the typed word differs from the name in fewer letters than *fewest, and than half of the name; then *fewest becomes their number.
 * Initialise *fewest to SLIPS_MOST + 1. */
bool slips_are_few(const char *typed, const char *name, unsigned *fewest);

#endif
