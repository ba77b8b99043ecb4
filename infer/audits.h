/*
 * audits.h - a recording's audit samples: the path that each of them told, in their order, and which of them
 * are held back: not learned from, but resolved like the samples of the event, to tell how often that is
 * right.
 */
#ifndef FATHOM_INFER_AUDITS_H
#define FATHOM_INFER_AUDITS_H

#include "perfdata/reader.h"

#define AUDITS_FIRST 20u /* of these none is held back, of those after them every tenth */

struct audits;

/* The paths of all, in their order. */
struct anchors {
    const uint32_t *nodes; /* of the trie; TRIE_NONE: not told */
    size_t count;
};

struct audits *audits_new(void); /* NULL: out of memory */
void audits_free(struct audits *audits);
/* The recording's events, borrowed, and the number of the one to resolve, which is never held back. Before, no
 * sample is an audit. */
void audits_events(struct audits *audits, const struct event *events, size_t count, uint32_t event);

bool audits_is(const struct audits *audits, const struct sample *sample);
/* In the first pass over the samples. */
int audits_add(struct audits *audits, struct fathom_error *err); /* one more, whose path is not told yet */
void audits_tell(struct audits *audits, uint32_t node);          /* its path */
/* Decides whether an audit sample is held back, once for each: 1, 0 or -ENOMEM. all: each is. */
int audits_hold_back(struct audits *audits, const struct sample *sample, bool all, struct fathom_error *err);

/* In later passes. */
bool audits_held(const struct audits *audits, const struct sample *sample);
void audits_begin(struct audits *audits);    /* a pass begins */
uint32_t audits_next(struct audits *audits); /* the path of its next audit sample; TRIE_NONE */
struct anchors audits_paths(const struct audits *audits);

#endif
