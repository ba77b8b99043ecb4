/*
 * admission.h - which paths of a map can be in which setting (settings.h).
 *
 * A path can be where
 *   - all of its functions' files are mapped;
 *   - it begins as the stack does: a program's `_start` has height STARTS_START, what the loader runs before
 *     and a thread's first function STARTS_THREAD. `_start` and a thread's first function stand nowhere but
 *     at a root, and coroutines begin with none of these;
 *   - the first function of a thread has called what the thread was started with, when that is known, or one
 *     of those that its own code calls.
 * Paths of a map that leaves out frames (pathmap_leaves_out()) can begin with others, at other heights.
 */
#ifndef FATHOM_INFER_CONTEXTS_ADMISSION_H
#define FATHOM_INFER_CONTEXTS_ADMISSION_H

#include "infer/samples/settings.h"
#include "infer/statics/statics.h"
#include "pathmap/map/pathmap.h"

struct admission;

/* Of a map over the trie whose functions the settings and statics name. statics: tell where stacks begin; NULL:
 * unknown. Settings and map are borrowed; settings that are added later are not known to it. NULL: out of
 * memory. */
struct admission *admission_new(const struct settings *settings, const struct pathmap *map,
                                const struct statics *statics);
void admission_free(struct admission *admission);
/* The first of the settings in which the same paths can be; SETTING_ANY for one that was added later. Other
 * functions are not to be asked about such a one. */
uint32_t admission_alike(const struct admission *admission, uint32_t setting);
/* Whether a function can stand below this caller (PATHMAP_NONE: at the root) there, as far as these two
 * tell. */
bool admission_fits(const struct admission *admission, uint32_t setting, uint32_t function, uint32_t height,
                    uint32_t caller);
/* Whether the path of the map's node can be there. */
bool admission_allows(const struct admission *admission, uint32_t setting, uint32_t node);
/* The same for all nodes of the map. malloc'ed; NULL: out of memory. */
bool *admission_nodes(const struct admission *admission, uint32_t setting);
/* Whether the function's file is mapped there. */
bool admission_has(const struct admission *admission, uint32_t setting, uint32_t function);
/* Whether the function can stand at a root there. */
bool admission_begins(const struct admission *admission, uint32_t setting, uint32_t function,
                      uint32_t height);
/* Whether the caller, as the first function of a thread, can call through a pointer what was not seen. */
bool admission_calls(const struct admission *admission, uint32_t setting, uint32_t caller);

#endif
