/*
 * smooth.h - temporal coherence for a stream of samples: ambiguous ones wait until what their thread did next
 * is known, and then have the probabilities of the trellis (trellis.h). What a coroutine does goes on for
 * itself: a thread here is what process_thread_key() tells apart.
 */
#ifndef FATHOM_INFER_MODEL_SMOOTH_H
#define FATHOM_INFER_MODEL_SMOOTH_H

#include "infer/model/trellis.h"
#include "infer/samples/run_time.h"

struct smoother;

/* Called for each sample once its probabilities are settled. A negative return is handed through. */
typedef int smoother_sink(void *context, const struct process *process, const struct sample *sample,
                          const struct resolved *resolved, struct fathom_error *err);

/* resolver and model are borrowed. NULL: out of memory. */
struct smoother *smoother_new(struct resolver *resolver, struct coherence *model, smoother_sink *sink,
                              void *context);
void smoother_free(struct smoother *smoother);
/* One sample; samples of one thread come in order of time. Sure
 * and unknown samples go to the sink at once when none of their thread wait, ambiguous ones when the next
 * sure one of their thread comes, or TRELLIS_RUN others. sample's dump is kept meanwhile, its call chain and
 * branches are not, and the process is held. An answer that the model did not meet counts as one sample. */
int smoother_add(struct smoother *smoother, struct run_time run, struct process *process,
                 const struct sample *sample, const struct resolved *resolved, struct fathom_error *err);
/* The thread was in this state then, for sure: nothing goes to the sink. */
int smoother_true_path(struct smoother *smoother, struct run_time run, uint32_t state,
                       struct fathom_error *err);
/* The thread ends: it is forgotten when RETIRED_KEPT (base/retired.h) others have ended, unless samples wait then. */
void smoother_end(struct smoother *smoother, uint64_t thread_key);
#define SMOOTHER_ALL UINT32_MAX
/* Settles the samples of a process's thread, or of all its threads, that wait: what the process tells of them is about to change. NULL: those of
 * all processes. */
int smoother_settle(struct smoother *smoother, const struct process *process, uint32_t tid,
                    struct fathom_error *err);

#endif
