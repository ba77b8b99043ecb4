#include "api/train/stacks.h"

#include <stdlib.h>

#include "api/record/target.h"
#include "base/vec.h"
#include "infer/samples/trainer.h"

struct train_stacks {
    const struct log *log;
    struct fathom_target target; /* borrowed by the collector, as pid */
    pid_t pid;
    struct sampling sampling;
    struct processes *processes;
    struct trie *trie; /* of all frames, including those without hooks */
    struct trainer *trainer;
    bool ended;
    uint64_t entered, left_out;
    uint32_t *leaves; /* of the stacks entered, in order of time */
    size_t leaf_count, leaf_capacity;
};

static int learn_stack(void *context, const struct record *record, struct fathom_error *err)
{
    struct train_stacks *s = context;
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(s->processes, record, err);
    const struct sample *sample = &record->sample;
    struct process *process = process_find(s->processes, sample->pid);
    if (!process || !sample->has_regs || !sample->stack)
        return 0;
    int entered = trainer_add(s->trainer, process, sample, NULL, err);
    if (entered <= 0) {
        s->left_out++; /* mostly in a hook */
        return entered;
    }
    s->entered++;
    uint32_t leaf = trainer_entered(s->trainer).leaf;
    return vec_push(s->leaves, s->leaf_count, s->leaf_capacity, leaf) ? 0 : error_memory(err);
}

/* Stops the collector and drains what is left. */
static void end_sampling(struct train_stacks *s)
{
    struct fathom_error err = {0};
    if (s->ended)
        return;
    s->ended = true;
    int stopped = collector_stop(s->sampling.collector, order_push_all, s->sampling.order, &err);
    int flushed = order_flush(s->sampling.order, stopped < 0 ? NULL : &err); /* what arrived remains valid */
    if (stopped < 0 || flushed < 0)
        log_write(s->log, LOG_WARNING, "only part of the stacks were sampled: %s", err.text);
}

static int start_thread(struct train_stacks *s, struct fathom_error *err)
{
    target_collector(&s->target, s->log, &s->sampling.collect);
    int rc = sampling_open(&s->sampling, learn_stack, s, err);
    return rc == 0 ? collector_start(s->sampling.collector, order_push_all, s->sampling.order, err) : rc;
}

struct train_stacks *train_stacks_start(const struct fathom_train *t, pid_t pid, const char *runtime)
{
    struct fathom_error err = {0};
    struct train_stacks *s = calloc(1, sizeof *s);
    int rc = s ? 0 : error_memory(&err);
    if (rc == 0) {
        s->log = &t->host.log;
        s->pid = pid;
        s->target = (struct fathom_target){.frequency = t->options.samples,
                                           .pids = {&s->pid, 1},
                                           .stack_bytes = t->options.target.stack_bytes};
        s->processes = processes_new(t->images, s->log);
        s->trie = trie_new();
        s->trainer = s->trie ? trainer_new(s->trie) : NULL;
        rc = s->processes && s->trainer ? 0 : error_memory(&err);
    }
    if (rc == 0) {
        trainer_leave_out(s->trainer, runtime);
        rc = start_thread(s, &err);
    }
    if (rc < 0) {
        log_write(&t->host.log, LOG_WARNING,
                  "cannot sample stacks, so contexts are weighted by calls alone: %s", err.text);
        train_stacks_free(s);
        s = NULL;
    }
    return s;
}

void train_stacks_poll(struct train_stacks *s)
{
    struct fathom_error err;
    if (!s || s->ended)
        return;
    int more = collector_poll(s->sampling.collector, 0, order_push_all, s->sampling.order, &err);
    if (more < 0)
        log_write(s->log, LOG_WARNING, "stopped sampling stacks: %s", err.text);
    if (more <= 0)
        end_sampling(s);
}

int train_stacks_merge(struct train_stacks *s, struct trie *trie, struct fathom_error *err)
{
    struct pathmap *map;
    if (!s)
        return 0;
    end_sampling(s);
    trie_statistics(s->trie)->paths_failed = 0; /* stacks in hooks are not failures */
    int rc = trials_slice(s->leaves, s->leaf_count, s->trie, err);
    if (rc == 0)
        rc = pathmap_over(s->trie, &map, err);
    if (rc < 0)
        return rc;
    rc = trie_merge(trie, map, err);
    pathmap_close(map);
    log_write(s->log, LOG_NOTE, "%llu sampled stacks entered, %llu left out (most in hooks)",
              (unsigned long long)s->entered, (unsigned long long)s->left_out);
    return rc;
}

void train_stacks_free(struct train_stacks *s)
{
    if (!s)
        return;
    sampling_close(&s->sampling);
    trainer_free(s->trainer);
    trie_free(s->trie);
    processes_free(s->processes);
    free(s->leaves);
    free(s);
}
