/*
 * choose.h - finds the functions of a report that match a name, and their samples. Private to report/annotate/.
 */
#ifndef FATHOM_REPORT_ANNOTATE_CHOOSE_H
#define FATHOM_REPORT_ANNOTATE_CHOOSE_H

#include "base/error.h"
#include "profile/contexts.h"

struct image_cache;

struct annotate_options {
    /* Its name, with or without the arguments of C++, or a regular expression; NULL: any. */
    const char *function;
    const char
        *path; /* functions that a sample's path must end with, separated by ';' as in folded stacks, inlined
                             or not; NULL: any path */
    struct image_cache *images; /* for inlined functions; NULL: these never match */
    uint64_t inlined;           /* limit of debug information to read for them, KiB; 0: they never match */
};

/* A matching function. */
struct chosen {
    const struct image *image;
    uint32_t function;   /* index in the image; IMAGE_NO_FUNCTION: it is inlined into others of the image */
    const char *inlined; /* then its name, borrowed from the image's lines */
    const char *name;
    uint64_t weight; /* of its samples, in the first metric */
    uint64_t samples;
    uint64_t contexts; /* number of distinct paths of functions that its samples have */
};

struct choice;

/* Finds the sampled functions that match, heaviest first; at least one, unless any name matches. Borrows contexts and options.
 * -ENOENT: there is none; -EINVAL: no function has this name, and it is not a regular expression; -ENOMEM. */
int choice_new(const struct contexts *contexts, const struct annotate_options *options, struct choice **out,
               struct fathom_error *err);
void choice_free(struct choice *choice);
size_t choice_functions(const struct choice *choice, const struct chosen **out);
/* Whether the functions have exactly this name, rather than match it as a regular expression. */
bool choice_is_by_name(const struct choice *choice);
/* Whether an instruction of the function's image belongs to the function. */
bool choice_is_at(const struct choice *choice, const struct chosen *function, uint64_t address);
/* Whether a sample is in this function, with a matching path. */
bool choice_has(const struct choice *choice, const struct chosen *function,
                const struct placed_sample *sample);

#endif
