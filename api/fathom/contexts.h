/*
 * contexts.h - a recording's samples with their calling contexts, one by one, or the hot ones in bounded memory.
 *
 * Paths include inlined functions where there is debug information. At most 64 MiB of it is read, in child processes that end before the
 * function returns.
 */
#ifndef FATHOM_CONTEXTS_H
#define FATHOM_CONTEXTS_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fathom_certainty {
    FATHOM_PROVED, /* shown by the sample's own stack or call chain, or by one with the same return addresses */
    FATHOM_INFERRED, /* the most probable path according to other samples, a map or the code: see `probability` */
    FATHOM_UNKNOWN, /* no path is known: frames holds only the sampled function, or nothing */
};

struct fathom_frame {
    const char *function; /* demangled, or "image+0xaddress" */
    const char *image;    /* the file's path */
    uint64_t address;     /* its entry: ELF virtual address in the image; 0: inlined into the frame before */
};

/* A possible call path of a sample. */
struct fathom_path {
    double probability;                /* of this path; all sum to at most 1, as it may be none of them */
    size_t depth;                      /* number of frames */
    const struct fathom_frame *frames; /* from the stack's root inwards */
};

struct fathom_walk; /* private to fathom_contexts() */

/* One sample with its inferred calling context; its pointers are valid only during the call. */
struct fathom_context {
    uint32_t pid, tid;
    uint64_t time;   /* ns, the perf clock */
    uint64_t weight; /* events that the sample stands for: its first metric */
    enum fathom_certainty certainty;
    double probability;                /* that this path is right (report's --min-confidence); 0: unknown */
    size_t depth;                      /* number of frames */
    const struct fathom_frame *frames; /* from the stack's root inwards */
    unsigned path_count; /* paths for fathom_context_path(), including the one above; 0 if unknown */
    struct fathom_walk *walk;
};

/* The path of this rank: 0 is the context's own, the others up to path_count - 1 are less and less probable. Call it only from a
 * fathom_context_function; *path is valid until the next call or the function's return. Errors, which leave *path unchanged:
 * -ERANGE: no such rank; -ENOMEM; -EBADMSG: a damaged map. */
FATHOM_API int fathom_context_path(const struct fathom_context *context, unsigned rank,
                                   struct fathom_path *path);

/* A quantity that is counted: a context's value is the sum over its samples. */
struct fathom_metric {
    const char *name; /* "weight", "samples", "latency", "allocations" */
    const char *unit; /* "ns" for times, else what is counted: "page-faults:u", "samples", "cycles" */
    uint64_t value;   /* of this sample */
};

/* The metrics of a sample, numbered from 0; all samples of a recording have the same. Call it only from a fathom_context_function; the
 * texts are valid until fathom_contexts() returns. -ERANGE: no such metric; *metric is unchanged. */
FATHOM_API int fathom_context_metric(const struct fathom_context *context, unsigned number,
                                     struct fathom_metric *metric);

/* Return 0 to go on; a negative value ends the run and is handed through. */
typedef int fathom_context_function(void *user, const struct fathom_context *context);

/* Reads a perf.data file and calls the function for each sample of its main event, in time order except for ambiguous samples, which
 * are delayed until later samples disambiguate them. map: a path map file; NULL: paths come from the recording's own stacks alone.
 * Errors: system errors; -ENOMSG, -EBADMSG, -ENOTSUP: not such a file, damaged, unsupported format. */
FATHOM_API int fathom_contexts(const char *recording, const char *map, fathom_context_function *function,
                               void *user, struct fathom_error *error);

/* Hot contexts in bounded memory, however long the recording is: those of phi or more of the whole weight. */
enum fathom_counter {
    FATHOM_SPACE_SAVING, /* Lazy Space Saving: weights are eps too large at most */
    FATHOM_LOSSY_COUNTING,
    FATHOM_STICKY_SAMPLING,    /* with a probability of 99% */
    FATHOM_PURGING,            /* the fastest; promises nothing beforehand, and may end in -ERANGE */
    FATHOM_BUCKET_SPACE_SAVING /* as the first, with a list of buckets */
};

struct fathom_hot_options {
    double phi; /* above 0, below 1 */
    double eps; /* the allowed error, as a fraction of the whole weight; below phi. 0: phi / 5 */
    enum fathom_counter counter;
    FATHOM_RESERVED;
};

/* One context; its pointers are valid only during the call. Where the inference is not sure, the last frames are a label like
 * "[one of 3 paths]" and the sampled function; where no caller is known, "[unknown context]" and the sampled function. */
struct fathom_hot {
    uint64_t weight;                   /* of the samples that end here; never an underestimate */
    uint64_t error;                    /* upper bound on how much of `weight` belongs to other contexts */
    uint64_t total;                    /* of all samples */
    size_t depth;                      /* number of frames */
    const struct fathom_frame *frames; /* from the root inwards; a label has image "" and address 0 */
};

/* Return 0 to go on; a negative value ends the run and is handed through. */
typedef int fathom_hot_function(void *user, const struct fathom_hot *context);

/* Reads a recording as fathom_contexts() does, and then calls the function for each hot context, callers before callees. Errors as there;
 * -EINVAL: an option; -ERANGE. */
FATHOM_API int fathom_hot_contexts(const char *recording, const char *map,
                                   const struct fathom_hot_options *options, fathom_hot_function *function,
                                   void *user, struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
