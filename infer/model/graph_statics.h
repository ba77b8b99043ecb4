/*
 * graph_statics.h - the calls that the binaries show (statics.h) as a graph takes them: in the numbers of a
 * map, and with each tail jump the calls that training saw of the function that jumps.
 */
#ifndef FATHOM_INFER_MODEL_GRAPH_STATICS_H
#define FATHOM_INFER_MODEL_GRAPH_STATICS_H

#include "infer/model/graph.h"
#include "infer/statics/statics.h"

/* to_map: the map's number of each of the trie's functions, PATHMAP_NONE for those that it has not. *out is
 * the caller's: graph_calls_free(). 0 or -ENOMEM. */
int graph_calls_of(const struct pathmap *map, const struct statics *statics, const uint32_t *to_map,
                   struct graph_calls *out);
void graph_calls_free(struct graph_calls *calls);

#endif
