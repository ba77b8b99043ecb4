/* uprobe.c - trains on every call of a command, seen by kernel uprobes. */
#include <errno.h>
#include <stdlib.h>

#include "api/record/target.h"
#include "api/train/libraries.h"
#include "api/train/train.h"
#include "collector/probes/uprobes.h"
#include "image/elf/program.h"
#include "infer/samples/entries.h"
#include "pathmap/train/session.h"
#include "pathmap/train/uprobe_site.h"

#define RING_BYTES    (64u << 20) /* per CPU, for hundreds of thousands of entries per second */
#define DUMP_BYTES    256         /* for the return addresses of the entry and of callers within reach */
#define CHEAP_SECONDS 1e-6        /* per entry: 0.7 to 1.3 us in a virtual machine */
#define DEAR_SECONDS  20e-6       /* 16 to 27 us there */

struct watching {
    struct fathom_train *train;
    struct uprobes *probes;
    struct entries *entries;
    struct trie *trie;
    const struct image *program;
    uint32_t functions, emulated; /* watched functions, and the cheap ones among them */
    uint32_t left_out;            /* functions without an instruction that can be watched */
};

static int watch_progress(void *context, struct fathom_error *err)
{
    (void)err;
    struct watching *w = context;
    host_status(&w->train->host, "%llu calls, %u contexts",
                (unsigned long long)entries_summary(w->entries).entered, trie_node_count(w->trie) - 1);
    return 0;
}

/* Finds where the function can be watched, as an offset in the file. false: nowhere. */
static bool find_site(struct watching *w, const struct image *image, uint32_t function,
                      struct insn_reader *reader, struct uprobe_place *place)
{
    const struct image_function *f = image_function(image, function);
    struct uprobe_site site;
    uint64_t start;
    if (f->owner != function || image_function_is_found(image, function) ||
        image_function_is_stub(image, function) || (image_entry(image, &start) && f->address == start))
        return false;
    if (!uprobe_site_choose(image, function, reader, &site) ||
        !image_offset(image, site.address, &place->offset)) {
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
    struct uprobe_place *places = calloc((size_t)count + 1, sizeof *places);
    struct insn_reader *reader = insn_reader_new();
    size_t used = 0;
    int rc = places && reader ? 0 : error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        used += find_site(w, image, i, reader, &places[used]);
    if (rc == 0)
        rc = uprobes_add(w->probes, image_path(image), places, used, err);
    if (rc == 0 && w->left_out > left_out)
        log_write(
            &w->train->host.log, LOG_NOTE,
            "%s: %zu functions watched, %u left out, as they start with a vector or unknown instruction",
            image_path(image), used, w->left_out - left_out);
    else if (rc == 0)
        log_write(&w->train->host.log, LOG_NOTE, "%s: %zu functions watched", image_path(image), used);
    insn_reader_free(reader);
    free(places);
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
    int rc = image_cache_get(w->train->images, path, NULL, &image, &why);
    if (rc == 0)
        return watch_image(w, image, err);
    log_write(&w->train->host.log, LOG_WARNING, "%s is left out: %s", path, why.text);
    return 0;
}

static int watch_program(struct watching *w, struct fathom_error *err)
{
    struct session_options choice = {.names = w->train->options.images,
                                     .name_count = w->train->options.image_count};
    struct program program;
    struct image *image;
    char **paths = NULL, whole[4096];
    size_t count = 0;
    int rc = program_find(w->train->options.target.command[0], &program, err);
    if (rc == 0)
        rc = image_cache_get(w->train->images, realpath(program.path, whole) ? whole : program.path, NULL,
                             &image, err);
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
                         program.path, w->train->options.image_count ? ": no file name matches --image" : "");
    return rc;
}

static void say_estimate(const struct watching *w)
{
    log_write(&w->train->host.log, LOG_NOTE,
              "each call costs about %.0f us in %u of %u functions and about %.0f us in the others, where "
              "the kernel must single-step",
              CHEAP_SECONDS * 1e6, w->emulated, w->functions, DEAR_SECONDS * 1e6);
}

static void say_summary(const struct watching *w)
{
    struct entries_summary s = entries_summary(w->entries);
    const struct log *log = &w->train->host.log;
    log_write(log, LOG_NOTE, "%llu calls entered, %u contexts in %s", (unsigned long long)s.entered,
              trie_node_count(w->trie) - 1, outfile_path(w->train->out));
    if (s.entered == 0)
        log_write(log, LOG_WARNING,
                  "no call was seen; the kernel reports none for a set-user-ID program that the command "
                  "starts (run that program as the command itself)");
    if (s.lost)
        log_write(log, LOG_WARNING,
                  "%llu calls were lost because the kernel's buffer was full; %llu later ones are left "
                  "out, as their callers are unknown",
                  (unsigned long long)s.lost, (unsigned long long)s.doubtful);
    if (s.failed)
        log_write(log, LOG_NOTE, "%llu calls are left out: their stack is unknown",
                  (unsigned long long)s.failed);
}

static int open_probes(struct fathom_train *t, struct fathom_error *err)
{
    struct watching *w = t->own = calloc(1, sizeof *w);
    if (!w)
        return error_memory(err);
    w->train = t;
    w->trie = trie_new();
    int rc = w->trie ? uprobes_open(&(struct uprobes_options){.name = "entry"}, &w->probes, err)
                     : error_memory(err);
    if (rc == 0)
        rc = watch_program(w, err);
    if (rc == 0)
        say_estimate(w);
    return rc;
}

static int start_uprobes(struct fathom_train *t, struct fathom_error *err)
{
    struct watching *w = t->own;
    struct collector_options *collect = &t->sampling.collect;
    w->entries = entries_new(t->images, w->trie, w->program, &t->host.log);
    if (!w->entries)
        return error_memory(err);
    target_collector(&t->options.target, &t->host.log, collect);
    collect->event.name = uprobes_event(w->probes);
    collect->event.stack_size = DUMP_BYTES;
    collect->ring_bytes = RING_BYTES;
    return sampling_open(&t->sampling, entries_learn, w->entries, err);
}

static int save_map(struct fathom_train *t, struct fathom_error *err)
{
    struct watching *w = t->own;
    int rc = order_flush(t->sampling.order, err);
    if (rc == 0) {
        trie_statistics(w->trie)->paths_entered += entries_summary(w->entries).entered;
        rc = train_save(t, w->trie, err);
    }
    if (rc >= 0)
        say_summary(w);
    return rc;
}

static void close_probes(struct fathom_train *t)
{
    struct watching *w = t->own;
    entries_free(w->entries);
    uprobes_close(w->probes);
    trie_free(w->trie);
    free(w);
}

const struct train_way train_uprobe = {open_probes, start_uprobes, NULL,          save_map,
                                       NULL,        close_probes,  watch_progress};
