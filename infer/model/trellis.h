/*
 * trellis.h - forward-backward algorithm over the possible states of one thread's samples.
 *
 * A column with a single state of the coherence model cuts the trellis. A column is settled when a sure one came after it, or
 * enough others did (TRELLIS_LAG): so memory is bounded, and answers come with a short delay.
 */
#ifndef FATHOM_INFER_MODEL_TRELLIS_H
#define FATHOM_INFER_MODEL_TRELLIS_H

#include "infer/model/coherence.h"

#define TRELLIS_RUN 256 /* maximum number of columns that wait */
#define TRELLIS_LAG 64  /* of these the last ones are not settled when the run is full */

struct trellis; /* of one thread */

/* Shared by all trellises: the model and scratch memory. model is borrowed. NULL: out of memory. */
struct trellis_work;
struct trellis_work *trellis_work_new(struct coherence *model);
void trellis_work_free(struct trellis_work *work);
/* Counts the states of settled columns in the model, except for sure ones, each column with this weight. 0, the initial value:
 * they are not counted. */
void trellis_work_count(struct trellis_work *work, double weight);
/* From trellis_work_judge() to trellis_work_judged(), sums the logarithm of the model's probability of each settled column
 * given those before it. */
void trellis_work_judge(struct trellis_work *work);
double trellis_work_judged(struct trellis_work *work);

/* Called for each column when it is settled, in order; probabilities: by state. A negative return value is passed on. */
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
