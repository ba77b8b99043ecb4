/* train_unwind.c - `fathom train --via unwind`: stack dumps, unwound as they come, into a path map. */
#include <stdlib.h>

#include "cli/exit.h"
#include "cli/train_steps.h"
#include "cli/train_ways.h"
#include "infer/pipeline.h"

struct training {
    struct order *order;
    struct pipeline *pipeline;
    struct terminal *terminal;
};

static int train_sink(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct training *t = context;
    return train_order(t->order, records, size, err);
}

static int train_progress(void *context, struct fathom_error *err)
{
    (void)err;
    struct training *t = context;
    struct pipeline_summary summary;
    pipeline_summary(t->pipeline, &summary);
    terminal_progress(t->terminal, "%llu paths entered, %u contexts", (unsigned long long)summary.learned,
                      trie_node_count(pipeline_trie(t->pipeline)) - 1);
    return 0;
}

static void say_summary(const struct training *t, const struct collector *collector,
                        const struct train_options *options)
{
    struct pipeline_summary s;
    struct collector_summary kernel;
    pipeline_summary(t->pipeline, &s);
    collector_summary(collector, &kernel);
    terminal_say(t->terminal, LOG_NOTE, "%llu stacks entered, %u contexts in %s",
                 (unsigned long long)s.learned, trie_node_count(pipeline_trie(t->pipeline)) - 1,
                 outfile_path(options->out));
    for (unsigned end = 0; end < UNWIND_ENDS; end++) {
        if (s.not_learned[end])
            terminal_say(t->terminal, LOG_NOTE, "%llu stacks left out: %s%s",
                         (unsigned long long)s.not_learned[end],
                         end == UNWIND_ROOT ? "a frame is in no known function"
                                            : unwind_end_text((enum unwind_end)end),
                         end == UNWIND_CUT ? " (a larger --stack helps)" : "");
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
    struct pipeline_options learning = {.learning = LEARN_DUMPS};
    struct image_options image_options = {.log = &terminal->log};
    struct image_cache *images = image_cache_new(&image_options);
    int code = EXIT_OK;

    t.pipeline = images ? pipeline_new(images, &learning, &terminal->log) : NULL;
    int rc = t.pipeline ? 0 : error_memory(&err);
    if (rc == 0)
        rc = train_open_map(options, &old, &err);
    if (rc == 0 && old)
        rc = trie_merge(pipeline_trie(t.pipeline), old, &err);
    struct collector_options collect;
    target_collector(&options->target, terminal, &collect);
    if (rc == 0)
        rc = collector_open(&collect, &collector, &err);
    if (rc < 0)
        goto out;
    const struct event *events;
    size_t count = collector_events(collector, &events);
    rc = decoder_new(events, count, &decoder, &err);
    if (rc == 0) {
        t.order = order_new(decoder, true, pipeline_learn, t.pipeline);
        rc = t.order ? 0 : error_memory(&err);
    }
    enum target_end end;
    if (rc == 0)
        rc = target_run(&options->target, collector, train_sink, &t, train_progress, &end, &err);
    if (rc == 0)
        rc = order_flush(t.order, &err);
    terminal_progress_end(terminal);
    if (rc == 0)
        rc = train_save(options, pipeline_trie(t.pipeline), old, terminal, &err);
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
    pipeline_free(t.pipeline);
    image_cache_free(images);
    return code;
}
