/*
 * online.h - the contexts of samples while they are recorded, one record at a time, for a live view.
 *
 * It does what the engine (engine.h) does in several passes, as far as one pass can:
 * - a sample whose stack was read, or is one that was read before, has the path that was unwound;
 * - any other gets one of the paths seen so far (or in a given map) with its CID: the one that shares most with its
 *   thread's last path, and of several such, the one seen most often.
 * No path is inferred that was not seen; nothing is learned from samples without a stack, and later samples do not change
 * earlier ones. If no known path has the sample's CID, only its function is known.
 *
 * Memory is bounded: with ONLINE_NODES nodes, no new stacks are learned.
 */
#ifndef FATHOM_INFER_LIVE_ONLINE_H
#define FATHOM_INFER_LIVE_ONLINE_H

#include "base/log.h"
#include "image/cache.h"
#include "infer/contexts/certainty.h"
#include "pathmap/map/pathmap.h"
#include "perfdata/order.h"
#include "process/process.h"

#define ONLINE_NODES (1u << 19) /* of paths: about 30 MB */

struct online_context {
    const struct sample *sample;
    const struct process *process; /* NULL: unknown */
    enum certainty certainty;      /* if unknown: depth is 0, or 1 if the function is known */
    double sure;                   /* probability that it is this path: 1 if proved; 0 if not known */
    /* numbers of online_trie(), from the root inwards; valid during the call */
    const uint32_t *functions;
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
    uint32_t counted[2];       /* the events whose samples count; 0, 0: the main event's only */
    online_sink *sink;
    void *context;
};

struct online;

int online_new(const struct online_input *input, struct online **out, struct fathom_error *err);
void online_free(struct online *online); /* NULL is allowed */
/* Raw records, as the collector passes them on. */
int online_add(struct online *online, const void *records, size_t size, struct fathom_error *err);
/* No more records will come: takes those that were held back to be sorted. */
int online_finish(struct online *online, struct fathom_error *err);
/* Sets what is known by now about code that was made at run time (image/made/code_names.h; copied). Samples from now on have
 * these names. */
int online_name_code(struct online *online, const void *data, size_t size, struct fathom_error *err);
/* The trie that function numbers refer to. */
const struct trie *online_trie(const struct online *online);

struct online_summary {
    uint64_t samples, weight;  /* that count */
    uint64_t proved, inferred; /* weight */
    uint64_t stacks;           /* unwound */
    uint64_t lost;             /* records */
    uint32_t nodes;            /* of known paths */
    bool full;                 /* ONLINE_NODES reached: nothing more is learned */
    bool scripts_apart;        /* interpreters' functions were read at other moments than the samples */
};
/* Resets the counts; what was learned stays. */
void online_restart(struct online *online);
void online_summary(const struct online *online, struct online_summary *out);

#endif
