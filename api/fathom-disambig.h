/*
 * fathom-disambig.h - the public interface of libfathom-disambig: which contexts of a path map are ambiguous, and programs whose
 * frames are changed so that they no longer are. The profiler does not need it.
 *
 * Errors and listeners are those of fathom/common.h; the interface is stable as fathom.h's is. A map is read as a whole; errors of it: system
 * errors; -ENOMSG, -ENOTSUP, -EBADMSG: not a map, of another version, damaged.
 */
#ifndef FATHOM_DISAMBIG_H
#define FATHOM_DISAMBIG_H

#include "fathom/common.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fathom_ambiguity_format { FATHOM_AMBIGUITY_TEXT, FATHOM_AMBIGUITY_JSON };

/* Writes how much of a map is precise, how much could be, and the `rows` heaviest ambiguous CIDs. */
FATHOM_API int fathom_ambiguity_write(const char *map, uint64_t rows, enum fathom_ambiguity_format format,
                                      FILE *out, struct fathom_error *error);

/* How paths may be told apart: bits of `methods`. */
enum fathom_disambig_method {
    FATHOM_DISAMBIG_RESIZE, /* change frames in place */
    FATHOM_DISAMBIG_MOVE,   /* also emit functions anew whose code has no room for larger numbers */
    FATHOM_DISAMBIG_INSERT, /* ... make frames larger that are made by pushes, with instructions added */
    FATHOM_DISAMBIG_CLONE,  /* ... give functions copies for some of their callers */
    FATHOM_DISAMBIG_EDGES,  /* ... and lead calls through pointers to copies by comparing the pointer */
    FATHOM_DISAMBIG_WRAP    /* ... add instructions to calls that take more stack */
};

enum fathom_disambig_search {
    FATHOM_DISAMBIG_BEST,
    FATHOM_DISAMBIG_RANDOM /* the ICPP paper's */
};

/* All pointers are borrowed until fathom_disambig_close(). */
struct fathom_disambig_options {
    const char *program;    /* or a library */
    const char *map;        /* of it, from a training that saw every call */
    const char *output;     /* the patched file; "-": standard output. NULL: none, as of the next two */
    const char *map_output; /* the map of that, if there is one */
    const char *emit; /* instead of both: a list of how much each frame is to grow, for the GCC plugin */
    unsigned methods; /* RESIZE or MOVE, or more; those after MOVE imply it */
    double budget;    /* percent by which the longest stack may grow */
    double code;      /* percent by which copies may enlarge the code */
    double edges;     /* guards that may be executed, percent of all calls */
    double target;    /* percent of the weight: more need not be precise */
    uint64_t most;    /* the largest pad of a frame, in bytes, 16 at least; 0: what fits */
    enum fathom_disambig_search search;
    uint64_t seed;
    uint64_t steps;       /* 0: no limit */
    bool symbolic;        /* lead a library's calls of its own functions past its PLT */
    char *const *command; /* to test the patched file with, which `output` must name then; NULL: none */
    const char *runtime;  /* of the test: as in fathom_runtime_find() of fathom/train.h */
    FATHOM_RESERVED;
};

struct fathom_disambig;

/* Opens the outputs, and refuses places that it must not write to: -EINVAL. */
FATHOM_API int fathom_disambig_open(const struct fathom_disambig_options *options,
                                    const struct fathom_listener *listener, struct fathom_disambig **disambig,
                                    struct fathom_error *error);
/* Reads the program and its map, chooses what to change, and writes the outputs. -ESTALE: the map is of another build;
 * -ENOMSG: it has no paths of the program, or its training did not see every call. */
FATHOM_API int fathom_disambig_run(struct fathom_disambig *disambig, struct fathom_error *error);
/* Prints what was found and written. */
FATHOM_API int fathom_disambig_print(const struct fathom_disambig *disambig, FILE *out,
                                     struct fathom_error *error);

/* The test: runs the command with hooks and with the patched file in place of the program or library, measures all heights, and
 * compares them with the map's. Makes ready; starts the command, which gets the caller's signal dispositions, but for SIGPIPE; waits
 * for its end; judges what was measured, and prints that. -EDOM: some are wrong, or none was measured. To be called before other threads exist. */
FATHOM_API_MT_UNSAFE int fathom_disambig_test_open(struct fathom_disambig *disambig,
                                                   struct fathom_error *error);
FATHOM_API int fathom_disambig_test_start(struct fathom_disambig *disambig, struct fathom_error *error);
FATHOM_API void fathom_disambig_test_run(struct fathom_disambig *disambig);
FATHOM_API int fathom_disambig_test_judge(struct fathom_disambig *disambig, FILE *out,
                                          struct fathom_error *error);
/* Has the command end soon. */
FATHOM_API_AS_SAFE void fathom_disambig_test_stop(struct fathom_disambig *disambig);

FATHOM_API void fathom_disambig_close(struct fathom_disambig *disambig); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
