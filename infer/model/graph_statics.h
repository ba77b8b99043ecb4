/*
 * graph_statics.h - the calls that the binaries show (statics.h) as a graph takes them: with each tail jump
 * the calls that training saw of the function that jumps.
 */
#ifndef FATHOM_INFER_MODEL_GRAPH_STATICS_H
#define FATHOM_INFER_MODEL_GRAPH_STATICS_H

#include "infer/model/graph.h"
#include "infer/statics/statics.h"

/* map: over the statics' trie, all of whose functions it has. *out is the caller's: graph_calls_free(). 0 or
 * -ENOMEM. */
int graph_calls_of(const struct pathmap *map, const struct statics *statics, struct graph_calls *out);
/* Puts calls in the order in which a graph takes them: by callee, those of fixed frames first, then as edges are. graph_calls_of()
 * has done so. 0 or -ENOMEM. */
int graph_calls_sort(struct graph_calls *calls);
void graph_calls_free(struct graph_calls *calls);

#endif
