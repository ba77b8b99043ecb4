/*
 * admission.h - which paths of a map can be in which setting (settings.h).
 *
 * A path is possible in a setting if
 * - the files of all its functions are mapped;
 * - it begins as the stack does: a program's `_start` has height STARTS_START; what the loader runs before it, and a
 *   thread's first function, have STARTS_THREAD. `_start` and a thread's first function occur only at a root, and
 *   coroutines begin with neither;
 * - a thread's first function has called the function that the thread was started with, if known, or one that its own
 *   code calls.
 * In a map that leaves out frames (pathmap_leaves_out()), paths can begin with other functions, at other heights.
 */
#ifndef FATHOM_INFER_CONTEXTS_ADMISSION_H
#define FATHOM_INFER_CONTEXTS_ADMISSION_H

#include "infer/samples/settings.h"
#include "infer/statics/statics.h"
#include "pathmap/map/pathmap.h"

struct admission;

/* For a map over the trie whose functions the settings and statics refer to. statics: where stacks begin; NULL: unknown.
 * Settings and map are borrowed; settings added later are unknown to it. NULL: out of memory. */
struct admission *admission_new(const struct settings *settings, const struct pathmap *map,
                                const struct statics *statics);
void admission_free(struct admission *admission);
/* The first of the settings that admit the same paths; SETTING_ANY for a setting added later, which must not
 * be passed to the other functions. */
uint32_t admission_alike(const struct admission *admission, uint32_t setting);
/* Whether a function can be below this caller (PATHMAP_NONE: at the root) in the setting, judging by these
 * two alone. */
bool admission_fits(const struct admission *admission, uint32_t setting, uint32_t function, uint32_t height,
                    uint32_t caller);
/* Whether the path of the map's node is possible in the setting. */
bool admission_allows(const struct admission *admission, uint32_t setting, uint32_t node);
/* The same for all nodes of the map. malloc'ed; NULL: out of memory. */
bool *admission_nodes(const struct admission *admission, uint32_t setting);
/* Whether the function's file is mapped in the setting. */
bool admission_has(const struct admission *admission, uint32_t setting, uint32_t function);
/* Whether the function can be at a root in the setting. */
bool admission_begins(const struct admission *admission, uint32_t setting, uint32_t function,
                      uint32_t height);
/* Whether the caller may have called a function through a pointer if no stack shows the call. A thread's first function may not
 * if the function that the thread was started with is known. */
bool admission_calls(const struct admission *admission, uint32_t setting, uint32_t caller);

#endif
