/*
 * statics.h - the static calls in the binaries (image/calls/calls.h), between the functions of a trie: edges
 * for the automaton where training saw nothing.
 *
 * Direct calls, calls of other images by symbol (all choices of an IFUNC), and the tail-call targets of
 * these. Functions that begin stacks have no other callers. Calls through pointers lead to classes of
 * functions: those in data objects at the offset where the pointer was read (field), and all whose address is
 * taken. Functions that begin stacks (starts.h) have edges from STATIC_ROOT.
 */
#ifndef FATHOM_INFER_STATICS_STATICS_H
#define FATHOM_INFER_STATICS_STATICS_H

#include "image/cache.h"
#include "infer/samples/settings.h"
#include "pathmap/map/trie.h"
#include "infer/statics/image_calls.h"

#define STATIC_ROOT (UINT32_MAX - 1) /* as a caller: the stack's base */

struct static_edge {
    uint32_t callee, caller; /* functions of the trie; the callee is unused in a class */
    uint32_t rise;           /* bytes from the caller's CFA down to the callee's; the minimum if `open` */
    bool open;               /* the caller's frame has no fixed size: the rise can be more */
    uint64_t site;           /* the return address in the caller's image */
    /* 1 + the function (the last of them) that jumps to the callee in its own stead; 0: none */
    uint32_t through;
};

/* A function that ends with a tail call: callers of `from` also call `to`. */
struct static_jump {
    uint32_t from, to;
};

/* Calls through pointers, and the functions that each of them can call with equal probability. A call is in the class of its
 * field, if it has one, and in one of the classes of all functions whose address is taken. */
struct static_class {
    int32_t field; /* as in struct call_site; CALL_NO_FIELD: any function whose address is taken */
    double share;  /* probability that a call reaches one of its targets: higher for a field */
    struct static_edge *edges;
    size_t count;
    uint32_t *targets; /* functions of the trie, ascending; at least one */
    size_t target_count;
};

/* A function that begins a stack: there is an edge from STATIC_ROOT to it. */
struct static_start {
    uint32_t function;
    enum setting_start start;
    bool only; /* it is never called otherwise */
};

struct statics {               /* malloc'ed: statics_free() */
    struct static_edge *edges; /* sorted: statics_sort() */
    size_t count;
    struct static_jump *jumps;
    size_t jump_count;
    struct static_class *classes;
    size_t class_count;
    struct static_start *starts;
    size_t start_count;
    uint32_t *ends; /* functions that never return, so that a process calls them at most once */
    size_t end_count;
    uint32_t *exported; /* functions that other code can look up by name (dlsym), except the loader's */
    size_t exported_count;
    uint32_t *resolvers; /* resolvers called by the loader, which no other pointer leads to */
    size_t resolver_count;
    uint32_t *threads; /* functions in which threads start: edges from STATIC_ROOT that do not apply to main
                          threads */
    size_t thread_count;
    bool left_out; /* some images' code is not read */
};

/* Which images' code is needed. */
struct statics_need {
    const uint64_t *samples; /* by the trie's images: samples in it whose paths are searched for */
    uint32_t count;
};

/* Builds the statics from all images in the cache, whose functions are added to the trie. calls: for these images, and for none
 * that was closed; if not all are read, those with the most samples per byte come first (need, NULL: small ones). settings
 * (NULL: unknown) say which images were in one process, since calls stay within these. work: NULL: no limit. 0 or -ENOMEM. */
int statics_build(struct trie *trie, const struct image_cache *images, struct image_calls *calls,
                  const struct settings *settings, const struct statics_need *need, struct work *work,
                  struct statics *out, struct fathom_error *err);
/* Sorts edges by callee, those from fixed frames first, then by caller, rise, `through` and site, as statics_build() does. false: out of
 * memory. */
bool statics_sort(struct statics *statics);
void statics_free(struct statics *statics);

#endif
