/*
 * replay.h - what the BPF program that compares stacks while recording (collector/verify/rule.h) would have said about the
 * samples of a recording that has every sample's stack: runs the program's own code, with a learner that is never late, as
 * there is no other load. Everything is followed, rings are never full, and memory runs out only for known stacks.
 */
#ifndef FATHOM_EVALUATE_REPLAY_H
#define FATHOM_EVALUATE_REPLAY_H

#include "image/cache.h"
#include "perfdata/reader.h"

struct replay_options {
    uint32_t event;       /* the event whose samples are replayed: its number in the reader */
    unsigned compared;    /* return addresses: STACK_RECORD_ALL, or this many of the innermost */
    uint64_t burst, rate; /* stacks that may be read initially, and then per second */
};

struct replay {                   /* malloc'ed: replay_free() */
    struct stack_verdict *stacks; /* for reader_set_stacks() */
    size_t count, capacity;       /* number of samples */
    uint64_t read;                /* stacks read */
    uint64_t records;             /* stack records, with or without a stack */
    uint64_t cut; /* samples whose stack may continue beyond its copy: replayed as if it did not */
};

/* Reads the recording once. images is borrowed. Only one replay may run at a time. 0 or negative; *out has to be freed in
 * either case. */
int replay_run(struct reader *reader, struct image_cache *images, const struct replay_options *options,
               struct replay *out, struct fathom_error *err);
void replay_free(struct replay *replay);

#endif
