/* train_unwind.c - `fathom train --via unwind`: unwinds stack dumps as they arrive into a path map. */
#include <stdlib.h>

#include "cli/exit.h"
#include "cli/privilege.h"
#include "cli/train_steps.h"
#include "cli/train_ways.h"
#include "infer/engine/learn.h"

struct training {
    struct order *order;
    struct processes *processes;
    struct learner *learner;
    struct terminal *terminal;
};

/* An order_sink (context: the training). */
static int learn(void *context, const struct record *record, struct fathom_error *err)
{
    struct training *t = context;
    return learner_take(t->learner, t->processes, record, err);
}

static uint32_t contexts_of(const struct training *t)
{
    return trie_node_count(t->learner->trie) - 1;
}

static int train_sink(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct training *t = context;
    return order_push_all(t->order, records, size, err);
}

static int train_progress(void *context, struct fathom_error *err)
{
    (void)err;
    struct training *t = context;
    terminal_progress(t->terminal, "%llu paths entered, %u contexts", (unsigned long long)t->learner->learned,
                      contexts_of(t));
    return 0;
}

static void say_summary(const struct training *t, const struct collector *collector,
                        const struct train_options *options)
{
    const struct learner *l = t->learner;
    struct collector_summary kernel;
    collector_summary(collector, &kernel);
    terminal_say(t->terminal, LOG_NOTE, "%llu stacks entered, %u contexts in %s",
                 (unsigned long long)l->learned, contexts_of(t), outfile_path(options->out));
    for (unsigned end = 0; end < UNWIND_ENDS; end++) {
        if (l->not_learned[end])
            terminal_say(t->terminal, LOG_NOTE, "%llu stacks left out: %s%s",
                         (unsigned long long)l->not_learned[end],
                         end == UNWIND_ROOT ? "a frame lies in no known function"
                                            : unwind_end_text((enum unwind_end)end),
                         end == UNWIND_CUT ? " (use a larger --stack)" : "");
    }
    if (kernel.lost)
        terminal_say(t->terminal, LOG_WARNING,
                     "%llu samples were lost: sample less often or with a smaller --stack",
                     (unsigned long long)kernel.lost);
}

int train_unwind(const struct train_options *options, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct training t = {.terminal = terminal};
    struct pathmap *old = NULL;
    struct collector *collector = NULL;
    struct decoder *decoder = NULL;
    struct image_cache *images = image_cache_new(&(struct image_options){.log = &terminal->log});
    int code = EXIT_OK;

    t.processes = images ? processes_new(images, &terminal->log) : NULL;
    t.learner = learner_new(LEARN_DUMPS, false);
    int rc = t.processes && t.learner ? 0 : error_memory(&err);
    if (rc == 0)
        rc = train_open_map(options, &old, &err);
    if (rc == 0 && old)
        rc = trie_adopt_images(t.learner->trie, old) ? 0 : error_memory(&err);
    struct collector_options collect;
    target_collector(&options->target, &terminal->log, &collect);
    if (rc == 0)
        rc = collector_open(&collect, &collector, &err);
    if (rc < 0)
        goto out;
    privilege_only_observe(options->output, collect.command, terminal);
    const struct event *events;
    size_t count = collector_events(collector, &events);
    rc = decoder_new(events, count, &decoder, &err);
    if (rc == 0) {
        t.order = order_new(decoder, true, learn, &t);
        rc = t.order ? 0 : error_memory(&err);
    }
    enum target_end end;
    if (rc == 0)
        rc = target_run(&options->target, collector, &(struct target_user){train_sink, train_progress, &t},
                        &end, &err);
    if (rc == 0)
        rc = order_flush(t.order, &err);
    terminal_progress_end(terminal);
    if (rc == 0)
        rc = trials_slice(t.learner->own, t.learner->own_count, t.learner->trie, &err);
    if (rc == 0)
        rc = train_save(options, t.learner->trie, &old, terminal, &err);
    if (rc >= 0) {
        say_summary(&t, collector, options);
        if (options->target.command && collector_status(collector) >= 0)
            code = exit_code_of_status(collector_status(collector));
        if (code == EXIT_OK && rc > 0)
            code = EXIT_BUILD;
    }
out:
    if (rc < 0) {
        terminal_error(terminal, &err);
        code = exit_code_of(&err);
    }
    pathmap_close(old);
    order_free(t.order);
    decoder_free(decoder);
    collector_close(collector);
    learner_free(t.learner);
    processes_free(t.processes);
    image_cache_free(images);
    return code;
}
