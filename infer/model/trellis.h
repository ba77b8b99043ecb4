/*
 * trellis.h - forward-backward over what one thread's samples can stand for.
 *
 * A column of the coherence model's states that has a single one cuts the trellis. A column is settled when a
 * sure one came after it, or enough others did (TRELLIS_LAG): so memory is bounded and answers come with a
 * short delay.
 */
#ifndef FATHOM_INFER_MODEL_TRELLIS_H
#define FATHOM_INFER_MODEL_TRELLIS_H

#include "infer/model/coherence.h"

#define TRELLIS_RUN 256 /* columns that wait, at most */
#define TRELLIS_LAG 64  /* of these the last so many are not settled when the run is full */

struct trellis; /* of one thread */

/* What all trellises share: the model and scratch memory. model is borrowed. NULL: out of memory. */
struct trellis_work;
struct trellis_work *trellis_work_new(struct coherence *model);
void trellis_work_free(struct trellis_work *work);
/* The states of settled columns are counted in the model, but for those that are sure, each column with this
 * weight. 0, as at first: they are not. */
void trellis_work_count(struct trellis_work *work, double weight);
/* From one to the other, the logarithm of the probability that the model gives to the columns which were
 * settled, each by those before it. */
void trellis_work_judge(struct trellis_work *work);
double trellis_work_judged(struct trellis_work *work);

/* Each column when it is settled, in order; probabilities by state. A negative return is handed through. */
typedef int trellis_sink(void *context, const struct column *column, const double *probabilities,
                         struct fathom_error *err);

struct trellis *trellis_new(struct trellis_work *work); /* NULL: out of memory */
void trellis_free(struct trellis *trellis);
/* sink may be NULL. */
int trellis_add(struct trellis *trellis, struct column column, trellis_sink *sink, void *context,
                struct fathom_error *err);
/* Settles all that wait. */
int trellis_flush(struct trellis *trellis, trellis_sink *sink, void *context, struct fathom_error *err);

#endif
