/*
 * survey.h - a recording in short: which CIDs it has, and for each thread the moments at which they were met.
 *
 * 16 bytes a sample, SURVEY_MOMENTS of them at most: what comes after that is counted by CID alone.
 */
#ifndef FATHOM_INFER_SAMPLES_SURVEY_H
#define FATHOM_INFER_SAMPLES_SURVEY_H

#include "infer/samples/run_time.h"
#include "perfdata/record.h"

#define SURVEY_MOMENTS (1u << 25)

/* A CID of the recording in a setting. */
struct wanted {
    uint32_t function, height; /* of the trie */
    uint32_t setting;          /* settings.h */
    uint64_t samples;
};

struct moment {
    uint64_t time;   /* ns that the thread ran (run_time.h) */
    uint32_t cid;    /* index among survey_cids() */
    uint32_t anchor; /* of the trie: the node of the path that a dump told; TRIE_NONE: none did */
};

struct survey;

struct survey *survey_new(void); /* NULL: out of memory */
void survey_free(struct survey *survey);
/* A sample of the CID (of the trie) in a setting, in order of time for each strand, which is a thread here;
 * its `samples` do not count. 0 or -ENOMEM. */
int survey_add(struct survey *survey, struct run_time run, const struct wanted *cid, uint32_t anchor);
/* All CIDs, each once for each of its settings, in the order in which they were met. */
size_t survey_cids(const struct survey *survey, const struct wanted **out);
uint32_t survey_threads(const struct survey *survey);
/* A thread's moments: how many. */
size_t survey_moments(const struct survey *survey, uint32_t thread, const struct moment **out);

#endif
