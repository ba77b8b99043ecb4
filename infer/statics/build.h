/*
 * build.h - shared by statics.c and its parts while they build statics from the binaries' calls.
 *
 * statics.c goes through all call sites. targets.c finds the targets of a site, and has helpers for all
 * parts; roots.c finds where stacks begin and what calls main; classes.c finds the possible targets of calls
 * through pointers.
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
    const struct calls *calls;
    bool vdso;           /* it is the vDSO */
    uint32_t number;     /* of the image in the trie */
    uint32_t *functions; /* TRIE_NONE before it is looked up */
};

/* A growable array. */
struct list {
    void *items;
    size_t count, capacity;
};

/* A call or jump (rise 0) through a pointer. */
struct pointer_call {
    int32_t field;
    bool has_targets; /* this field occurs in known functions */
    struct static_edge edge;
};

struct building {
    struct trie *trie;
    struct work *work;
    struct part *parts;
    size_t count;
    bool *together;        /* by pair of parts: whether they were ever in one process */
    struct list edges;     /* struct static_edge */
    struct list jumps;     /* struct static_jump */
    struct list calls;     /* struct pointer_call */
    struct list targets;   /* uint32_t: of the class being built */
    struct list classes;   /* struct static_class */
    struct list ends;      /* uint32_t */
    struct list threads;   /* uint32_t */
    struct list exports;   /* uint32_t */
    struct list resolvers; /* uint32_t */
    struct list starts;    /* struct static_start */
    struct list mains;     /* uint32_t: functions that no class may call: those that programs pass to the C
                              library, to be called only there, and those that begin stacks */
    uint64_t follows;      /* limit of the jumps that may still be followed from call targets */
    bool left_out;         /* some images did not become parts */
    bool failed;           /* out of memory */
};

/* A search for targets: the functions that one call, one jump, or the pointers of a class lead to. */
struct search {
    struct static_edge edge; /* rise 0: a jump by `caller` */
    bool of_class;           /* collects targets of the class being built */
};

/* Appends a copy of the item to the list. NULL: out of memory, which also sets `failed`. */
void *statics_add(struct building *b, struct list *list, const void *item, size_t size);
/* The trie's number of a part's function. */
uint32_t statics_number(struct building *b, struct part *part, uint32_t function);
/* Whether both were ever in one process. */
bool statics_together(const struct building *b, const struct part *x, const struct part *y);

/* Adds the targets of a call or jump. */
void statics_add_site(struct building *b, struct part *part, const struct call_site *site,
                      const struct search *search);
/* Adds a called function, and those that it tail-calls. */
void statics_add_target(struct building *b, struct part *part, uint32_t function,
                        const struct search *search);
/* Adds all functions to which the loader may resolve a part's symbol. */
void statics_add_symbol(struct building *b, const struct part *from, const char *symbol,
                        const struct search *search);

/* Adds where stacks begin in a part, and what calls main. */
void statics_add_starts(struct building *b, struct part *part);
/* Adds the possible targets of the calls through pointers, b->calls. */
void statics_add_classes(struct building *b);

#endif
