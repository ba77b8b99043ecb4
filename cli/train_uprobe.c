/* train_uprobe.c - `fathom train --via uprobe`: trains on every call of a command, seen by kernel uprobes. */
#include <errno.h>
#include <stdlib.h>

#include "cli/exit.h"
#include "cli/libraries.h"
#include "cli/train_steps.h"
#include "cli/train_ways.h"
#include "collector/events/uprobes.h"
#include "image/elf/program.h"
#include "infer/samples/entries.h"
#include "pathmap/map/pathmap.h"
#include "pathmap/train/session.h"
#include "pathmap/train/uprobe_site.h"

#define RING_BYTES    (64u << 20) /* per CPU: there are hundreds of thousands of entries per second */
#define DUMP_BYTES    256   /* the entry's return address, and its callers' as far as the dump reaches */
#define CHEAP_SECONDS 1e-6  /* of one entry: 0.7 to 1.3 in a virtual machine */
#define DEAR_SECONDS  20e-6 /* 16 to 27 */

struct watching {
    const struct train_options *options;
    struct terminal *terminal;
    struct image_cache *images;
    struct uprobes *probes;
    struct order *order;
    struct entries *entries;
    struct trie *trie;
    const struct image *program;
    uint32_t functions, emulated; /* watched functions, and the cheap ones among them */
    uint32_t left_out;            /* functions without an instruction that can be watched */
    struct pathmap *old;          /* --append */
};

static int watch_sink(void *context, const void *records, size_t size, struct fathom_error *err)
{
    struct watching *w = context;
    return order_push_all(w->order, records, size, err);
}

static int watch_progress(void *context, struct fathom_error *err)
{
    (void)err;
    struct watching *w = context;
    terminal_progress(w->terminal, "%llu calls, %u contexts",
                      (unsigned long long)entries_summary(w->entries).entered, trie_node_count(w->trie) - 1);
    return 0;
}

/* Finds where the function can be watched, as an offset in the file. false: nowhere. */
static bool find_site(struct watching *w, const struct image *image, uint32_t function,
                      struct insn_reader *reader, uint64_t *offset)
{
    const struct image_function *f = image_function(image, function);
    struct uprobe_site site;
    uint64_t start;
    if (f->owner != function || image_function_is_stub(image, function) ||
        (image_entry(image, &start) && f->address == start))
        return false;
    if (!uprobe_site_choose(image, function, reader, &site) || !image_offset(image, site.address, offset)) {
        w->left_out++;
        return false;
    }
    w->functions++;
    w->emulated += site.emulated;
    return true;
}

static int watch_image(struct watching *w, const struct image *image, struct fathom_error *err)
{
    uint32_t count = image_function_count(image), left_out = w->left_out;
    uint64_t *offsets = malloc(((size_t)count + 1) * sizeof *offsets);
    struct insn_reader *reader = insn_reader_new();
    size_t used = 0;
    int rc = offsets && reader ? 0 : error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        used += find_site(w, image, i, reader, &offsets[used]);
    if (rc == 0)
        rc = uprobes_add(w->probes, image_path(image), offsets, used, err);
    if (rc == 0 && w->left_out > left_out)
        terminal_say(
            w->terminal, LOG_NOTE,
            "%s: %zu functions watched, %u left out, as they start with a vector or unknown instruction",
            image_path(image), used, w->left_out - left_out);
    else if (rc == 0)
        terminal_say(w->terminal, LOG_NOTE, "%s: %zu functions watched", image_path(image), used);
    insn_reader_free(reader);
    free(offsets);
    return rc;
}

/* A library that cannot be watched is reported and left out. */
static int watch_library(struct watching *w, const struct session_options *choice, const char *path,
                         struct fathom_error *err)
{
    struct fathom_error why = {0};
    struct image *image;
    if (!session_wants(choice, path))
        return 0;
    int rc = image_cache_get(w->images, path, NULL, &image, &why);
    if (rc == 0)
        return watch_image(w, image, err);
    terminal_say(w->terminal, LOG_WARNING, "%s is left out: %s", path, why.text);
    return 0;
}

static int watch_program(struct watching *w, struct fathom_error *err)
{
    struct session_options choice = {.names = w->options->images.at, .name_count = w->options->images.count};
    struct program program;
    struct image *image;
    char **paths = NULL, whole[4096];
    size_t count = 0;
    int rc = program_find(w->options->target.command[0], &program, err);
    if (rc == 0)
        rc = image_cache_get(w->images, realpath(program.path, whole) ? whole : program.path, NULL, &image,
                             err);
    if (rc < 0)
        return rc;
    w->program = image;
    if (session_wants(&choice, image_path(image)))
        rc = watch_image(w, image, err);
    if (rc == 0 && program.kind == PROGRAM_DYNAMIC)
        rc = libraries_list(program.loader, program.path, &paths, &count, err);
    for (size_t i = 0; i < count; i++) {
        if (rc == 0)
            rc = watch_library(w, &choice, realpath(paths[i], whole) ? whole : paths[i], err);
        free(paths[i]);
    }
    free(paths);
    if (rc == 0 && w->functions == 0)
        return error_set(err, ENOENT, "no function of %s or its libraries was chosen for hooking%s",
                         program.path, w->options->images.count ? ": no file name matches --image" : "");
    return rc;
}

static void say_estimate(const struct watching *w)
{
    terminal_say(w->terminal, LOG_NOTE,
                 "each call costs about %.0f us in %u of %u functions and about %.0f us in the others, where "
                 "the kernel must single-step",
                 CHEAP_SECONDS * 1e6, w->emulated, w->functions, DEAR_SECONDS * 1e6);
}

static void say_summary(const struct watching *w)
{
    struct entries_summary s = entries_summary(w->entries);
    struct terminal *t = w->terminal;
    terminal_say(t, LOG_NOTE, "%llu calls entered, %u contexts in %s", (unsigned long long)s.entered,
                 trie_node_count(w->trie) - 1, outfile_path(w->options->out));
    if (s.entered == 0)
        terminal_say(t, LOG_WARNING,
                     "no call was seen; the kernel reports none for a set-user-ID program that the command "
                     "starts (run that program as the command itself)");
    if (s.lost)
        terminal_say(t, LOG_WARNING,
                     "%llu calls were lost because the kernel's buffer was full; %llu later ones are left "
                     "out, as their callers are unknown",
                     (unsigned long long)s.lost, (unsigned long long)s.doubtful);
    if (s.failed)
        terminal_say(t, LOG_NOTE, "%llu calls are left out: their stack is unknown",
                     (unsigned long long)s.failed);
}

static int watch(struct watching *w, struct collector *collector, struct fathom_error *err)
{
    struct decoder *decoder = NULL;
    const struct event *events;
    size_t count = collector_events(collector, &events);
    enum target_end end;
    w->entries = entries_new(w->images, w->trie, w->program, &w->terminal->log);
    int rc = w->entries ? decoder_new(events, count, &decoder, err) : error_memory(err);
    if (rc == 0) {
        w->order = order_new(decoder, true, entries_learn, w->entries);
        rc = w->order ? 0 : error_memory(err);
    }
    if (rc == 0)
        rc = target_run(&w->options->target, collector, &(struct target_user){watch_sink, watch_progress, w},
                        &end, err);
    if (rc == 0)
        rc = order_flush(w->order, err);
    terminal_progress_end(w->terminal);
    if (rc == 0) {
        trie_statistics(w->trie)->paths_entered += entries_summary(w->entries).entered;
        rc = train_save(w->options, w->trie, &w->old, w->terminal, err);
    }
    if (rc >= 0)
        say_summary(w);
    order_free(w->order);
    decoder_free(decoder);
    entries_free(w->entries);
    return rc;
}

int train_uprobe(const struct train_options *options, struct terminal *terminal)
{
    struct watching w = {.options = options, .terminal = terminal, .trie = trie_new()};
    struct image_options image_options = {.log = &terminal->log};
    struct collector *collector = NULL;
    struct collector_options collect; /* borrowed by the collector */
    struct fathom_error err = {0};
    int code = EXIT_OK;
    w.images = image_cache_new(&image_options);
    int rc = w.trie && w.images ? train_open_map(options, &w.old, &err) : error_memory(&err);
    if (rc == 0)
        rc = uprobes_open(&w.probes, &err);
    if (rc == 0)
        rc = watch_program(&w, &err);
    if (rc == 0) {
        say_estimate(&w);
        target_collector(&options->target, &terminal->log, &collect);
        collect.event.name = uprobes_event(w.probes);
        collect.event.stack_size = DUMP_BYTES;
        collect.ring_bytes = RING_BYTES;
        rc = collector_open(&collect, &collector, &err);
    }
    if (rc == 0)
        rc = watch(&w, collector, &err);
    if (rc < 0) {
        terminal_error(terminal, &err);
        code = exit_code_of(&err);
    } else {
        if (collector_status(collector) >= 0)
            code = exit_code_of_status(collector_status(collector));
        if (code == EXIT_OK && rc > 0)
            code = EXIT_BUILD;
    }
    collector_close(collector);
    uprobes_close(w.probes);
    image_cache_free(w.images);
    pathmap_close(w.old);
    trie_free(w.trie);
    return code;
}
