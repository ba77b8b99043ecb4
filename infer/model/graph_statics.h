/* graph_statics.h - converts the calls in the binaries (statics.h) for a graph. */
#ifndef FATHOM_INFER_MODEL_GRAPH_STATICS_H
#define FATHOM_INFER_MODEL_GRAPH_STATICS_H

#include "infer/model/graph.h"
#include "infer/statics/statics.h"

/* The caller frees *out: graph_calls_free(). 0 or -ENOMEM. */
int graph_calls_of(const struct statics *statics, struct graph_calls *out);
/* Sorts calls as a graph needs them: by callee, those from fixed frames first, then like edges. graph_calls_of() does so. 0 or
 * -ENOMEM. */
int graph_calls_sort(struct graph_calls *calls);
void graph_calls_free(struct graph_calls *calls);

#endif
