/*
 * near.h - leaves those nodes of the callers that a walk outwards from the CIDs that are asked for comes to with a
 * probability that counts: what is beyond can be most of a large program, and changes no answer by much.
 *
 * A walk's probability is here the product of its calls', each two and a half times the greatest that it can have and 1 at
 * most: a call that most others are does not count, or deep recursions would be lost. Heights are not looked at: reach.h does
 * that for what is left.
 */
#ifndef FATHOM_INFER_MODEL_NEAR_H
#define FATHOM_INFER_MODEL_NEAR_H

#include "infer/model/reach.h"

/* Takes the others out, and gives the CIDs (whose nodes are the map's functions) the numbers of the nodes that are left. least:
 * of a walk's probability. 0 or -ENOMEM. */
int near_keep(struct callers *callers, struct reach_cid *cids, size_t count, double least, struct work *work);

#endif
