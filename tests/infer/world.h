/*
 * world.h - a path map over this program's own functions, for samples made by hand.
 *
 * The functions fun(0) .. fun(FUNS - 1) are real code of the test program; a sample at the entry of one has
 * its CFA 8 above SP, so any CID can be made.
 */
#ifndef FATHOM_TESTS_INFER_WORLD_H
#define FATHOM_TESTS_INFER_WORLD_H

#include "infer/contexts/resolver.h"
#include "tests/process/self.h"

#ifdef __clang__
#define APART __attribute__((noinline, optnone)) /* a frame of its own, by its own name */
#else
#define APART __attribute__((noipa))
#endif

enum { FUNS = 8, BASE = 0x7fff00000000 };

struct world {
    struct self self;
    struct trie *trie;
    struct pathmap *map; /* NULL before world_finish() */
    struct resolver *resolver;
    int warnings;
    struct log log;
};

struct world *world_open(void);
void world_close(struct world *world);
struct image *world_image(struct world *world); /* of this program */
uint64_t fun(unsigned number);                  /* its address in the process */
/* A child of parent: fun(number) at the height, with counts. */
uint32_t world_child(struct world *world, uint32_t parent, unsigned number, uint32_t height, uint64_t site,
                     uint64_t passes, uint64_t self);
/* The trie becomes the map, and the resolver is there. */
void world_finish(struct world *world);
/* At the entry of fun(number), on a stack with this base. */
struct sample world_sample(unsigned number, uint64_t base, uint32_t height);
/* Resolves a sample of this process, or of none, in any setting. 0 or negative. */
int world_resolve(struct world *world, const struct process *process, const struct sample *sample,
                  struct resolved *out, struct fathom_error *err);
/* Names of the functions of a node's path, outermost first, with a space between. */
const char *world_path(const struct world *world, uint32_t node);

#endif
