/*
 * smooth.h - temporal coherence for a stream of samples: ambiguous ones wait until it is known what their thread did next, and
 * then get the probabilities of the trellis (trellis.h). A coroutine counts as a thread of its own: threads are distinguished
 * by process_thread_key().
 */
#ifndef FATHOM_INFER_MODEL_SMOOTH_H
#define FATHOM_INFER_MODEL_SMOOTH_H

#include "infer/model/trellis.h"
#include "infer/samples/run_time.h"

struct smoother;

/* Called for each sample once its probabilities are final. A negative return value is passed on. */
typedef int smoother_sink(void *context, const struct process *process, const struct sample *sample,
                          const struct resolved *resolved, struct fathom_error *err);

/* resolver and model are borrowed. NULL: out of memory. */
struct smoother *smoother_new(struct resolver *resolver, struct coherence *model, smoother_sink *sink,
                              void *context);
void smoother_free(struct smoother *smoother);
/* Adds a sample; those of one thread come in order of time. Sure and unknown samples go to the sink at once if no sample of
 * their thread waits; ambiguous ones when the thread's next sure one comes, or TRELLIS_RUN others. Meanwhile the smoother has
 * its own copy of the sample's dump, but not of its call chain and branches, and holds a reference to the process. An answer
 * that the model does not have counts as one sample. */
int smoother_add(struct smoother *smoother, struct run_time run, struct process *process,
                 const struct sample *sample, const struct resolved *resolved, struct fathom_error *err);
/* The thread was certainly in this state then: nothing goes to the sink. */
int smoother_true_path(struct smoother *smoother, struct run_time run, uint32_t state,
                       struct fathom_error *err);
/* The thread ended: it is freed after RETIRED_KEPT (base/retired.h) more have ended, unless samples wait then. */
void smoother_end(struct smoother *smoother, uint64_t thread_key);
#define SMOOTHER_ALL UINT32_MAX
/* Settles the waiting samples of one of the process's threads, or of all, before the process changes what its samples are
 * reported with. NULL: those of all processes. */
int smoother_settle(struct smoother *smoother, const struct process *process, uint32_t tid,
                    struct fathom_error *err);

#endif
