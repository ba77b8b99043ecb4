/*
 * audits.h - a recording's audit samples, in order: the path from each one's stack dump, and which are held
 * back. Those are not learned from but resolved like the samples of the event, to measure how often the
 * answer is right.
 */
#ifndef FATHOM_INFER_SAMPLES_AUDITS_H
#define FATHOM_INFER_SAMPLES_AUDITS_H

#include "perfdata/reader.h"

#define AUDITS_FIRST 20u /* of the first ones, which are never held back; after them, every tenth is */

struct audits;

/* The paths of all audit samples, in order. */
struct anchors {
    const uint32_t *nodes; /* of the trie; TRIE_NONE: no path is known */
    size_t count;
};

struct audits *audits_new(void); /* NULL: out of memory */
void audits_free(struct audits *audits);
/* Sets the recording's events (borrowed) and the number of the one to resolve, whose samples are never held
 * back. Until this is called, audits_is() is false for every sample. */
void audits_events(struct audits *audits, const struct event *events, size_t count, uint32_t event);

bool audits_is(const struct audits *audits, const struct sample *sample);
/* For the first pass over the samples. */
int audits_add(struct audits *audits, struct fathom_error *err); /* appends one without a path */
void audits_tell(struct audits *audits, uint32_t node);          /* sets the path of the last one added */
/* Decides whether an audit sample is held back: 1, 0 or -ENOMEM. Call once for each. all: hold back every
 * one. */
int audits_hold_back(struct audits *audits, const struct sample *sample, bool all, struct fathom_error *err);
/* Holds this one back, whichever it is. 0 or -ENOMEM. */
int audits_hold(struct audits *audits, const struct sample *sample, struct fathom_error *err);

/* For later passes. */
bool audits_held(const struct audits *audits, const struct sample *sample);
void audits_begin(struct audits *audits);    /* starts a pass */
uint32_t audits_next(struct audits *audits); /* the path of the pass's next audit sample, or TRIE_NONE */
struct anchors audits_paths(const struct audits *audits);

#endif
