#ifndef FATHOM_TESTS_PATHMAP_CYG_CALLS_H
#define FATHOM_TESTS_PATHMAP_CYG_CALLS_H

int cyg_calls_framed(void);    /* with frame pointers */
int cyg_calls_optimised(void); /* without */

#endif
