/*
 * online.h - the contexts of samples while they are recorded, one record at a time, for a live view.
 *
 * It is what the engine (engine.h) does in several passes, as far as one pass can:
 *   - a sample whose stack was read, or is one that was read before, has the path that was unwound;
 *   - any other has, of the paths seen so far (and those of a given map) with its CID, the one that shares most with the
 *     path that its thread had last, and of several such, the one seen most often. No path is inferred that was not
 *     seen; nothing is learned from samples without a stack, and no later sample tells anything about an earlier one.
 * Of a sample whose CID no known path has, the function alone is known.
 *
 * What is learned is bounded: with ONLINE_NODES nodes, no new stacks are learned.
 */
#ifndef FATHOM_INFER_LIVE_ONLINE_H
#define FATHOM_INFER_LIVE_ONLINE_H

#include "base/log.h"
#include "image/cache.h"
#include "infer/contexts/certainty.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/order.h"
#include "process/process.h"

#define ONLINE_NODES (1u << 19) /* of paths: some 30 MB */

struct online_context {
    const struct sample *sample;
    const struct process *process; /* NULL: unknown */
    enum certainty certainty;      /* unknown: depth is 0, or 1 if its function is known */
    double sure;                   /* that it is this path: 1 if proved; 0 if that is not known */
    const uint32_t *functions;     /* numbers of online_trie(), from the root inwards; during the call */
    size_t depth;
};

/* Called for each sample that counts, in time order. A negative result ends the run. */
typedef int online_sink(void *context, const struct online_context *sample, struct fathom_error *err);

struct online_input { /* all borrowed */
    const struct event *events;
    size_t count;
    struct image_cache *images;
    const struct log *log;
    const struct pathmap *map; /* NULL: none */
    uint32_t counted[2];       /* the events whose samples count; 0, 0: those of the main one alone */
    online_sink *sink;
    void *context;
};

struct online;

int online_new(const struct online_input *input, struct online **out, struct fathom_error *err);
void online_free(struct online *online); /* NULL is allowed */
/* Raw records, as the collector passes them on. */
int online_add(struct online *online, const void *records, size_t size, struct fathom_error *err);
/* No more records come: takes those that were held back, as others could have been before them. */
int online_finish(struct online *online, struct fathom_error *err);
/* What is known by now of code that was made at run time (image/made/code_names.h), which is copied. Samples from now on have these names. */
int online_name_code(struct online *online, const void *data, size_t size, struct fathom_error *err);
/* What the numbers of functions are of. */
const struct trie *online_trie(const struct online *online);

struct online_summary {
    uint64_t samples, weight;  /* of what counts */
    uint64_t proved, inferred; /* weight */
    uint64_t stacks;           /* unwound */
    uint64_t lost;             /* records */
    uint32_t nodes;            /* of known paths */
    bool full;                 /* ONLINE_NODES: no more are learned */
    bool scripts_apart;        /* what interpreters run was read at other instants than the samples' */
};
/* Counts samples anew; what was learned stays. */
void online_restart(struct online *online);
void online_summary(const struct online *online, struct online_summary *out);

#endif
