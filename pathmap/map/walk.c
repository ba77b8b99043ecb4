/* walk.c - see walk.h. Nodes are sorted by CID, so callers that are not visited yet are collected first. */
#include "pathmap/map/walk.h"

#include <stdlib.h>

int pathmap_walk(const struct pathmap *map,
                 int (*visit)(void *context, uint32_t node, struct fathom_error *err), void *context,
                 struct fathom_error *err)
{
    uint32_t count = pathmap_node_count(map);
    uint32_t *pending = malloc((count + 1ul) * sizeof *pending);
    bool *visited = calloc(count + 1ul, sizeof *visited);
    int rc = pending && visited ? 0 : error_memory(err);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        uint32_t n = 0;
        for (uint32_t at = i; at != PATHMAP_NONE && !visited[at]; at = pathmap_node(map, at).parent) {
            visited[at] = true;
            pending[n++] = at;
        }
        while (n && rc == 0)
            rc = visit(context, pending[--n], err);
    }
    free(pending);
    free(visited);
    return rc;
}
