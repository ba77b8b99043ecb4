/*
 * probe_tree.h - a store as text, for tests: one line per path, "outermost function ... innermost count".
 */
#ifndef FATHOM_TESTS_PATHMAP_PROBE_TREE_H
#define FATHOM_TESTS_PATHMAP_PROBE_TREE_H

#include <stdint.h>

#include "pathmap/wire/store.h"

/* Every path of the store, summed over trees, heights and sites, sorted; names[id] for ids below count, those
 * above have none. Paths through `without` (an id; 0: none) are left out. The caller frees. */
char *probe_tree(const char *path, const char *const *names, uint32_t count, uint32_t without);

/* Calls `each` for every node in use. Returns the number of nodes. */
uint64_t probe_nodes_each(const char *path,
                          void (*each)(const struct store_node *nodes, const struct store_node *node, void *),
                          void *context);
struct store_header probe_header(const char *path);

/* The only file in the directory that begins with "store-PID-"; static memory. */
const char *probe_store(const char *directory, int pid);

#endif
