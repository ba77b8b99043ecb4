/*
 * hot.h - hot streams: sequences of symbols that stand in a trace again and again (Hirzel and Chilimbi, Bursty Tracing, FDDO-4 2001,
 * section 5.2). A stream's heat is its length times the number of its occurrences, none of which overlaps another one of it or is part
 * of another stream's. They are found by places where streams begin (scan.h), or in the rules of a grammar (rules.h).
 */
#ifndef FATHOM_STREAMS_HOT_H
#define FATHOM_STREAMS_HOT_H

#include <stddef.h>
#include <stdint.h>

#define HOT_LONGEST 4096u

struct hot_options {
    uint32_t shortest, longest; /* symbols of a stream; HOT_LONGEST at most */
    double cover;               /* share of all symbols that the hot ones make up, if they can */
    /* occurrences of a stream; 0: any. Rules occur twice, though maybe once outside other streams */
    uint64_t fewest;
};

struct hot_stream {
    uint32_t *symbols; /* owned by the profile */
    uint32_t length;
    uint64_t occurrences;
};

struct table;
struct hot_finder { /* streams by what they are */
    struct table *firsts;
    uint32_t *next;
    size_t capacity;
};

struct hot_profile {
    struct hot_stream *streams; /* hottest first, after hot_cut() */
    size_t count, capacity;
    uint64_t total; /* symbols of which the streams are the hot ones; who adds streams adds to it */
    struct hot_finder finder;
};

/* Adds occurrences of a stream of at least one symbol, which are copied if it is new. The profile begins as zeros. -ENOMEM. */
int hot_count(struct hot_profile *profile, const uint32_t *symbols, uint32_t length, uint64_t occurrences);
/* Leaves only those that occur often enough, and only as many of the hottest as are needed to cover that share. */
void hot_cut(struct hot_profile *profile, const struct hot_options *options);
void hot_clear(struct hot_profile *profile);

/* Symbols in its streams: those of each stream times its occurrences. */
uint64_t hot_heat(const struct hot_profile *profile);

/* The overlap of two profiles (equation 5), of 0 to 1: for each stream that both have the smaller one of its shares of the totals. To compare
 * runs, symbols must be names of instructions, as addresses of data change from run to run. -ENOMEM. */
int hot_overlap(const struct hot_profile *a, const struct hot_profile *b, double *out);

#endif
