/* record.c - records a call trace (hcct/trace.h) of a command. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/fathom/trees.h"
#include "api/hooks/hooked.h"
#include "api/hooks/hooks.h"
#include "base/hash.h"
#include "base/outfile.h"
#include "hcct/trace.h"
#include "image/cache.h"
#include "pathmap/train/call_logs.h"

struct fathom_call_trace {
    struct fathom_call_trace_options options;
    struct host host;
    struct outfile *out;
    struct image_cache *images;
    struct hooked hooked;
};

struct writing {
    struct trace_writer *writer;
    struct image_cache *images;
    uint32_t *functions;             /* number in the trace, by number in the store; NAMES_NONE: none yet */
    struct table *places;            /* function in the store << 32 | site -> place in the trace */
    struct names *written_functions; /* those in the trace, as text, like the next */
    struct names *written_places;
};

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
    struct build_id id = {0};
    if (image)
        id = build_id_of(image->build_id, image->build_id_size);
    struct image *opened = NULL;
    if (image && image_cache_get(w->images, path, &id, &opened, NULL) == 0) {
        uint32_t index = image_function_entry(opened, address);
        name = index == IMAGE_NO_FUNCTION ? NULL : image_function(opened, index)->name;
    }
    struct trace_function function = {path, name ? name : "", address};
    return trace_write_function(w->writer, &function, err);
}

/* Finds the number in the trace of a store's function. */
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

static int write_place(struct writing *w, const struct store_file *store, const struct call_log_call *call,
                       uint64_t *out, struct fathom_error *err)
{
    char key[sizeof store->images->path + 64];
    uint32_t function, count = names_count(w->written_places);
    uint64_t site = 0;
    int rc = function_of(w, store, call->function, &function, err);
    if (rc < 0)
        return rc;
    const struct store_image *caller = call->site ? store_file_image(store, call->site, &site) : NULL;
    site = caller ? site : 0;
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

static void say_summary(const struct log *log, const struct call_logs_read *read, const char *path)
{
    log_write(log, LOG_NOTE, "%llu calls in %s", (unsigned long long)read->calls, path);
    if (read->cut)
        log_write(log, LOG_WARNING, "the calls of %llu threads are cut short: is there room in TMPDIR?",
                  (unsigned long long)read->cut);
    if (read->dropped)
        log_write(log, LOG_WARNING, "%llu calls could not be kept: is there room in TMPDIR?",
                  (unsigned long long)read->dropped);
    if (read->unread)
        log_write(log, LOG_WARNING, "%llu logs of calls cannot be read", (unsigned long long)read->unread);
    if (read->unsound)
        log_write(log, LOG_WARNING, "%llu calls of a damaged store are left out",
                  (unsigned long long)read->unsound);
}

int fathom_call_trace_open(const struct fathom_call_trace_options *options,
                           const struct fathom_listener *listener, struct fathom_call_trace **out,
                           struct fathom_error *err)
{
    struct fathom_call_trace *t = calloc(1, sizeof *t);
    if (!t)
        return error_memory(err);
    t->options = *options;
    host_init(&t->host, listener);
    t->images = image_cache_new(&(struct image_options){.log = &t->host.log});
    struct session_options session = {.names = options->images,
                                      .name_count = options->image_count,
                                      .recording.log_calls = 1,
                                      .no_map = true,
                                      .images = t->images,
                                      .log = &t->host.log};
    int rc = t->images ? outfile_open(options->output, &t->out, err) : error_memory(err);
    if (rc == 0)
        rc = hooked_open(&t->hooked, &session, options->runtime, &t->host, err);
    if (rc == 0)
        *out = t;
    else
        fathom_call_trace_close(t);
    return rc;
}

int fathom_call_trace_start(struct fathom_call_trace *t, struct fathom_error *err)
{
    return hooked_start(&t->hooked, t->options.command, NULL, err);
}

void fathom_call_trace_run(struct fathom_call_trace *t)
{
    hooked_serve(&t->hooked, &(struct hooked_serving){0}, 0);
}

int fathom_call_trace_save(struct fathom_call_trace *t, struct fathom_error *err)
{
    struct call_logs_read read = {0};
    const char *command = t->options.command[0];
    const struct session_notes *notes = session_notes(t->hooked.session);
    hooks_say_unhooked(&t->host, notes);
    int fd, rc = outfile_begin(t->out, &fd, err);
    if (rc == 0)
        rc = write_trace(session_directory(t->hooked.session), t->images, t->out, fd, &read, err);
    if (rc == 0 && !read.calls)
        rc = read.dropped || read.cut || read.unread
                 ? error_set(err, ENOSPC, "no calls of %s could be kept: is there room in TMPDIR?", command)
                 : hooks_none(command, notes, false, err);
    if (rc == 0)
        rc = outfile_publish(t->out, false, err);
    if (rc == 0)
        say_summary(&t->host.log, &read, outfile_path(t->out));
    return rc;
}

void fathom_call_trace_stop(struct fathom_call_trace *t)
{
    atomic_store(&t->hooked.stop, true);
}

int fathom_call_trace_status(const struct fathom_call_trace *t)
{
    return t->hooked.status;
}

void fathom_call_trace_close(struct fathom_call_trace *t)
{
    if (!t)
        return;
    hooked_close(&t->hooked);
    image_cache_free(t->images);
    outfile_close(t->out);
    free(t);
}
