/*
 * weight.h - formats weights for people: times as "3.49 s", large counts as "34.9 M".
 */
#ifndef FATHOM_REPORT_TEXT_WEIGHT_H
#define FATHOM_REPORT_TEXT_WEIGHT_H

#include <stdint.h>

#define WEIGHT_NS   "ns" /* the unit of weights that are times */
#define WEIGHT_SIZE 24   /* characters with the NUL */

/* Times have three digits and a unit, counts below ten million are exact, larger ones have three digits. Returns `text`. */
const char *weight_format(char text[WEIGHT_SIZE], uint64_t weight, const char *unit);
/* The heading of a column of weights. */
const char *weight_title(const char *unit);
/* The column's width: fits the title and each weight up to the largest. */
int weight_width(uint64_t largest, const char *unit);

#endif
