#include "api/record/learning.h"

#include <stdlib.h>

#include "api/record/clocks.h"
#include "api/record/walk_sink.h"
#include "collector/scripts/script_poll.h"
#include "infer/live/feed.h"
#include "infer/live/script_finder.h"
#include "infer/live/stack_learner.h"

struct learning {
    struct verify *verify; /* NULL: the collector compares no stacks */
    collector_sink *next;
    void *context;                 /* of next */
    struct walk_sink *walks;       /* passes records on to next; NULL: stacks are passed on unchanged */
    struct stack_learner *learner; /* NULL: nothing is followed */
    struct stack_keeper *keeper;   /* NULL: stacks are not kept */
    /* Finds processes with an interpreter, in a thread of its own, if the collector reads their functions from outside. */
    struct script_poll *poll; /* NULL: it does not, and the next two are */
    struct script_finder *finder;
    struct feed *finding;
    struct clocks *clocks;      /* NULL: no clock has an adjustable rate */
    struct image_cache *images; /* of the learner after it has ended; NULL: none */
    const struct log *log;
};

static int find_scripts(void *learning, struct processes *processes, const struct record *record,
                        struct fathom_error *err)
{
    const struct learning *l = learning;
    (void)err;
    script_finder_take(l->finder, processes, record);
    if (record->kind == RECORD_FORK && record->pid != record->fork.parent_pid)
        script_poll_fork(l->poll, record->fork.parent_pid, record->pid);
    return 0;
}

static int start_finding(struct learning *l, const struct event *events, size_t count,
                         struct fathom_error *err)
{
    l->finder = script_finder_new(&(struct script_finder_input){script_poll_process, NULL, l->poll});
    if (!l->finder)
        return error_memory(err);
    return feed_start(
        &(struct feed_input){
            .events = events, .count = count, .take = find_scripts, .context = l, .at_once = true},
        &l->finding, err);
}

int learning_new(struct collector *collector, const struct collector_options *options, bool walks, bool cache,
                 collector_sink *next, void *context, struct learning **out, struct fathom_error *err)
{
    const struct event *events;
    size_t count = collector_events(collector, &events);
    struct learning *l = calloc(1, sizeof *l);
    if (!l)
        return error_memory(err);
    *l = (struct learning){.verify = collector_verify(collector),
                           .next = next,
                           .context = context,
                           .poll = collector_polls(collector),
                           .log = options->log};
    int rc = 0;
    if (!l->verify)
        rc = clocks_new(collector, &options->verify, &l->clocks, err);
    else if (walks)
        rc = walk_sink_new(events, count, next, context, &l->walks, err);
    if (rc == 0 && l->poll)
        rc = start_finding(l, events, count, err);
    if (rc == 0 && l->walks && cache && verify_finds_files(l->verify)) {
        l->keeper = stack_keeper_new();
        rc = l->keeper ? 0 : error_memory(err);
        walk_sink_untold(l->walks, verify_retract, l->verify);
    }
    if (rc == 0 && l->verify)
        rc = stack_learner_start(&(struct stack_learner_input){.events = events,
                                                               .count = count,
                                                               .know = verify_know,
                                                               .stacks_are = verify_stacks_are,
                                                               .script = verify_script,
                                                               .script_file = verify_script_file,
                                                               .walked = walks ? walk_sink_walked : NULL,
                                                               .number = verify_number_file,
                                                               .rows = verify_rows,
                                                               .keeper = l->keeper,
                                                               .wants = walk_sink_wants,
                                                               .place = verify_place,
                                                               .forget = verify_forget,
                                                               .context = l->verify,
                                                               .walks = l->walks},
                                 &l->learner, err);
    if (rc < 0)
        learning_free(l);
    else
        *out = l;
    return rc;
}

static void stop_learning(struct learning *l)
{
    if (l->learner)
        stack_learner_stop(l->learner, &l->images);
    feed_stop(l->finding, NULL);
    script_finder_free(l->finder);
    clocks_free(l->clocks);
    l->learner = NULL;
    l->finding = NULL;
    l->finder = NULL;
    l->clocks = NULL;
}

void learning_free(struct learning *l)
{
    if (!l)
        return;
    stop_learning(l);
    image_cache_free(l->images);
    walk_sink_free(l->walks);
    stack_keeper_free(l->keeper);
    free(l);
}

int learning_add(void *learning, const void *records, size_t size, struct fathom_error *err)
{
    struct learning *l = learning;
    struct fathom_error why;
    int rc = 0;
    /* The walk sink must know what is waiting before the learner can have walked it. */
    int passed = l->walks
                     ? walk_sink_add(l->walks, l->learner ? stack_learner_looked(l->learner) : UINT64_MAX,
                                     records, size, err)
                     : l->next(l->context, records, size, err);
    if (l->learner)
        rc = stack_learner_add(l->learner, records, size, &why);
    else if (l->clocks)
        rc = clocks_add(l->clocks, records, size, &why);
    if (rc == 0 && l->finding)
        rc = feed_add(l->finding, records, size, &why);
    if (rc < 0) { /* the recording is useful without learning */
        log_write(l->log, LOG_WARNING, "%s: no more is learned while recording, so more stacks are new",
                  why.text);
        stop_learning(l);
        if (l->keeper) /* nobody would report their frames */
            verify_retract(l->verify, 0);
    }
    return passed;
}

struct image_cache *learning_images(struct learning *l)
{
    return l->images;
}

void learning_keep(const struct learning *l, const struct log *notes)
{
    if (l->keeper)
        stack_keeper_save(l->keeper, l->log, notes);
}

int learning_flush(struct learning *l, struct fathom_error *err)
{
    return l->walks ? learning_add(l, "", 0, err) : 0;
}

int learning_finish(struct learning *l, struct fathom_error *err)
{
    stop_learning(l);
    if (!l->walks)
        return 0;
    const int rc = walk_sink_finish(l->walks, err);
    const uint64_t left_out = walk_sink_left_out(l->walks);
    if (left_out)
        log_write(l->log, LOG_NOTE,
                  "%llu stack%s not unwound to the root: recorded without the copy, as there were too many "
                  "(--keep-stacks: with it)",
                  (unsigned long long)left_out, left_out == 1 ? "" : "s");
    return rc;
}
