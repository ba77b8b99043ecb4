/*
 * openness.h - whether the world is closed: whether this run makes only the calls that training saw.
 *
 * Where training saw every call (hooked images), what it did not see is taken for impossible, as it is when
 * inputs are of one kind. An entry that was never trained brings new paths, and CIDs that are known belong to
 * other paths then. What tells are samples of hooked images whose CID training never saw.
 */
#ifndef FATHOM_INFER_MODEL_OPENNESS_H
#define FATHOM_INFER_MODEL_OPENNESS_H

#include "infer/samples/survey.h"
#include "pathmap/map/pathmap.h"

/* The world is open from this share of samples on. */
#define OPENNESS_LEAST 0.05

/* Whether training saw every call into one of the map's images. */
bool openness_hooked(const struct pathmap *map);
/* The share of the survey's samples in hooked images whose CID training did not see; 1 when it hooked none,
 * or trained is NULL. map: over the trie that the survey's numbers are of, into which `trained` was merged. */
double openness_of(const struct survey *survey, const struct pathmap *map, const struct pathmap *trained);

#endif
