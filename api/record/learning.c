/* learning.c - see learning.h. */
#include "api/record/learning.h"

#include <stdlib.h>

#include "api/record/clocks.h"
#include "infer/live/stack_learner.h"

struct learning {
    collector_sink *next;
    void *context;                 /* its */
    struct stack_learner *learner; /* NULL: nothing is followed */
    struct clocks *clocks;         /* NULL: none whose rate can be set */
    const struct log *log;
};

static int know(void *collector, const struct known_stack *stack, struct fathom_error *err)
{
    return collector_know(collector, stack, err);
}

static void place_process(void *collector, uint32_t pid, uint32_t space)
{
    collector_place(collector, pid, space);
}

static void forget(void *collector, uint32_t space)
{
    collector_forget(collector, space);
}

int learning_new(struct collector *collector, const struct collector_options *options, collector_sink *next,
                 void *context, struct learning **out, struct fathom_error *err)
{
    const struct event *events;
    size_t count = collector_events(collector, &events);
    struct learning *l = calloc(1, sizeof *l);
    if (!l)
        return error_memory(err);
    *l = (struct learning){.next = next, .context = context, .log = options->log};
    int rc = 0;
    if (collector_follows(collector))
        rc = stack_learner_start(
            &(struct stack_learner_input){events, count, know, place_process, forget, collector}, &l->learner,
            err);
    else
        rc = clocks_new(collector, &options->verify, &l->clocks, err);
    if (rc < 0)
        learning_free(l);
    else
        *out = l;
    return rc;
}

static void stop_learning(struct learning *l)
{
    stack_learner_stop(l->learner);
    clocks_free(l->clocks);
    l->learner = NULL;
    l->clocks = NULL;
}

void learning_free(struct learning *l)
{
    if (!l)
        return;
    stop_learning(l);
    free(l);
}

int learning_add(void *learning, const void *records, size_t size, struct fathom_error *err)
{
    struct learning *l = learning;
    struct fathom_error why;
    int rc = 0;
    if (l->learner)
        rc = stack_learner_add(l->learner, records, size, &why);
    else if (l->clocks)
        rc = clocks_add(l->clocks, records, size, &why);
    if (rc < 0) { /* the recording is of use without */
        log_write(l->log, LOG_WARNING, "%s: no more is learned while recording, so more stacks are new",
                  why.text);
        stop_learning(l);
    }
    return l->next(l->context, records, size, err);
}
