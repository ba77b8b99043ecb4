/*
 * interpreters.h - whether a profile's paths are those of an interpreter or virtual machine, whose frames do not show the
 * functions of the program that it runs.
 */
#ifndef FATHOM_PROFILE_INTERPRETERS_H
#define FATHOM_PROFILE_INTERPRETERS_H

#include "profile/contexts.h"

/* The file of the interpreter that has the most weight below it, not counting what is below functions that it runs
 * (FRAME_SCRIPT, or named code made at run time), if that is more than the weight of these functions, and at least
 * INTERPRETED_LEAST of the known weight; NULL: none. The string belongs to the frames. */
const char *interpreter_in(const struct contexts *contexts);

/* Whether any frame is a function of this language (enum script_language). */
bool interpreters_run(const struct contexts *contexts, unsigned language);

/* below this share, the program is one that can merely be extended in the language */
#define INTERPRETED_LEAST 0.05

#endif
