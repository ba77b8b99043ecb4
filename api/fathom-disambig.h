/*
 * fathom-disambig.h - the public interface of libfathom-disambig: finds the ambiguous contexts of a path map, and changes a
 * program's frames so that they are no longer ambiguous. The profiler does not need it.
 *
 * Errors and listeners are as in fathom/common.h; the interface is as stable as fathom.h's. Maps are read as a whole; their errors: system
 * errors; -ENOMSG, -ENOTSUP, -EBADMSG: not a map, of another version, damaged.
 */
#ifndef FATHOM_DISAMBIG_H
#define FATHOM_DISAMBIG_H

#include "fathom/common.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fathom_ambiguity_format { FATHOM_AMBIGUITY_TEXT, FATHOM_AMBIGUITY_JSON };

/* Writes how much of a map is precise, how much could be made precise, and the `rows` heaviest ambiguous CIDs. */
FATHOM_API int fathom_ambiguity_write(const char *map, uint64_t rows, enum fathom_ambiguity_format format,
                                      FILE *out, struct fathom_error *error);

/* How to make paths distinguishable: bits of `methods`. */
enum fathom_disambig_method {
    FATHOM_DISAMBIG_RESIZE, /* change frames in place */
    FATHOM_DISAMBIG_MOVE,   /* also rewrite functions whose code has no space for larger numbers */
    FATHOM_DISAMBIG_INSERT, /* ... enlarge frames made by pushes, with extra instructions */
    FATHOM_DISAMBIG_CLONE,  /* ... copy functions for some of their callers */
    FATHOM_DISAMBIG_EDGES, /* ... and redirect indirect calls to copies, with a guard that compares the pointer */
    FATHOM_DISAMBIG_WRAP /* ... add instructions around calls that take more stack */
};

enum fathom_disambig_search {
    FATHOM_DISAMBIG_BEST,
    FATHOM_DISAMBIG_RANDOM /* the ICPP paper's */
};

/* All pointers are borrowed until fathom_disambig_close(). */
struct fathom_disambig_options {
    const char *program;    /* or a library */
    const char *map;        /* of it, from a training that saw every call */
    const char *output;     /* the patched file; "-": standard output. NULL, here and in the next two: none */
    const char *map_output; /* the patched file's map, if there is one */
    const char *emit; /* instead of both: a list of how much each frame should grow, for the GCC plugin */
    unsigned methods; /* at least RESIZE or MOVE; the methods after MOVE imply it */
    double budget;    /* percent by which the longest stack may grow */
    double code;      /* percent by which copies may enlarge the code */
    double edges;     /* limit of executed guards, percent of all calls */
    double target;    /* percent of the weight that is to be precise */
    uint64_t most;    /* the largest padding of a frame, at least 16 bytes; 0: whatever fits */
    enum fathom_disambig_search search;
    uint64_t seed;
    uint64_t steps;       /* 0: no limit */
    bool symbolic;        /* make a library's calls of its own functions bypass its PLT */
    char *const *command; /* tests the patched file, which `output` must name then; NULL: no test */
    const char *runtime;  /* for the test: as in fathom_runtime_find() of fathom/train.h */
    FATHOM_RESERVED;
};

struct fathom_disambig;

/* Opens the outputs. -EINVAL: an output that must not be written to. */
FATHOM_API int fathom_disambig_open(const struct fathom_disambig_options *options,
                                    const struct fathom_listener *listener, struct fathom_disambig **disambig,
                                    struct fathom_error *error);
/* Reads the program and its map, chooses what to change, and writes the outputs. -ESTALE: the map is of another build;
 * -ENOMSG: it has no paths of the program, or its training did not see every call. */
FATHOM_API int fathom_disambig_run(struct fathom_disambig *disambig, struct fathom_error *error);
/* Prints the findings and what was written. */
FATHOM_API int fathom_disambig_print(const struct fathom_disambig *disambig, FILE *out,
                                     struct fathom_error *error);

/* The test: runs the command with hooks and with the patched file in place of the program or library, measures all heights, and
 * compares them with the map's. The steps: prepare the run, before other threads exist; start the command, with the caller's
 * signal dispositions except for SIGPIPE; wait until it ends; judge the measured heights and print the result. -EDOM: some are wrong, or
 * none was measured. */
FATHOM_API_MT_UNSAFE int fathom_disambig_test_open(struct fathom_disambig *disambig,
                                                   struct fathom_error *error);
FATHOM_API int fathom_disambig_test_start(struct fathom_disambig *disambig, struct fathom_error *error);
FATHOM_API void fathom_disambig_test_run(struct fathom_disambig *disambig);
FATHOM_API int fathom_disambig_test_judge(struct fathom_disambig *disambig, FILE *out,
                                          struct fathom_error *error);
/* Makes the command end soon. */
FATHOM_API_AS_SAFE void fathom_disambig_test_stop(struct fathom_disambig *disambig);

FATHOM_API void fathom_disambig_close(struct fathom_disambig *disambig); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
