/* call_trace.c - see call_trace.h. */
#include "cli/call_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/vec.h"
#include "cli/exit.h"
#include "cli/hook_session.h"
#include "cli/hooks.h"
#include "cli/probe_launch.h"
#include "cli/probe_run.h"
#include "cli/train_left.h"
#include "hcct/trace.h"
#include "image/cache.h"
#include "image/name.h"
#include "pathmap/train/call_logs.h"
#include "pathmap/train/session.h"

struct writing {
    struct trace_writer *writer;
    struct image_cache *images;
    uint32_t *functions;             /* the trace's, by the store's number; NAMES_NONE: not known yet */
    struct table *places;            /* the trace's, by the store's function << 32 | site */
    struct names *written_functions; /* what there is in the trace, as text */
    struct names *written_places;
};

static struct build_id id_of(const struct store_image *image)
{
    struct build_id id = {0};
    if (image->build_id_size <= BUILD_ID_MAX) {
        id.size = (uint8_t)image->build_id_size;
        memcpy(id.bytes, image->build_id, id.size);
    }
    return id;
}

static int write_function(struct writing *w, const struct store_image *image, uint64_t address, uint32_t *out,
                          struct fathom_error *err)
{
    char key[sizeof image->path + 32];
    const char *path = image ? image->path : "[anonymous]", *name = NULL;
    snprintf(key, sizeof key, "%llx %s", (unsigned long long)address, path);
    uint32_t count = names_count(w->written_functions);
    *out = names_intern(w->written_functions, key);
    if (*out == NAMES_NONE)
        return error_memory(err);
    if (*out < count)
        return 0;
    struct build_id id = image ? id_of(image) : (struct build_id){0};
    struct image *opened = NULL;
    if (image && image_cache_get(w->images, path, &id, &opened, NULL) == 0) {
        uint32_t index = image_function_entry(opened, address);
        name = index == IMAGE_NO_FUNCTION ? NULL : image_function(opened, index)->name;
    }
    struct trace_function function = {path, name ? name : "", address};
    return trace_write_function(w->writer, &function, err);
}

/* The trace's number of a store's function. */
static int function_of(struct writing *w, const struct store_file *store, uint32_t number, uint32_t *out,
                       struct fathom_error *err)
{
    const struct store_function *f = &store->functions[number];
    bool known = f->image < store->header.image_count;
    if (w->functions[number] == NAMES_NONE) {
        int rc =
            write_function(w, known ? &store->images[f->image] : NULL, f->vaddr, &w->functions[number], err);
        if (rc < 0)
            return rc;
    }
    *out = w->functions[number];
    return 0;
}

/* A return address's low half as an address in the image that it is in. NULL: in none. */
static const struct store_image *image_of(const struct store_file *store, uint32_t site, uint64_t *address)
{
    *address = 0;
    for (uint32_t i = 0; site && i < store->header.image_count; i++) {
        const struct store_image *image = &store->images[i];
        uint64_t from_low = (uint32_t)(site - (uint32_t)image->low);
        if (image->high <= image->low || from_low >= image->high - image->low)
            continue;
        *address = image->low + from_low - image->bias;
        return image;
    }
    return NULL;
}

static int write_place(struct writing *w, const struct store_file *store, const struct call_log_call *call,
                       uint64_t *out, struct fathom_error *err)
{
    char key[sizeof store->images->path + 64];
    uint32_t function, count = names_count(w->written_places);
    uint64_t site;
    int rc = function_of(w, store, call->function, &function, err);
    if (rc < 0)
        return rc;
    const struct store_image *caller = image_of(store, call->site, &site);
    snprintf(key, sizeof key, "%x %llx %s", function, (unsigned long long)site, caller ? caller->path : "");
    uint32_t place = names_intern(w->written_places, key);
    if (place == NAMES_NONE)
        return error_memory(err);
    *out = place;
    return place < count ? 0 : trace_write_place(w->writer, (struct trace_place){function, site}, err);
}

static int place_of(struct writing *w, const struct store_file *store, const struct call_log_call *call,
                    uint32_t *out, struct fathom_error *err)
{
    bool added;
    uint64_t *place = table_put(w->places, (uint64_t)call->function << 32 | call->site, &added);
    if (!place)
        return error_memory(err);
    int rc = added ? write_place(w, store, call, place, err) : 0;
    *out = (uint32_t)*place;
    return rc;
}

static int begin_process(void *context, const struct store_file *store, struct fathom_error *err)
{
    struct writing *w = context;
    size_t size = ((size_t)store->header.function_count + 1) * sizeof *w->functions;
    free(w->functions);
    table_free(w->places);
    w->functions = malloc(size);
    w->places = table_new();
    if (!w->functions || !w->places)
        return error_memory(err);
    memset(w->functions, 0xff, size);
    return 0;
}

static int begin_thread(void *context, const struct store_file *store, uint32_t tid, struct fathom_error *err)
{
    struct writing *w = context;
    return trace_write_thread(w->writer, store->header.pid, tid, err);
}

static int write_call(void *context, const struct store_file *store, const struct call_log_call *call,
                      struct fathom_error *err)
{
    struct writing *w = context;
    uint32_t place = 0;
    int rc = place_of(w, store, call, &place, err);
    if (rc == 0 && call->returned)
        rc = trace_write_event(w->writer, TRACE_EXIT, call->returned, 0, err);
    if (rc == 0)
        rc =
            trace_write_event(w->writer, call->resumed ? TRACE_RESUME : TRACE_ENTER, place, call->ticks, err);
    return rc;
}

static int write_trace(const char *directory, struct image_cache *images, const struct outfile *out, int fd,
                       struct call_logs_read *read, struct fathom_error *err)
{
    struct writing w = {.writer = trace_writer_new(fd, outfile_path(out)),
                        .images = images,
                        .written_functions = names_new(),
                        .written_places = names_new()};
    struct call_log_visitor visitor = {begin_process, begin_thread, write_call, &w};
    int rc = w.writer && w.written_functions && w.written_places ? 0 : error_memory(err);
    if (rc == 0)
        rc = call_logs_read(directory, &visitor, read, err);
    if (rc == 0)
        rc = trace_writer_end(w.writer, err);
    trace_writer_free(w.writer);
    names_free(w.written_functions);
    names_free(w.written_places);
    table_free(w.places);
    free(w.functions);
    return rc;
}

static void say_summary(struct terminal *terminal, const struct call_logs_read *read, const char *path)
{
    terminal_say(terminal, LOG_NOTE, "%llu calls in %s", (unsigned long long)read->calls, path);
    if (read->cut)
        terminal_say(terminal, LOG_WARNING,
                     "the calls of %llu threads are cut short: is there room in TMPDIR?",
                     (unsigned long long)read->cut);
    if (read->dropped)
        terminal_say(terminal, LOG_WARNING, "%llu calls could not be kept: is there room in TMPDIR?",
                     (unsigned long long)read->dropped);
    if (read->unread)
        terminal_say(terminal, LOG_WARNING, "%llu logs of calls cannot be read",
                     (unsigned long long)read->unread);
    if (read->unsound)
        terminal_say(terminal, LOG_WARNING, "%llu calls of a damaged store are left out",
                     (unsigned long long)read->unsound);
}

static int record(const struct call_trace_options *options, struct session *session,
                  struct image_cache *images, struct terminal *terminal, int *status,
                  struct fathom_error *err)
{
    char library[4096];
    struct call_logs_read read = {0};
    int fd, rc = probe_library(library, sizeof library, err);
    struct probe_run run = {.command = options->command, .library = library, .session = session};
    if (rc == 0)
        rc = probe_run(&run, status, err);
    if (rc < 0)
        return rc;
    train_say_left(terminal, session_notes(session));
    rc = outfile_begin(options->out, &fd, err);
    if (rc == 0)
        rc = write_trace(session_directory(session), images, options->out, fd, &read, err);
    if (rc == 0 && !read.calls)
        rc = read.dropped || read.cut || read.unread
                 ? error_set(err, ENOSPC, "no calls of %s could be kept: is there room in TMPDIR?",
                             options->command[0])
                 : hooks_none(options->command[0], session_notes(session), false, err);
    if (rc == 0)
        rc = outfile_publish(options->out, false, err);
    if (rc == 0)
        say_summary(terminal, &read, outfile_path(options->out));
    return rc;
}

int call_trace_record(const struct call_trace_options *options, struct terminal *terminal)
{
    struct fathom_error err = {0};
    struct image_options image_options = {.log = &terminal->log};
    struct image_cache *images = image_cache_new(&image_options);
    struct session_options session_options = {.names = options->names,
                                              .name_count = options->name_count,
                                              .recording.log_calls = 1,
                                              .no_map = true,
                                              .images = images,
                                              .log = &terminal->log};
    struct hook_session hooks = {0};
    int status = -1,
        rc = images ? hook_session_open(&session_options, terminal, &hooks, &err) : error_memory(&err);
    if (rc == 0)
        rc = record(options, hooks.session, images, terminal, &status, &err);
    if (rc < 0)
        terminal_error(terminal, &err);
    hook_session_close(&hooks);
    image_cache_free(images);
    if (rc < 0)
        return exit_code_of(&err);
    return status >= 0 ? exit_code_of_status(status) : EXIT_OK;
}
