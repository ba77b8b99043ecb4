/* patch.c - trains on every call of a command, seen by the probe runtime inside it. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/hooks/hooked.h"
#include "api/hooks/hooks.h"
#include "api/train/stacks.h"
#include "api/train/train.h"
#include "base/clock.h"
#include "pathmap/train/harvest.h"

#define PROGRESS_SHARE 20.0 /* inspecting the stores takes at most 1/20 of the time */

struct patching {
    struct fathom_train *train;
    struct hooked hooked;
    struct trie *trie;
    struct train_stacks *stacks; /* NULL: stacks are not sampled */
    double looked_at, look_took; /* last inspection of the stores, for progress; seconds */
    struct harvest_progress progress;
};

static void show_progress(struct patching *p)
{
    const struct host *host = &p->train->host;
    double now = clock_seconds(), since = now - p->looked_at;
    if (!host_asks_status(host) || since < 1 || since < p->look_took * PROGRESS_SHARE)
        return;
    uint64_t calls = p->progress.calls;
    if (harvest_progress(session_directory(p->hooked.session), &p->progress, NULL) < 0)
        return;
    double rate = p->progress.calls > calls ? (double)(p->progress.calls - calls) / since : 0;
    p->looked_at = now;
    p->look_took = clock_seconds() - now;
    host_status(host, "%.1f million calls, %.1f million per second, %llu contexts",
                (double)p->progress.calls * 1e-6, rate * 1e-6, (unsigned long long)p->progress.nodes);
}

/* Called at the first request, as the stack's base moves until the kernel has set up the command. */
static void begin_sampling(void *context, pid_t pid)
{
    struct patching *p = context;
    if (p->train->options.samples && p->train->way != FATHOM_TRAIN_SLED)
        p->stacks = train_stacks_start(p->train, pid, p->hooked.library);
}

static void poll_training(void *context)
{
    struct patching *p = context;
    train_stacks_poll(p->stacks);
    show_progress(p);
}

static int run_hooked(struct fathom_train *t, struct fathom_error *err)
{
    struct patching *p = t->own;
    struct hooked_serving serving = {.stop = &t->stop,
                                     .duration = t->options.target.duration,
                                     .asked = begin_sampling,
                                     .poll = poll_training,
                                     .context = p};
    (void)err;
    hooked_serve(&p->hooked, &serving, 0);
    return 0;
}

static void say_summary(const struct patching *p, const struct harvest *h, const struct trie *trie)
{
    const struct fathom_train *t = p->train;
    log_write(&t->host.log, LOG_NOTE, "%llu calls in %llu process%s, %u contexts in %s",
              (unsigned long long)h->calls, (unsigned long long)h->stores, h->stores == 1 ? "" : "es",
              trie_node_count(trie) - 1, outfile_path(t->out));
    hooks_say_losses(&t->host, h, session_directory(p->hooked.session));
}

/* Checked before the training, which would be lost otherwise. */
static int check_old(const struct fathom_train *t, struct fathom_error *err)
{
    return t->old && pathmap_leaves_out(t->old)
               ? error_set(err, ENOTSUP,
                           "%s has an older format, whose paths omit the frames of images without hooks: "
                           "train without --append, or into another file",
                           t->options.output)
               : 0;
}

static int save_map(struct fathom_train *t, struct fathom_error *err)
{
    struct patching *p = t->own;
    struct session *session = p->hooked.session;
    struct harvest harvest = {.partial = t->way == FATHOM_TRAIN_SLED};
    hooks_say_unhooked(&t->host, session_notes(session));
    progress_show(&t->host.progress, "making the map", 0, 0);
    int rc = harvest_directory(&harvest, p->trie, t->images, session_directory(session), &t->host.log, err);
    if (rc == 0 && harvest.stores == 0)
        rc = error_set(err, ECHILD,
                       "nothing was learned: the probe runtime did not start in %s (a program that drops "
                       "LD_PRELOAD or FATHOM_PROBE from its environment?); --via unwind needs no runtime",
                       t->options.target.command[0]);
    /* After the harvest, like the old map in train_save(): hooked images must be in the trie first (trie.h).
     */
    if (rc == 0)
        rc = train_stacks_merge(p->stacks, p->trie, err);
    if (rc == 0)
        hooks_say(&t->host, &harvest, session, t->options.image_count > 0);
    if (rc == 0)
        rc = train_save(t, p->trie, err);
    if (rc >= 0)
        say_summary(p, &harvest, p->trie);
    harvest_free(&harvest);
    return rc;
}

/* The map's absolute path; NULL: it cannot be determined. */
static char *whole_path(const char *output)
{
    char *directory = output[0] == '/' ? NULL : getcwd(NULL, 0), *whole = NULL;
    if (asprintf(&whole, "%s%s%s", directory ? directory : "", directory ? "/" : "", output) < 0)
        whole = NULL;
    free(directory);
    return whole;
}

static int open_session(struct fathom_train *t, struct fathom_error *err)
{
    struct patching *p = t->own = calloc(1, sizeof *p);
    if (!p)
        return error_memory(err);
    p->train = t;
    p->trie = trie_new();
    char *output = whole_path(t->options.output);
    struct session_options session = {.names = t->options.images,
                                      .name_count = t->options.image_count,
                                      .sleds_only = t->way == FATHOM_TRAIN_SLED,
                                      .output = output,
                                      .images = t->images,
                                      .log = &t->host.log};
    int rc = p->trie ? check_old(t, err) : error_memory(err);
    if (rc == 0)
        rc = hooked_open(&p->hooked, &session, t->options.runtime, &t->host, err);
    free(output);
    return rc;
}

static int start_hooked(struct fathom_train *t, struct fathom_error *err)
{
    struct patching *p = t->own;
    p->looked_at = clock_seconds();
    return hooked_start(&p->hooked, t->options.target.command, NULL, err);
}

static int command_status(const struct fathom_train *t)
{
    return ((const struct patching *)t->own)->hooked.status;
}

static void close_session(struct fathom_train *t)
{
    struct patching *p = t->own;
    hooked_close(&p->hooked);
    train_stacks_free(p->stacks);
    trie_free(p->trie);
    free(p);
}

const struct train_way train_patch = {open_session,   start_hooked,  run_hooked, save_map,
                                      command_status, close_session, NULL};
