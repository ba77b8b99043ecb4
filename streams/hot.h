/*
 * hot.h - hot streams: sequences of symbols that occur in a trace again and again (Hirzel and Chilimbi, Bursty
 * Tracing, FDDO-4 2001, section 5.2). A stream's heat is its length times the number of its occurrences, of which
 * none overlaps another one or is part of another stream's. They are found by the places where streams begin
 * (scan.h), or as the rules of a grammar (rules.h).
 */
#ifndef FATHOM_STREAMS_HOT_H
#define FATHOM_STREAMS_HOT_H

#include <stddef.h>
#include <stdint.h>

#define HOT_LONGEST 4096u

struct hot_options {
    uint32_t shortest, longest; /* symbols of a stream; HOT_LONGEST at most */
    double cover;               /* share of all symbols that the hot ones should make up, if possible */
    /* occurrences of a stream; 0: any. Rules occur twice, but perhaps only once outside other streams */
    uint64_t fewest;
};

struct hot_stream {
    uint32_t *symbols; /* owned by the profile */
    uint32_t length;
    uint64_t occurrences;
};

struct table;
struct hot_finder { /* an index of streams by their symbols */
    struct table *firsts;
    uint32_t *next;
    size_t capacity;
};

struct hot_profile {
    struct hot_stream *streams; /* hottest first, after hot_cut() */
    size_t count, capacity;
    uint64_t total; /* all symbols that were searched for streams; maintained by the caller of hot_count() */
    struct hot_finder finder;
};

/* Adds occurrences of a stream of at least one symbol; the symbols are copied if it is new. The profile is
 * initially zeroed. -ENOMEM. */
int hot_count(struct hot_profile *profile, const uint32_t *symbols, uint32_t length, uint64_t occurrences);
/* Keeps only streams with enough occurrences, and only as many of the hottest as are needed to cover the share. */
void hot_cut(struct hot_profile *profile, const struct hot_options *options);
void hot_clear(struct hot_profile *profile);

/* Symbols in its streams: each stream's length times its occurrences. */
uint64_t hot_heat(const struct hot_profile *profile);

/* The overlap of two profiles (equation 5), from 0 to 1: the sum over all streams of the smaller of the two
 * shares of the totals. To compare runs, symbols must be names of instructions, as addresses of data differ
 * between runs. -ENOMEM. */
int hot_overlap(const struct hot_profile *a, const struct hot_profile *b, double *out);

#endif
