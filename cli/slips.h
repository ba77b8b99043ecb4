/* slips.h - names that were probably meant, for "did you mean". */
#ifndef FATHOM_CLI_SLIPS_H
#define FATHOM_CLI_SLIPS_H

#include <stdbool.h>

#define SLIPS_MOST 2u /* letters */

/* Whether what was typed is fewer slips away from the name than `*fewest`, and than half of its letters: then *fewest is how many. At first it is
 * SLIPS_MOST + 1. */
bool slips_are_few(const char *typed, const char *name, unsigned *fewest);

#endif
