/*
 * entry_checks.h - chooses functions at whose entries to check for the next burst, such that however a program
 * runs, one of them is entered again and again (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001, section 4.1).
 *
 * These are functions that call something and that nothing in the image calls (roots), whose address is taken, or
 * that are called recursively from below: by a caller in the same strongly connected component that is at least
 * as far from the roots.
 */
#ifndef FATHOM_IMAGE_CALLS_ENTRY_CHECKS_H
#define FATHOM_IMAGE_CALLS_ENTRY_CHECKS_H

#include "image/calls/calls.h"

/* *out has an element for each function of the image; the caller frees it. 0 or -ENOMEM. */
int calls_entry_checks(const struct image *image, const struct calls *calls, bool **out);

#endif
