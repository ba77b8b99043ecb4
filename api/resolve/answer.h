/* answer.h - the answer about a point, made from a resolved CID; see fathom/resolve.h. */
#ifndef FATHOM_API_RESOLVE_ANSWER_H
#define FATHOM_API_RESOLVE_ANSWER_H

#include "api/fathom/resolve.h"
#include "api/known_frames.h"
#include "infer/contexts/resolver.h"

struct answer_frame {
    struct fathom_frame function;
    uint32_t number;  /* of the function in the map; PATHMAP_NONE: the point's function, not from the map */
    uint64_t address; /* in its image; 0: unknown */
};

struct answer_path {
    double probability;
    size_t first, depth; /* of the frames */
};

struct fathom_answer {
    struct known_frames *known; /* of the resolver */
    struct place place;         /* of the point */
    struct answer_path paths[CANDIDATES_MAX];
    unsigned path_count; /* 0: unknown; then paths[0] has the function, if that is known */
    struct answer_frame *frames;
    size_t count, capacity;
    uint64_t height;
    double least, most;
    enum fathom_novelty novelty;
    char reason[256];             /* "" if there is a path */
    char name[KNOWN_FRAMES_NAME]; /* of the function, if there is no path */
};

/* Puts the paths of a resolved point into an answer. factor: multiplies their probabilities, from the calibration. resolved: from
 * resolver_resolve(), with its bounds set. -ENOMEM; -EBADMSG: a damaged map. */
int answer_fill(struct fathom_answer *answer, const struct resolved *resolved, double factor,
                struct known_frames *frames, struct fathom_error *err);
void answer_clear(struct fathom_answer *answer);

#endif
