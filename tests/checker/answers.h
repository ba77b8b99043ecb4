/*
 * answers.h - the paths that inference gave for the samples of a recording, to be judged when the recording
 * is gone through again: it tells some samples later than they come, when their process has moved on.
 */
#ifndef FATHOM_TESTS_CHECKER_ANSWERS_H
#define FATHOM_TESTS_CHECKER_ANSWERS_H

#include "infer/contexts/resolver.h"

struct answers;

struct answers *answers_new(void); /* NULL: out of memory */
void answers_free(struct answers *answers);
/* The sample's candidates (nodes of the map), none when it is unknown. 0 or -ENOMEM. */
int answers_add(struct answers *answers, const struct sample *sample, const struct resolved *resolved);
/* The next answer for a sample like this one: the count of its nodes, 0 when it is unknown. -ENOENT: there is
 * none, or no more. */
int answers_take(struct answers *answers, const struct sample *sample, const uint32_t **nodes);

#endif
