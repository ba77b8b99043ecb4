/*
 * resolve.h - infers the call path of a point at run time, from a path map and a process's mappings and stack bounds, without reading the
 * stack's contents.
 *
 * The result is the path that training saw most often with the point's function at its stack depth, with a probability. Unlike 'fathom
 * report', this does not construct paths that training never saw. Inlined functions have no frame of their own: see
 * fathom_answer_source().
 *
 * In a signal handler, take a point (here.h), and resolve it elsewhere. As to threads, a resolver, its answer and its watches (watch.h) are
 * one object.
 */
#ifndef FATHOM_RESOLVE_H
#define FATHOM_RESOLVE_H

#include <sys/types.h>

#include "contexts.h"
#include "here.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_resolver;
struct fathom_answer;

/* Opens a path map. Points can be resolved only after a process's mappings and stacks are added (below). listener: borrowed until
 * fathom_resolver_close(); NULL is allowed. Errors: system errors; -EBADMSG, -ENOMSG, -ENOTSUP: a map that is damaged, not a map, or of a
 * later format. */
FATHOM_API int fathom_resolver_open(const char *map, const struct fathom_listener *listener,
                                    struct fathom_resolver **out, struct fathom_error *error);
/* NULL is allowed. */
FATHOM_API void fathom_resolver_close(struct fathom_resolver *resolver);

/* Makes points belong to a running process from now on; 0: the caller's own. Its mappings are read now, and again at each point in code
 * outside them; a stack's base is read at the first point on that stack, whose thread must still run, or be the last that had this stack.
 * Call it again after dlclose(), or after the process executed another program. Needs the right to read the process's memory (ptrace(2)).
 * Errors: -ESRCH: no such process; system errors. */
FATHOM_API int fathom_resolver_follow(struct fathom_resolver *resolver, pid_t pid,
                                      struct fathom_error *error);

/* Makes points belong to a process that left a core file from now on; the core has its mappings, stacks and threads. Files are checked to
 * be of the same builds if the core includes their headers, which is the default (core(5), "coredump_filter"); else the listener is told.
 * Errors: -ENOMSG, -EBADMSG: not a core of a 64-bit x86 process, or a damaged one; system errors. */
FATHOM_API int fathom_resolver_core(struct fathom_resolver *resolver, const char *core,
                                    struct fathom_error *error);
/* The core's threads and their positions; the first is the one that crashed. 0; -ERANGE: no such thread. */
FATHOM_API size_t fathom_resolver_threads(const struct fathom_resolver *resolver);
FATHOM_API int fathom_resolver_thread(const struct fathom_resolver *resolver, size_t index, uint32_t *tid,
                                      struct fathom_point *point);

struct fathom_mapping {
    uint64_t start, end; /* addresses */
    uint64_t offset;     /* of start, in the file, bytes */
    const char *path;
    const uint8_t *build_id; /* of the mapped file; NULL: unknown, the file at the path is used */
    size_t build_id_size;    /* bytes, at most 20 */
};
/* For a process that cannot be followed: adds an executable mapping of a file. -EINVAL: no valid mapping; -ENOMEM. */
FATHOM_API int fathom_resolver_mapping(struct fathom_resolver *resolver, const struct fathom_mapping *mapping,
                                       struct fathom_error *error);
/* Also adds a stack, by its lowest address and its base. The base is, for the first thread, SP as the kernel set it (where argc is); for
 * other threads, 8 above the address of the slot with the return address into clone3. Errors as above. */
FATHOM_API int fathom_resolver_stack(struct fathom_resolver *resolver, uint64_t low, uint64_t base,
                                     struct fathom_error *error);

/* Resolves a point. *out is owned by the resolver, and valid until the next call or until it is closed. If nothing is known of the point,
 * that is not an error but the answer. Errors: -ENOMEM; -EBADMSG: a damaged map. */
FATHOM_API int fathom_resolver_resolve(struct fathom_resolver *resolver, const struct fathom_point *point,
                                       const struct fathom_answer **out, struct fathom_error *error);

/* FATHOM_INFERRED or FATHOM_UNKNOWN: nothing can be proved without the stack's contents. */
FATHOM_API enum fathom_certainty fathom_answer_certainty(const struct fathom_answer *answer);

enum fathom_novelty {
    FATHOM_SEEN,       /* a path of the map has the point's function at its stack depth */
    FATHOM_NEVER_SEEN, /* no path has */
    FATHOM_NOT_TOLD,   /* unknown place, or training did not observe this file: see fathom_answer_reason() */
};
FATHOM_API enum fathom_novelty fathom_answer_novelty(const struct fathom_answer *answer);
/* Why the path or the novelty is unknown, as part of a sentence; "": both are known. */
FATHOM_API const char *fathom_answer_reason(const struct fathom_answer *answer);
/* The stack depth: bytes from the stack's base to the frame's CFA (docs/fmap.md); 0: unknown. */
FATHOM_API uint64_t fathom_answer_height(const struct fathom_answer *answer);

/* The number of possible paths, which are ranked by probability; 0: unknown. */
FATHOM_API unsigned fathom_answer_paths(const struct fathom_answer *answer);
/* The probability of the path of this rank, as far as the map's trainings predict each other (docs/model.md, section 8); all sum to at
 * most 1. 0: there is no such path. */
FATHOM_API double fathom_answer_probability(const struct fathom_answer *answer, unsigned rank);
/* The 95% range of the probability of rank 0. */
FATHOM_API void fathom_answer_range(const struct fathom_answer *answer, double *least, double *most);
/* Number of frames. If the path is unknown, rank 0 has only the point's function, if known. */
FATHOM_API size_t fathom_answer_depth(const struct fathom_answer *answer, unsigned rank);

/* The name of a frame's function, demangled, or "image+0xaddress". Frame 0 is the stack's root; the frame must exist. */
FATHOM_API const char *fathom_answer_function(const struct fathom_answer *answer, unsigned rank,
                                              size_t frame);
FATHOM_API const char *fathom_answer_image(const struct fathom_answer *answer, unsigned rank,
                                           size_t frame); /* the file's path */
/* The function's entry: ELF virtual address in the image. */
FATHOM_API uint64_t fathom_answer_entry(const struct fathom_answer *answer, unsigned rank, size_t frame);
/* The ELF virtual address of the point in the innermost frame, of the return address in others. 0: unknown. */
FATHOM_API uint64_t fathom_answer_address(const struct fathom_answer *answer, unsigned rank, size_t frame);

struct fathom_source {
    const char *function; /* the frame's own function, or one inlined there; NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
};
/* A frame's position in the source, from its binary's debug information: the innermost inlined function first, the frame's own last.
 * Returns the number written, at most `most`; 0: unknown. A file's debug information is read once, when first needed, which takes time and
 * memory. Strings are owned by the resolver, and valid until it is closed. */
FATHOM_API size_t fathom_answer_source(const struct fathom_answer *answer, unsigned rank, size_t frame,
                                       struct fathom_source *out, size_t most);

#ifdef __cplusplus
}
#endif

#endif
