/*
 * entry_checks.h - where a program that calls more and more functions is noticed: functions of which one is entered again
 * and again, whatever the program does (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001, section 4.1).
 *
 * They are those that call something and that nothing in the image calls (roots), whose address is taken, or that have
 * recursion from below: a caller in the same strongly connected component that is at least as far from the roots.
 */
#ifndef FATHOM_IMAGE_CALLS_ENTRY_CHECKS_H
#define FATHOM_IMAGE_CALLS_ENTRY_CHECKS_H

#include "image/calls/calls.h"

/* *out has an element for each function of the image; the caller frees it. 0 or -ENOMEM. */
int calls_entry_checks(const struct image *image, const struct calls *calls, bool **out);

#endif
