/*
 * smooth.h - temporal coherence: what a thread did just before and just after tells ambiguous samples apart.
 *
 * Consecutive samples of a thread share most of their outer frames. The model: between two samples the thread
 * returns from some of its innermost frames, how many depends on the time between (learned from pairs of
 * samples that are sure), and then goes from there as the map's counts say. Forward-backward over the
 * candidates of each run of ambiguous samples, between the sure samples on both sides, gives each candidate's
 * probability in the light of all of them.
 *
 *     P(B | A) = sum over d <= common(A, B) of keep(d | A, gap) * self(B) / below(B's frame d)
 *
 * common: functions from the root that both share; below: the samples that training saw at or under a
 * context.
 */
#ifndef FATHOM_INFER_SMOOTH_H
#define FATHOM_INFER_SMOOTH_H

#include "infer/resolver.h"

#define SMOOTH_RUN 256 /* ambiguous samples of a thread that wait for a sure one, at most */

struct smoother;

/* Called for each sample once its probabilities are settled. A negative return is handed through. */
typedef int smoother_sink(void *context, const struct process *process, const struct sample *sample,
                          const struct resolved *resolved, struct fathom_error *err);

/* resolver is borrowed. NULL: out of memory. */
struct smoother *smoother_new(struct resolver *resolver, smoother_sink *sink, void *context);
void smoother_free(struct smoother *smoother);
/* One sample; samples of one thread come in order of time. Sure and unknown samples go to the sink at once,
 * ambiguous ones when the next sure one of their thread comes, or after SMOOTH_RUN of them. sample's
 * call chain and branches are not kept. */
int smoother_add(struct smoother *smoother, const struct process *process, const struct sample *sample,
                 const struct resolved *resolved, struct fathom_error *err);
/* The end: settles all that wait. */
int smoother_flush(struct smoother *smoother, struct fathom_error *err);

#endif
