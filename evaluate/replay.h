/*
 * replay.h - what the program that compares stacks while recording (collector/verify/rule.h) would have said of the
 * samples of a recording with every sample's stack: the program's own code, with a learner that is never late, as
 * there is no other work. Everything is followed, rings are never full, and nothing but known stacks is forgotten for
 * want of room.
 */
#ifndef FATHOM_EVALUATE_REPLAY_H
#define FATHOM_EVALUATE_REPLAY_H

#include "image/cache.h"
#include "perfdata/reader.h"

struct replay_options {
    uint32_t event;       /* whose samples are looked at, by its number among the reader's */
    unsigned compared;    /* return addresses: STACK_RECORD_ALL, or so many of the innermost */
    uint64_t burst, rate; /* stacks to read at first, and then per second */
};

struct replay {              /* malloc'ed: replay_free() */
    struct stack_said *said; /* for reader_say() */
    size_t count, capacity;  /* samples */
    uint64_t read;           /* of their stacks */
    uint64_t records;        /* stack records, with a stack or without */
    uint64_t cut; /* samples whose stack may go on after what was copied of it: as if nothing were there */
};

/* Reads the recording once. images is borrowed. One replay at a time. 0 or negative; free it in any case. */
int replay_run(struct reader *reader, struct image_cache *images, const struct replay_options *options,
               struct replay *out, struct fathom_error *err);
void replay_free(struct replay *replay);

#endif
