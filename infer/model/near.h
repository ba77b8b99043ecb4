/*
 * near.h - restricts the callers to nodes that a walk outwards from the requested CIDs reaches with a sufficient probability:
 * the rest can be most of a large program, and changes no answer by much.
 *
 * A walk's probability is here the product of its calls', each of them two and a half times its own, but at most 1: deep
 * recursions would be lost otherwise. Heights are ignored: reach.h considers them for what remains.
 */
#ifndef FATHOM_INFER_MODEL_NEAR_H
#define FATHOM_INFER_MODEL_NEAR_H

#include "infer/model/reach.h"

/* Removes the other nodes, and replaces the CIDs' nodes (functions of the map) with their new numbers. least: a walk's minimum
 * probability. 0 or -ENOMEM. */
int near_keep(struct callers *callers, struct reach_cid *cids, size_t count, double least, struct work *work);

#endif
