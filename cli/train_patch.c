/* train_patch.c - `fathom train --via patch`: trains on every call of a command, seen by the probe runtime
 * inside it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/exit.h"
#include "api/hooks/hooked.h"
#include "api/hooks/hooks.h"
#include "cli/interrupt.h"
#include "cli/train_stacks.h"
#include "cli/train_steps.h"
#include "cli/train_ways.h"
#include "pathmap/map/pathmap.h"
#include "pathmap/train/harvest.h"
#include "pathmap/train/session.h"

#define PROGRESS_SHARE 20.0 /* inspecting the stores takes at most 1/20 of the time */

struct patching {
    const struct train_options *options;
    struct terminal *terminal;
    struct host host;
    struct hooked hooks;
    struct image_cache *images;
    struct train_stacks *stacks; /* NULL: stacks are not sampled */
    double looked_at, look_took; /* last inspection of the stores, for progress; seconds */
    struct harvest_progress progress;
    struct pathmap *old; /* --append */
};

static double now_seconds(void)
{
    return (double)clock_ns() * 1e-9;
}

static void show_progress(struct patching *p)
{
    struct terminal *t = p->terminal;
    double now = now_seconds(), since = now - p->looked_at;
    if (t->quiet || !t->stderr_is_person || since < 1 || since < p->look_took * PROGRESS_SHARE)
        return;
    uint64_t calls = p->progress.calls;
    if (harvest_progress(session_directory(p->hooks.session), &p->progress, NULL) < 0)
        return;
    double rate = p->progress.calls > calls ? (double)(p->progress.calls - calls) / since : 0;
    p->looked_at = now;
    p->look_took = now_seconds() - now;
    terminal_progress(t, "%.1f million calls, %.1f million per second, %llu contexts",
                      (double)p->progress.calls * 1e-6, rate * 1e-6, (unsigned long long)p->progress.nodes);
}

/* Waits for the first request: until the kernel has set up the command, the base of its stack moves. */
static void begin_sampling(void *context, pid_t pid)
{
    struct patching *p = context;
    if (p->options->samples && p->options->way != FATHOM_TRAIN_SLED)
        p->stacks = train_stacks_start(p->options, p->terminal, p->images, pid, p->hooks.library);
}

static void look(void *context)
{
    struct patching *p = context;
    train_stacks_poll(p->stacks);
    show_progress(p);
}

static void stop(void *hooks)
{
    ((struct hooked *)hooks)->stop = 1;
}

static int run_command(struct patching *p, struct fathom_error *err)
{
    struct hooked_serving serving = {
        .duration = p->options->target.duration, .asked = begin_sampling, .poll = look, .context = p};
    struct interrupted_run run;
    p->looked_at = now_seconds();
    interrupt_hold(&run);
    int rc = hooked_start(&p->hooks, p->options->target.command, NULL, err);
    interrupt_begin(&run, stop, &p->hooks);
    if (rc == 0)
        hooked_serve(&p->hooks, &serving, 0);
    interrupt_end(&run);
    terminal_progress_end(p->terminal);
    return rc;
}

static void say_summary(const struct patching *p, const struct harvest *h, const struct trie *trie)
{
    struct terminal *t = p->terminal;
    terminal_say(t, LOG_NOTE, "%llu calls in %llu process%s, %u contexts in %s", (unsigned long long)h->calls,
                 (unsigned long long)h->stores, h->stores == 1 ? "" : "es", trie_node_count(trie) - 1,
                 outfile_path(p->options->out));
    hooks_say_losses(&p->host, h, session_directory(p->hooks.session));
}

/* Checked before the training, which would be lost otherwise. */
static int check_old(const struct patching *p, struct fathom_error *err)
{
    return p->old && pathmap_leaves_out(p->old)
               ? error_set(err, ENOTSUP,
                           "%s has an older format, whose paths omit the frames of images without hooks: "
                           "train without --append, or into another file",
                           p->options->output)
               : 0;
}

static int learn(struct patching *p, struct trie *trie, struct fathom_error *err)
{
    struct harvest harvest = {.partial = p->options->way == FATHOM_TRAIN_SLED};
    hooks_say_unhooked(&p->host, session_notes(p->hooks.session));
    progress_show(&p->terminal->progress, "making the map", 0, 0);
    int rc = harvest_directory(&harvest, trie, p->images, session_directory(p->hooks.session),
                               &p->terminal->log, err);
    if (rc == 0 && harvest.stores == 0)
        rc = error_set(err, ECHILD,
                       "nothing was learned: the probe runtime did not start in %s (a program that drops "
                       "LD_PRELOAD or FATHOM_PROBE from its environment?); --via unwind needs no runtime",
                       p->options->target.command[0]);
    /* After the harvest, like the old map in train_save(): hooked images must be in the trie first (trie.h).
     */
    if (rc == 0)
        rc = train_stacks_merge(p->stacks, trie, err);
    if (rc == 0)
        hooks_say(&p->host, &harvest, p->hooks.session, p->options->images.count > 0);
    if (rc == 0)
        rc = train_save(p->options, trie, &p->old, p->terminal, err);
    if (rc >= 0)
        say_summary(p, &harvest, trie);
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

int train_patch(const struct train_options *options, struct terminal *terminal)
{
    struct patching p = {.options = options, .terminal = terminal};
    host_init(&p.host, &terminal->listener);
    struct fathom_error err = {0};
    struct image_options image_options = {.log = &terminal->log};
    p.images = image_cache_new(&image_options);
    struct trie *trie = trie_new();
    char *output = whole_path(options->output);
    struct session_options session_options = {.names = options->images.at,
                                              .name_count = options->images.count,
                                              .sleds_only = options->way == FATHOM_TRAIN_SLED,
                                              .output = output,
                                              .images = p.images,
                                              .log = &terminal->log};
    int rc = p.images && trie ? 0 : error_memory(&err);
    if (rc == 0)
        rc = train_open_map(options, &p.old, &err);
    if (rc == 0)
        rc = check_old(&p, &err);
    if (rc == 0)
        rc = hooked_open(&p.hooks, &session_options, getenv("FATHOM_PROBE_LIBRARY"), &p.host, &err);
    if (rc == 0)
        rc = run_command(&p, &err);
    if (rc == 0)
        rc = learn(&p, trie, &err);
    if (rc < 0)
        terminal_error(terminal, &err);
    pathmap_close(p.old);
    int status = p.hooks.status;
    hooked_close(&p.hooks);
    train_stacks_free(p.stacks);
    trie_free(trie);
    free(output);
    image_cache_free(p.images);
    if (rc < 0)
        return exit_code_of(&err);
    int code = status >= 0 ? exit_code_of_status(status) : EXIT_OK;
    return code == EXIT_OK && rc > 0 ? EXIT_BUILD : code;
}
