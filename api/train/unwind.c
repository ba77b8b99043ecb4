/* unwind.c - trains on stack dumps, which are unwound as they arrive. */
#include <stdlib.h>

#include "api/record/target.h"
#include "api/train/train.h"
#include "base/vec.h"
#include "infer/engine/learn.h"

struct training {
    struct processes *processes;
    struct learner *learner;
    uint32_t *paths; /* nodes of the learner's trie, in the order of the samples; may be TRIE_NONE */
    size_t path_count, path_capacity;
    struct host *host;
};

/* An order_sink (context: the training). */
static int learn_stack(void *context, const struct record *record, struct fathom_error *err)
{
    struct training *t = context;
    struct learned learned;
    int rc = learner_take(t->learner, t->processes, record, &learned, err);
    if (rc < 0 || record->kind != RECORD_SAMPLE)
        return rc;
    return vec_push(t->paths, t->path_count, t->path_capacity, learned.node) ? 0 : error_memory(err);
}

static uint32_t contexts_of(const struct training *t)
{
    return trie_node_count(t->learner->trie) - 1;
}

static int train_progress(void *context, struct fathom_error *err)
{
    (void)err;
    struct training *t = context;
    host_status(t->host, "%llu paths entered, %u contexts", (unsigned long long)t->learner->learned,
                contexts_of(t));
    return 0;
}

static void say_summary(const struct training *t, const struct fathom_train *train)
{
    const struct learner *l = t->learner;
    struct collector_summary kernel;
    collector_summary(train->sampling.collector, &kernel);
    log_write(&t->host->log, LOG_NOTE, "%llu stacks entered, %u contexts in %s",
              (unsigned long long)l->learned, contexts_of(t), outfile_path(train->out));
    for (unsigned end = 0; end < UNWIND_ENDS; end++) {
        if (l->not_learned[end])
            log_write(&t->host->log, LOG_NOTE, "%llu stacks left out: %s%s",
                      (unsigned long long)l->not_learned[end],
                      end == UNWIND_ROOT ? "a frame lies in no known function"
                                         : unwind_end_text((enum unwind_end)end),
                      end == UNWIND_CUT ? " (use a larger --stack)" : "");
    }
    if (kernel.lost)
        log_write(&t->host->log, LOG_WARNING,
                  "%llu samples were lost: sample less often or with a smaller --stack",
                  (unsigned long long)kernel.lost);
}

static int open_learner(struct fathom_train *train, struct fathom_error *err)
{
    struct training *t = train->own = calloc(1, sizeof *t);
    if (!t)
        return error_memory(err);
    t->host = &train->host;
    t->processes = processes_new(train->images, &train->host.log);
    t->learner = learner_new(LEARN_DUMPS, false);
    if (!t->processes || !t->learner)
        return error_memory(err);
    return !train->old || trie_adopt_images(t->learner->trie, train->old) ? 0 : error_memory(err);
}

static int start_unwinding(struct fathom_train *train, struct fathom_error *err)
{
    target_collector(&train->options.target, &train->host.log, &train->sampling.collect);
    return sampling_open(&train->sampling, learn_stack, train->own, err);
}

static int save_map(struct fathom_train *train, struct fathom_error *err)
{
    struct training *t = train->own;
    int rc = order_flush(train->sampling.order, err);
    if (rc == 0)
        rc = trials_slice(t->paths, t->path_count, t->learner->trie, err);
    if (rc == 0)
        rc = train_save(train, t->learner->trie, err);
    if (rc >= 0)
        say_summary(t, train);
    return rc;
}

static void close_learner(struct fathom_train *train)
{
    struct training *t = train->own;
    learner_free(t->learner);
    free(t->paths);
    processes_free(t->processes);
    free(t);
}

const struct train_way train_unwind = {open_learner, start_unwinding, NULL,          save_map,
                                       NULL,         close_learner,   train_progress};
