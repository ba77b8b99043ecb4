/*
 * contexts.h - a recording's samples with their calling contexts, one by one, or the hot ones in bounded memory.
 *
 * Paths have inlined functions, too, where there is debug information, of at most 64 MiB in all; it is read in child processes,
 * which end before the function returns.
 */
#ifndef FATHOM_CONTEXTS_H
#define FATHOM_CONTEXTS_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fathom_certainty {
    FATHOM_PROVED, /* the sample's own stack or call chain shows the path, or one with the same return addresses */
    FATHOM_INFERRED, /* the most probable path by what other samples, a map or the code show: see `probability` */
    FATHOM_UNKNOWN, /* no path is known: frames holds only the sampled function, or nothing */
};

struct fathom_frame {
    const char *function; /* demangled, or "image+0xaddress" */
    const char *image;    /* the file's path */
    uint64_t address;     /* its entry: ELF virtual address in the image; 0: inlined into the one before */
};

/* A possible call path of a sample. */
struct fathom_path {
    double probability; /* that it is this one; they sum to 1 at most: it may be none of them */
    size_t depth;       /* number of frames */
    const struct fathom_frame *frames; /* from the stack's root inwards */
};

struct fathom_walk; /* private to fathom_contexts() */

/* One sample with its inferred calling context; its pointers are valid only during the call. */
struct fathom_context {
    uint32_t pid, tid;
    uint64_t time;   /* ns, the perf clock */
    uint64_t weight; /* events that the sample stands for: the first of its metrics */
    enum fathom_certainty certainty;
    double probability;                /* that this path is right (report's --min-confidence); 0: unknown */
    size_t depth;                      /* number of frames */
    const struct fathom_frame *frames; /* from the stack's root inwards */
    unsigned path_count; /* paths for fathom_context_path(), including the one above; 0 if unknown */
    struct fathom_walk *walk;
};

/* The path of this rank: 0 is the context's own, those up to path_count - 1 are decreasingly probable. Call
 * only from a fathom_context_function; *path is valid until the next call or the function's return. Errors:
 * -ERANGE: no such rank; -ENOMEM; -EBADMSG: a damaged map. Then *path is unchanged. */
FATHOM_API int fathom_context_path(const struct fathom_context *context, unsigned rank,
                                   struct fathom_path *path);

/* Something that is counted: a context's value is the sum over its samples. */
struct fathom_metric {
    const char *name; /* "weight", "samples", "latency", "allocations" */
    const char *unit; /* "ns" of times, else what is counted: "page-faults:u", "samples", "cycles" */
    uint64_t value;   /* of this sample */
};

/* The metrics of a sample, from number 0 on; all samples of a recording have the same. To be called from a
 * fathom_context_function; the texts are good until fathom_contexts() returns. -ERANGE: there are no more;
 * then *metric is as it was. */
FATHOM_API int fathom_context_metric(const struct fathom_context *context, unsigned number,
                                     struct fathom_metric *metric);

/* Return 0 to go on; a negative value ends the run and is handed through. */
typedef int fathom_context_function(void *user, const struct fathom_context *context);

/* Reads a perf.data file and calls the function for each sample of its main event, in time order except for
 * ambiguous ones, which are delayed until later samples disambiguate them. `map`, a path map's file, may be
 * NULL: then paths come from the recording's own stacks alone. Errors: system errors; -ENOMSG,
 * -EBADMSG, -ENOTSUP: not such a file, damaged, unsupported format. */
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
    double eps; /* the error, as a part of the whole weight; below phi. 0: phi / 5 */
    enum fathom_counter counter;
    FATHOM_RESERVED;
};

/* One context; its pointers are valid only during the call. Where the inference is not sure, frames end with a label such as
 * "[one of 3 paths]" and the sampled function; so does one without known callers, after "[unknown context]". */
struct fathom_hot {
    uint64_t weight;                   /* of the samples that end here; never too small */
    uint64_t error;                    /* at most this much of it is not its own */
    uint64_t total;                    /* of all samples */
    size_t depth;                      /* number of frames */
    const struct fathom_frame *frames; /* from the root inwards; of labels, image is "" and address 0 */
};

/* Return 0 to go on; a negative value ends the run and is handed through. */
typedef int fathom_hot_function(void *user, const struct fathom_hot *context);

/* Reads a recording as fathom_contexts() does, and then calls the function for each hot context, a caller before what it calls. Errors
 * as there; -EINVAL: an option; -ERANGE. */
FATHOM_API int fathom_hot_contexts(const char *recording, const char *map,
                                   const struct fathom_hot_options *options, fathom_hot_function *function,
                                   void *user, struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
