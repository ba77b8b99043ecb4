/* train.c - a training: chooses the method, and runs its steps. */
#include "api/train/train.h"

#include <stdlib.h>

#include "api/hooks/hooks.h"
#include "api/record/target.h"

int sampling_open(struct sampling *s, order_sink *sink, void *context, struct fathom_error *err)
{
    const struct event *events;
    int rc = collector_open(&s->collect, &s->collector, err);
    if (rc < 0)
        return rc;
    size_t count = collector_events(s->collector, &events);
    rc = decoder_new(events, count, &s->decoder, err);
    if (rc < 0)
        return rc;
    s->order = order_new(s->decoder, true, sink, context);
    return s->order ? 0 : error_memory(err);
}

void sampling_close(struct sampling *s)
{
    order_free(s->order);
    decoder_free(s->decoder);
    collector_close(s->collector);
}

static void say_way(const struct log *log, const struct program *program, enum fathom_train_way way,
                    const char *why)
{
    bool root_could = program->raised || program->kind == PROGRAM_STATIC;
    log_write(log, LOG_NOTE,
              way == FATHOM_TRAIN_UPROBE ? "%s %s: using the kernel's uprobes to see every call, which is "
                                           "slow (--via unwind samples instead)"
              : root_could ? "%s %s: sampling stacks (root can see every call, with --via uprobe)"
                           : "%s %s: sampling stacks",
              program->path, why);
}

static int choose_source(struct fathom_train *t, struct fathom_error *err)
{
    struct program program;
    const char *why;
    t->way = t->options.way;
    if (t->way != FATHOM_TRAIN_AUTO)
        return 0;
    t->way = FATHOM_TRAIN_UNWIND;
    if (!t->options.target.command)
        return 0;
    int rc = program_find(t->options.target.command[0], &program, err);
    if (rc < 0)
        return rc;
    t->way = hooks_way(&program, &why);
    if (why)
        say_way(&t->host.log, &program, t->way, why);
    return 0;
}

int fathom_train_open(const struct fathom_train_options *options, const struct fathom_listener *listener,
                      struct fathom_train **out, struct fathom_error *err)
{
    struct fathom_train *t = calloc(1, sizeof *t);
    if (!t)
        return error_memory(err);
    t->options = *options;
    host_init(&t->host, listener);
    t->images = image_cache_new(&(struct image_options){.log = &t->host.log});
    int rc = t->images ? outfile_open(options->output, &t->out, err) : error_memory(err);
    if (rc == 0)
        rc = choose_source(t, err);
    t->how = t->way == FATHOM_TRAIN_UNWIND   ? &train_unwind
             : t->way == FATHOM_TRAIN_UPROBE ? &train_uprobe
                                             : &train_patch;
    if (rc == 0)
        rc = train_open_map(t, err);
    if (rc == 0)
        rc = t->how->open(t, err);
    if (rc == 0)
        *out = t;
    else
        fathom_train_close(t);
    return rc;
}

enum fathom_train_way fathom_train_way(const struct fathom_train *t)
{
    return t->way;
}

int fathom_train_start(struct fathom_train *t, struct fathom_error *err)
{
    return t->how->start(t, err);
}

int fathom_train_run(struct fathom_train *t, struct fathom_error *err)
{
    const struct target_user user = {.sink = order_push_all,
                                     .sink_context = t->sampling.order,
                                     .progress = t->how->progress,
                                     .context = t->own};
    return t->how->run
               ? t->how->run(t, err)
               : target_observe(&t->options.target, t->sampling.collector, &user, &t->stop, NULL, err);
}

void fathom_train_stop(struct fathom_train *t)
{
    atomic_store(&t->stop, true);
}

int fathom_train_save(struct fathom_train *t, struct fathom_error *err)
{
    return t->how->save(t, err);
}

int fathom_train_status(const struct fathom_train *t)
{
    const struct collector *collector = t->sampling.collector;
    return t->how->status ? t->how->status(t) : collector ? collector_status(collector) : -1;
}

void fathom_train_close(struct fathom_train *t)
{
    if (!t)
        return;
    pathmap_close(t->old);
    sampling_close(&t->sampling);
    if (t->own)
        t->how->close(t);
    image_cache_free(t->images);
    outfile_close(t->out);
    free(t);
}
