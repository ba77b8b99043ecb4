/*
 * hot.h - hot streams: sequences of symbols that stand in a trace again and again (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001,
 * section 5.2). A stream's heat is its length times the number of its occurrences, none of which overlaps another one of it or is part
 * of another hot stream's. They are found in the rules of a grammar (sequitur.h), as in Chilimbi and Hirzel, Dynamic Hot Data
 * Stream Prefetching, PLDI 2002, figure 5.
 */
#ifndef FATHOM_STREAMS_HOT_H
#define FATHOM_STREAMS_HOT_H

#include "streams/sequitur.h"

#define HOT_LONGEST 4096u

struct hot_options {
    uint32_t shortest, longest; /* symbols of a stream; HOT_LONGEST at most */
    double cover;               /* share of all symbols that the hot ones make up, if they can */
};

struct hot_stream {
    uint32_t *symbols; /* owned by the profile */
    uint32_t length;
    uint64_t occurrences;
};

struct hot_profile {
    struct hot_stream *streams; /* hottest first */
    size_t count, capacity;
    uint64_t total; /* symbols of all traces, without breaks */
};

/* Adds the streams of a grammar: those that are in the profile already get its occurrences. So a trace of any length can be taken
 * by pieces, each with a grammar of its own. The profile begins as zeros. -ENOMEM. */
int hot_add(struct hot_profile *profile, const struct sequitur *grammar, const struct hot_options *options);
/* Leaves only as many of the hottest as are needed to cover that share. */
void hot_cut(struct hot_profile *profile, const struct hot_options *options);
void hot_clear(struct hot_profile *profile);

/* The overlap of two profiles (equation 5), of 0 to 1: for each stream the smaller one of its shares of both totals. Streams are the same
 * if they have the same names, one for each symbol: those of the instructions that refer to it, as addresses change from run
 * to run. -ENOMEM. */
int hot_overlap(const struct hot_profile *a, const uint32_t *names_a, const struct hot_profile *b,
                const uint32_t *names_b, double *out);

#endif
