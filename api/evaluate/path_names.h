/* path_names.h - names the frames of true and inferred paths, to print them side by side. */
#ifndef FATHOM_API_EVALUATE_PATH_NAMES_H
#define FATHOM_API_EVALUATE_PATH_NAMES_H

#include "evaluate/comparison.h"

struct path_names;

/* A path from the root to the leaf; valid until the next call for a path of the same kind. */
struct named_path {
    const struct named_frame {
        const char *name;  /* valid as long as the table */
        uint32_t function; /* of the map; or NOT_IN_MAP, NOT_COMPARED */
    } * frames;
    size_t depth;
};

/* All borrowed; map: the one that answers refer to. NULL: out of memory. */
struct path_names *path_names_new(const struct truth *truth, const struct pathmap *map,
                                  struct comparison *comparison);
void path_names_free(struct path_names *names);
/* 0 or -ENOMEM. */
int path_names_truth(struct path_names *names, uint32_t path, struct named_path *out,
                     struct fathom_error *err);
/* The same for a node of the map; an empty path for PATHMAP_NONE or a damaged one. */
int path_names_answer(struct path_names *names, uint32_t node, struct named_path *out,
                      struct fathom_error *err);
/* Returns the number of compared frames. */
size_t path_names_compared(const struct named_path *path);
/* Counts how many of them agree from the root, and of the rest, how many from the leaf. */
void path_names_agree(const struct named_path *a, const struct named_path *b, size_t *outer, size_t *inner);

#endif
