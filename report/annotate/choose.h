/*
 * choose.h - which function of a report is meant by a name, and which samples are its. Private to report/annotate/.
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
        *path; /* functions that the path of a sample must end with, parted by ';' as folded stacks have
                             them, inlined ones or not; NULL: any path */
    struct image_cache *images; /* what finds inlined functions; NULL: none is meant */
    uint64_t inlined;           /* KiB of debug information that may be read for them; 0: none is meant */
};

/* A function that is meant. */
struct chosen {
    const struct image *image;
    uint32_t function;   /* index in it; IMAGE_NO_FUNCTION: it is inlined into others of the image */
    const char *inlined; /* then: its name, of the image's lines */
    const char *name;
    uint64_t weight; /* of its samples, by the first metric */
    uint64_t samples;
    uint64_t contexts; /* that they are of, by their functions */
};

struct choice;

/* Functions of which a sample has such a name, by falling weight: unless any is meant, one at least.
 * Borrows contexts and options. -ENOENT: there is none; -EINVAL: no such name, and no regular expression;
 * -ENOMEM. */
int choice_new(const struct contexts *contexts, const struct annotate_options *options, struct choice **out,
               struct fathom_error *err);
void choice_free(struct choice *choice);
size_t choice_functions(const struct choice *choice, const struct chosen **out);
/* Whether they have the name itself, not one that it matches as a regular expression. */
bool choice_is_by_name(const struct choice *choice);
/* Whether an instruction of its image is the function's. */
bool choice_is_at(const struct choice *choice, const struct chosen *function, uint64_t address);
/* Whether a sample is of this function, and its path is as wanted. */
bool choice_has(const struct choice *choice, const struct chosen *function,
                const struct placed_sample *sample);

#endif
