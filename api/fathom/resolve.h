/*
 * resolve.h - the call path of a point, at run time: by a path map and the mappings and stacks of a process, without its stack's contents.
 *
 * What is inferred is the path that training saw most with the point's function at its stack depth, with how sure that is; a path that training never
 * saw is not put together here, as 'fathom report' does it. Inlined functions have no frame of their own: fathom_answer_source() names them.
 *
 * In a signal handler take a point (here.h), and resolve it elsewhere. A resolver, its answer and its watches (watch.h) are one object.
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

/* Opens a path map, which tells nothing before it has a process's mappings and stacks (below). listener: borrowed until
 * fathom_resolver_close(); NULL is allowed. Errors: system errors; -EBADMSG, -ENOMSG, -ENOTSUP: a map that is damaged, none, or of a later
 * format. */
FATHOM_API int fathom_resolver_open(const char *map, const struct fathom_listener *listener,
                                    struct fathom_resolver **out, struct fathom_error *error);
/* NULL is allowed. */
FATHOM_API void fathom_resolver_close(struct fathom_resolver *resolver);

/* From now on, points are of a running process; 0: of the caller's own. Its mappings are read now, and once more for each point in code that they lack; the base
 * of a stack at the first point on it, whose thread must still run, or be the last that had this stack. After dlclose(), or if it executed another
 * program, call it again. Needs the right to read its memory (ptrace(2)). Errors: -ESRCH: there is no such process; system errors. */
FATHOM_API int fathom_resolver_follow(struct fathom_resolver *resolver, pid_t pid,
                                      struct fathom_error *error);

/* From now on, points are of the process that left a core, whose mappings, stacks and threads it has. Files are those of the builds that it had, if the core has
 * their headers, as by default (core(5), "coredump_filter"); else the listener is told. Errors: -ENOMSG, -EBADMSG: no core of a 64-bit x86
 * process, or a damaged one; system errors. */
FATHOM_API int fathom_resolver_core(struct fathom_resolver *resolver, const char *core,
                                    struct fathom_error *error);
/* The core's threads, and where they were: the first one is that which crashed. 0, -ERANGE. */
FATHOM_API size_t fathom_resolver_threads(const struct fathom_resolver *resolver);
FATHOM_API int fathom_resolver_thread(const struct fathom_resolver *resolver, size_t index, uint32_t *tid,
                                      struct fathom_point *point);

struct fathom_mapping {
    uint64_t start, end; /* addresses */
    uint64_t offset;     /* of start, in the file, bytes */
    const char *path;
    const uint8_t *build_id; /* of the mapped file; NULL: not known, the one at the path is taken */
    size_t build_id_size;    /* bytes, at most 20 */
};
/* For points of a process of which less is known: an executable mapping of a file. -EINVAL: no such mapping; -ENOMEM. */
FATHOM_API int fathom_resolver_mapping(struct fathom_resolver *resolver, const struct fathom_mapping *mapping,
                                       struct fathom_error *error);
/* Then: a stack, by its lowest address and its base: of the first thread, SP as the kernel set it (where argc is); of others, the address of the slot with the
 * return address into clone3, + 8. Errors as above. */
FATHOM_API int fathom_resolver_stack(struct fathom_resolver *resolver, uint64_t low, uint64_t base,
                                     struct fathom_error *error);

/* *out: the resolver's own, until it is asked again, or closed. That nothing is known of the point is an answer, too. Errors: -ENOMEM; -EBADMSG: a damaged
 * map. */
FATHOM_API int fathom_resolver_resolve(struct fathom_resolver *resolver, const struct fathom_point *point,
                                       const struct fathom_answer **out, struct fathom_error *error);

/* FATHOM_INFERRED or FATHOM_UNKNOWN: nothing is proved without the stack's contents. */
FATHOM_API enum fathom_certainty fathom_answer_certainty(const struct fathom_answer *answer);

enum fathom_novelty {
    FATHOM_SEEN,       /* a path of the map has the point's function at its stack depth */
    FATHOM_NEVER_SEEN, /* none has */
    FATHOM_NOT_TOLD, /* the place is not known, or training did not observe this file: fathom_answer_reason() */
};
FATHOM_API enum fathom_novelty fathom_answer_novelty(const struct fathom_answer *answer);
/* Why there is no path, or the novelty is not told: part of a sentence; "": there is one, and it is. */
FATHOM_API const char *fathom_answer_reason(const struct fathom_answer *answer);
/* The stack depth: bytes from the stack's base to the frame's CFA (docs/fmap.md); 0: not known. */
FATHOM_API uint64_t fathom_answer_height(const struct fathom_answer *answer);

/* Possible paths, the most probable first; 0: unknown. */
FATHOM_API unsigned fathom_answer_paths(const struct fathom_answer *answer);
/* That it is the path of this rank, as far as the map's trainings predict each other (docs/model.md, section 8); they sum to 1 at
 * most. 0: there is no such path. */
FATHOM_API double fathom_answer_probability(const struct fathom_answer *answer, unsigned rank);
/* The 95% range of that of rank 0. */
FATHOM_API void fathom_answer_range(const struct fathom_answer *answer, double *least, double *most);
/* Number of frames. Where the path is unknown, rank 0 has the point's function, if that is known. */
FATHOM_API size_t fathom_answer_depth(const struct fathom_answer *answer, unsigned rank);

/* Of a frame, 0 being the stack's root; there must be such a frame. Demangled, or "image+0xaddress". */
FATHOM_API const char *fathom_answer_function(const struct fathom_answer *answer, unsigned rank,
                                              size_t frame);
FATHOM_API const char *fathom_answer_image(const struct fathom_answer *answer, unsigned rank,
                                           size_t frame); /* the file's path */
/* Of the function's entry: ELF virtual address in the image. */
FATHOM_API uint64_t fathom_answer_entry(const struct fathom_answer *answer, unsigned rank, size_t frame);
/* Where it is: the same of the point in the innermost frame, of the return address in others. 0: not known. */
FATHOM_API uint64_t fathom_answer_address(const struct fathom_answer *answer, unsigned rank, size_t frame);

struct fathom_source {
    const char *function; /* the frame's own function, or one that is inlined there; NULL: not known */
    const char *file;     /* NULL: not known */
    uint32_t line;        /* 0: not known */
};
/* Where a frame is in the source, by its binary's debug information: the innermost inlined function first, the frame's own last. Returns how many were
 * written, at most `most`; 0: nothing is known. A file's debug information is read once, when it is first asked for, which takes time and memory.
 * Strings are the resolver's, until it is closed. */
FATHOM_API size_t fathom_answer_source(const struct fathom_answer *answer, unsigned rank, size_t frame,
                                       struct fathom_source *out, size_t most);

#ifdef __cplusplus
}
#endif

#endif
