/* train.c - `fathom train`: stack dumps of a training run, unwound as they come, into a path map. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli/target.h"
#include "infer/pipeline.h"
#include "perfdata/format.h"

#define STACK_BYTES 32768

struct train_options {
    struct target target;
    const char *output;
    bool append;
};

struct training {
    struct order *order;
    struct pipeline *pipeline;
    struct terminal *terminal;
};

static int train_sink(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct training *t = context;
    const char *at = records, *end = at + size;
    int rc = 0;
    while (rc == 0 && at < end) {
        const struct perf_event_header *header = (const void *)at;
        rc = header->type == USER_FINISHED_ROUND ? order_round(t->order, err)
                                                 : order_push(t->order, at, header->size, err);
        at += header->size;
    }
    return rc;
}

static void train_progress(void *context)
{
    struct training *t = context;
    struct pipeline_summary summary;
    pipeline_summary(t->pipeline, &summary);
    terminal_progress(t->terminal, "%llu paths entered, %u contexts", (unsigned long long)summary.learned,
                      trie_node_count(pipeline_trie(t->pipeline)) - 1);
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
                 options->output);
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

/* --append: what the map knows already. */
static int read_old_map(const struct train_options *options, struct trie *trie, struct fathom_error *err)
{
    if (!options->append || access(options->output, F_OK) != 0)
        return 0;
    struct pathmap *map;
    int rc = pathmap_open(options->output, &map, err);
    if (rc == 0) {
        rc = trie_merge(trie, map, err);
        pathmap_close(map);
    }
    return rc;
}

static int train_to_map(const struct train_options *options, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct training t = {.terminal = terminal};
    struct collector *collector = NULL;
    struct decoder *decoder = NULL;
    struct pipeline_options learning = {.learning = LEARN_DUMPS};
    struct image_options image_options = {.log = &terminal->log};
    struct image_cache *images = image_cache_new(&image_options);
    int code = EXIT_OK;

    t.pipeline = images ? pipeline_new(images, &learning, &terminal->log) : NULL;
    int rc = t.pipeline ? 0 : error_memory(&err);
    if (rc == 0)
        rc = read_old_map(options, pipeline_trie(t.pipeline), &err);
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
        rc = trie_save(pipeline_trie(t.pipeline), options->output, &err);
    if (rc == 0) {
        say_summary(&t, collector, options);
        if (options->target.command && collector_status(collector) >= 0)
            code = exit_code_of_status(collector_status(collector));
    }
out:
    if (rc < 0) {
        terminal_error(terminal, &err);
        code = exit_code_of(&err);
    }
    order_free(t.order);
    decoder_free(decoder);
    collector_close(collector);
    pipeline_free(t.pipeline);
    image_cache_free(images);
    return code;
}

enum { TRAIN_APPEND = TARGET_OWN, TRAIN_STACK };

static bool take_option(void *context, int option, struct terminal *terminal)
{
    struct train_options *o = context;
    switch (option) {
    case 'o':
        o->output = optarg;
        return true;
    case TRAIN_APPEND:
        o->append = true;
        return true;
    case TRAIN_STACK:
        return option_number(terminal, "--stack", optarg, 64, 65528, &o->target.stack_bytes);
    default:
        return false;
    }
}

static int train_run(int argc, char **argv, struct terminal *terminal)
{
    static const struct option longs[] = {
        TARGET_LONG,
        {"output", required_argument, NULL, 'o'},
        {"append", no_argument, NULL, TRAIN_APPEND},
        {"stack", required_argument, NULL, TRAIN_STACK},
        {0},
    };
    struct train_options options = {.output = "fathom.fmap", .target = {.stack_bytes = STACK_BYTES}};
    struct target_parser parser = {&train_command, "+o:" TARGET_SHORT, longs, take_option, &options};
    int code = target_parse(&options.target, &parser, argc, argv, terminal);
    if (code < 0)
        code = target_complete(&options.target, &train_command, argc, argv, terminal);
    if (code < 0)
        code = train_to_map(&options, terminal);
    target_free(&options.target);
    return code;
}

const struct command train_command = {
    .name = "train",
    .summary = "learn a program's call paths into a path map",
    .usage = "usage: fathom train [OPTIONS] -- COMMAND [ARG...]\n"
             "       fathom train [OPTIONS] -p PID[,PID...]\n"
             "\n"
             "Samples the stack, unwinds it by the binaries' own CFI tables (no frame pointers, no rebuild) "
             "and enters\n"
             "every path with its stack height into a path map, for 'fathom report -m MAP'.\n"
             "\n"
             "  -o, --output MAP       default: fathom.fmap\n"
             "      --append           add to the map instead of replacing it\n"
             "      --stack N          bytes of stack in each sample, at most 65528 (default: 32768)\n"
             "  -e, --event EVENT      what to sample (default: cycles, or cpu-clock where there is no PMU)\n"
             "  -F, --frequency HZ     samples per second (default for clocks: 1000)\n"
             "  -c, --period N         one sample every N events (clocks: nanoseconds)\n"
             "  -p, --pid PID,...      attach to these processes, their threads and their children\n"
             "  -t, --tid TID,...      attach to these threads only\n"
             "      --duration S       stop after S seconds (a launched command is then ended)\n"
             "  -q, --quiet            no progress, no notes\n"
             "  -v, --verbose          say more\n"
             "  -h, --help             this text\n"
             "\n"
             "Run it on input that is representative, as often as you like (--append). The exit code is the\n"
             "command's own when the training worked.\n",
    .run = train_run,
};
