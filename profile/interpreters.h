/*
 * interpreters.h - whether a profile's paths are those of an interpreter or virtual machine, whose frames say nothing of the functions
 * of the program that it runs.
 */
#ifndef FATHOM_PROFILE_INTERPRETERS_H
#define FATHOM_PROFILE_INTERPRETERS_H

#include "profile/contexts.h"

/* The file of the interpreter that most of this weight is below, but for what is below functions that it runs
 * (FRAME_SCRIPT, or code made at run time that has a name), if it is more than what such functions have, and INTERPRETED_LEAST of what is known; NULL: none. The string is the
 * frames'. */
const char *interpreter_in(const struct contexts *contexts);

/* Whether functions of this language (enum script_language) are among the frames. */
bool interpreters_run(const struct contexts *contexts, unsigned language);

#define INTERPRETED_LEAST 0.05 /* below it, the program is one that can be extended in the language */

#endif
