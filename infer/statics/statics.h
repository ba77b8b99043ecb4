/*
 * statics.h - the calls that the binaries show (image/calls/calls.h), between the functions of a trie: edges for
 * the automaton where training saw nothing.
 *
 * Direct calls, calls of other images by symbol (an IFUNC's choices all), and what their targets jump to in
 * their stead. Where stacks begin nothing else calls. Calls through pointers lead to classes of functions:
 * those that stand in objects of data where the pointer was read (field), and all whose address is taken.
 * Where stacks begin (starts.h) there are edges of STATIC_ROOT.
 */
#ifndef FATHOM_INFER_STATICS_STATICS_H
#define FATHOM_INFER_STATICS_STATICS_H

#include "image/cache.h"
#include "infer/samples/settings.h"
#include "pathmap/map/trie.h"

#define STATIC_ROOT (UINT32_MAX - 1) /* as a caller: the stack's base */

struct static_edge {
    uint32_t callee, caller; /* functions of the trie; no callee in a class */
    uint32_t rise;           /* bytes from the caller's CFA down to the callee's; the least when `open` */
    bool open;               /* the caller's frame has no fixed size: the rise can be more */
    uint64_t site;           /* the return address in the caller's image */
    uint32_t through; /* one more than the function that jumps to the callee in its own stead; 0: none */
};

/* A function that ends by a jump to another, which then runs in its place: who calls `from` calls `to`. */
struct static_jump {
    uint32_t from, to; /* to: a function; in a class TRIE_NONE */
};

/* Calls through pointers and the functions that all of them can lead to, each as likely as the others. A call
 * is in the class of its field, where there is one, and in one of those that lead to all taken functions. */
struct static_class {
    int32_t field; /* as in struct call_site; CALL_NO_FIELD: any function whose address is taken */
    double share;  /* how likely a call of it leads to one of its targets: those of the field are likelier */
    struct static_edge *edges;
    size_t count;
    struct static_jump *jumps; /* of functions that end by a jump through such a pointer */
    size_t jump_count;
    uint32_t *targets; /* functions of the trie, ascending; never none */
    size_t target_count;
};

/* What a stack begins with: an edge of STATIC_ROOT leads to it. */
struct static_start {
    uint32_t function;
    enum setting_start start;
    bool only; /* it stands nowhere else */
};

struct statics { /* malloc'ed: statics_free() */
    struct static_edge *edges;
    size_t count;
    struct static_jump *jumps;
    size_t jump_count;
    struct static_class *classes;
    size_t class_count;
    struct static_start *starts;
    size_t start_count;
    uint32_t *ends; /* functions that never return, so that a process calls them once at most */
    size_t end_count;
    uint32_t *exported; /* functions that other code can ask for by name (dlsym), but for the loader's */
    size_t exported_count;
    uint32_t *resolvers; /* functions that the loader asks what to call, and no other pointer leads to */
    size_t resolver_count;
    uint32_t *threads; /* functions in which threads start: edges of STATIC_ROOT that no main thread has */
    size_t thread_count;
};

/* Of all images in the cache, whose functions are added to the trie. settings (NULL: unknown) tell which of
 * them were in one process, since calls lead to no others. 0 or -ENOMEM. */
int statics_build(struct trie *trie, const struct image_cache *images, const struct settings *settings,
                  struct statics *out, struct fathom_error *err);
void statics_free(struct statics *statics);

#endif
