/*
 * build.h - what statics.c and its parts work on while the binaries' calls become statics.
 *
 * statics.c goes through all call sites. targets.c has what all of them use, and finds what a site leads
 * to; roots.c finds where stacks begin and who calls main, classes.c what calls through pointers
 * can lead to.
 */
#ifndef FATHOM_INFER_STATICS_BUILD_H
#define FATHOM_INFER_STATICS_BUILD_H

#include <stdlib.h>
#include <string.h>

#include "image/calls/calls.h"
#include "infer/samples/starts.h"
#include "infer/statics/statics.h"

/* An image with its calls and the trie's numbers of its functions. */
struct part {
    struct image *image;
    struct calls *calls;
    uint32_t number;     /* of the image in the trie */
    uint32_t *functions; /* TRIE_NONE before it was asked for */
};

/* An array that grows. */
struct list {
    void *items;
    size_t count, room;
};

/* A call or jump (rise 0) through a pointer. */
struct pointer_call {
    int32_t field;
    bool told; /* some functions stand in such a field */
    struct static_edge edge;
};

struct building {
    struct trie *trie;
    struct part *parts;
    size_t count;
    bool *together;        /* parts by parts: whether they were ever in one process */
    struct list edges;     /* struct static_edge */
    struct list jumps;     /* struct static_jump */
    struct list calls;     /* struct pointer_call */
    struct list targets;   /* uint32_t: of the class that is being built */
    struct list classes;   /* struct static_class */
    struct list ends;      /* uint32_t */
    struct list threads;   /* uint32_t */
    struct list exports;   /* uint32_t */
    struct list resolvers; /* uint32_t */
    struct list starts;    /* struct static_start */
    struct list mains; /* uint32_t: what nothing calls that a class stands for: what programs hand to the C
                              library, to be called there alone, and where stacks begin */
    bool failed;       /* out of memory */
};

/* What is looked for: the functions that one call, one jump, or the pointers of a class lead to. */
struct search {
    struct static_edge edge; /* rise 0: a jump of `caller` */
    bool of_class;           /* they are targets of the class that is being built */
};

/* The item's copy at the end of the list. NULL: out of memory, and so is `failed` from then on. */
void *statics_add(struct building *b, struct list *list, const void *item, size_t size);
/* The trie's number of a part's function. */
uint32_t statics_number(struct building *b, struct part *part, uint32_t function);
/* Whether both were ever in one process. */
bool statics_together(const struct building *b, const struct part *x, const struct part *y);

/* Where a call or jump leads. */
void statics_add_site(struct building *b, struct part *part, const struct call_site *site,
                      const struct search *search);
/* A function that is called, and those that it jumps to: they stand in its place. */
void statics_add_target(struct building *b, struct part *part, uint32_t function,
                        const struct search *search);
/* All that the loader may find for a symbol that a part asks for. */
void statics_add_symbol(struct building *b, const struct part *from, const char *symbol,
                        const struct search *search);

/* Where stacks begin in a part, and who calls main. */
void statics_add_starts(struct building *b, struct part *part);
/* What the calls through pointers, b->calls, can lead to. */
void statics_add_classes(struct building *b);

#endif
