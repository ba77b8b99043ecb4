/*
 * survey.h - a summary of a recording: its CIDs, and for each thread the moments at which they were sampled.
 *
 * A thread's moments are stored in pieces of SURVEY_PIECE consecutive ones. Whenever there are more than SURVEY_MOMENTS in all,
 * every second piece is dropped: the rest is spread evenly over the recording, however long it is.
 */
#ifndef FATHOM_INFER_SAMPLES_SURVEY_H
#define FATHOM_INFER_SAMPLES_SURVEY_H

#include "infer/samples/run_time.h"
#include "perfdata/record.h"

#define SURVEY_PIECE   256
#define SURVEY_MOMENTS (1u << 19) /* 8 MB; exceeded if many threads have one piece each */

/* A CID of the recording in a setting. */
struct wanted {
    uint32_t function, height; /* of the trie */
    uint32_t setting;          /* settings.h */
    uint64_t samples;
    uint64_t sure; /* how many have a path known from their own stack */
    uint64_t part; /* how many of the others have known innermost frames */
};

struct moment {
    uint64_t time;      /* run time of the thread, ns (run_time.h) */
    uint32_t cid;       /* index among survey_cids() */
    uint32_t true_path; /* of the trie: the node of the path from a dump; TRIE_NONE: none */
};

struct survey;

struct survey *survey_new(void); /* NULL: out of memory */
void survey_free(struct survey *survey);
/* Adds a sample of the CID (of the trie) in a setting; samples of one thread_key come in time order. cid->samples is ignored,
 * and `sure` and `part` are 1 or 0. 0 or -ENOMEM. */
int survey_add(struct survey *survey, struct run_time run, const struct wanted *cid, uint32_t true_path);
/* All CIDs, each once per setting, in the order of their first samples. */
size_t survey_cids(const struct survey *survey, const struct wanted **out);
uint32_t survey_threads(const struct survey *survey);
/* A thread's stored moments; returns how many. */
size_t survey_moments(const struct survey *survey, uint32_t thread, const struct moment **out);
/* One in this many of the thread's pieces is stored; 1: all are, and they are consecutive. */
size_t survey_step(const struct survey *survey);

#endif
