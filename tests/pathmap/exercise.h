/* exercise.h - for the tests and the fuzz target of hostile maps: right checksums, and every question
 * asked. */
#ifndef FATHOM_TESTS_PATHMAP_EXERCISE_H
#define FATHOM_TESTS_PATHMAP_EXERCISE_H

#include "pathmap/map/pathmap.h"

/* Makes the checksums (and the file's size in the header) agree with the bytes, as far as sections lie
 * inside. */
void fmap_mend(void *data, size_t size);
/* Asks the map everything, with numbers inside and outside, and merges it into a trie. Aborts when an answer
 * breaks a promise of pathmap.h. */
void fmap_exercise(const struct pathmap *map);

#endif
