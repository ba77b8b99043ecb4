/*
 * answers.h - the paths that inference gave for the samples of a recording, to be judged in another pass over
 * the recording: inference delivers some samples late, when their process has already changed.
 */
#ifndef FATHOM_TESTS_CHECKER_ANSWERS_H
#define FATHOM_TESTS_CHECKER_ANSWERS_H

#include "infer/contexts/resolver.h"

struct answers;

struct answers *answers_new(void); /* NULL: out of memory */
void answers_free(struct answers *answers);
/* Adds the sample's candidates (nodes of the map), none if it is unknown. 0 or -ENOMEM. */
int answers_add(struct answers *answers, const struct sample *sample, const struct resolved *resolved);
/* The next answer for a sample like this one: the count of its nodes, 0 if it is unknown. -ENOENT: none, or
 * no more. */
int answers_take(struct answers *answers, const struct sample *sample, const uint32_t **nodes);

#endif
