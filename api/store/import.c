/* import.c - puts a recording into a store, or sends it to a server; see fathom/store.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/report/report.h"
#include "api/store/push.h"
#include "api/store/selection.h"
#include "api/store/slotted.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "perfdata/host.h"

/* Keeps the samples of all events; it is never written. */
static const struct format no_format = {.name = "store", .samples = true, .events = true};

struct fathom_store_import {
    struct fathom_store_import_options options;
    struct fathom_report_options report_options;
    struct fathom_report *report;
    struct store *store; /* NULL: `push` instead */
    struct push *push;
    struct fathom_writing writing;
};

/* --ended, in ns. */
static int take_ended(const char *text, uint64_t *out, struct fathom_error *err)
{
    uint64_t at;
    int rc = selection_time(text, (uint64_t)time(NULL), &at, err);
    if (rc == 0 && at > STORE_TIME_MOST)
        rc = error_set(err, EINVAL, "'%.64s' is no time that a store has, which ends in 2106", text);
    *out = rc == 0 ? at * SECOND_NS : 0;
    return rc;
}

static int begin_import(struct fathom_store_import *i, const struct fathom_listener *listener,
                        struct fathom_error *err)
{
    const struct fathom_store_import_options *o = &i->options;
    struct fathom_report_options *r = &i->report_options;
    uint64_t ignored;
    int rc = o->ended ? take_ended(o->ended, &ignored, err) : 0;
    if (rc == 0)
        rc = selection_name("service", o->service, err);
    if (rc == 0)
        rc = selection_name("host", o->host, err);
    if (rc == 0 && strcmp(o->recording, "-") == 0)
        rc = error_set(err, EINVAL, "what is put into a store must be a file, not standard input");
    if (rc == 0)
        rc = push_is(o->url) ? push_open(o->url, o->credentials, &i->push, err)
                             : store_open(o->url, o->credentials, false, &i->store, err);
    if (rc == 0 && i->store && o->known)
        rc = store_know(i->store, o->known, err);
    fathom_report_defaults(r);
    r->recording = o->recording;
    r->profile = o->profile;
    r->profile.by = SLOTTED_LEVELS;
    if (rc == 0)
        rc = report_open_as(r, &no_format, listener, &i->report, err);
    if (rc < 0)
        return rc;
    const struct fathom_writing *w = fathom_report_writing(i->report);
    const char *file = i->store ? store_file(i->store) : NULL;
    i->writing = (struct fathom_writing){w->directories, w->count, file ? file : o->known, !file};
    return 0;
}

int fathom_store_import_open(const struct fathom_store_import_options *options,
                             const struct fathom_listener *listener, struct fathom_store_import **out,
                             struct fathom_error *error)
{
    struct fathom_store_import *i = calloc(1, sizeof *i);
    if (!i)
        return error_memory(error);
    i->options = *options;
    int rc = begin_import(i, listener, error);
    if (rc < 0)
        fathom_store_import_close(i);
    else
        *out = i;
    return rc;
}

const struct fathom_writing *fathom_store_import_writing(const struct fathom_store_import *i)
{
    return &i->writing;
}

void fathom_store_import_close(struct fathom_store_import *i)
{
    if (!i)
        return;
    fathom_report_close(i->report);
    store_close(i->store);
    push_close(i->push);
    free(i);
}

/* Identifies the recording by a hash of its bytes, or of a directory's first file. */
static int identify_recording(const char *path, uint64_t *out, struct fathom_error *err)
{
    static const char *const within[] = {"", "/data.0", "/data"};
    struct stat st;
    char *file = NULL;
    int fd = -1;
    for (size_t i = 0; i < sizeof within / sizeof *within && fd < 0; i++) {
        free(file);
        if (asprintf(&file, "%s%s", path, within[i]) < 0)
            return error_memory(err);
        if (stat(file, &st) == 0 && S_ISREG(st.st_mode))
            fd = open(file, O_RDONLY | O_CLOEXEC);
    }
    free(file);
    if (fd < 0)
        return error_set(err, ENOMSG, "%s is not a file: it cannot be put into a store", path);
    struct checksum *sum = checksum_begin();
    ssize_t got = sum ? 1 : 0;
    char piece[65536];
    while (got > 0 && (got = read(fd, piece, sizeof piece)) > 0)
        checksum_add(sum, piece, (size_t)got);
    const int failed = errno;
    close(fd);
    *out = checksum_end(sum);
    return !sum ? error_memory(err) : got < 0 ? error_system(err, failed, "%s", path) : 0;
}

/* When the last sample was taken, in ns: as given by the user, else from the recording, else when the file was written. */
static int find_end(const struct fathom_store_import_options *o, const struct reader *reader, uint64_t last,
                    uint64_t *out, struct fathom_error *err)
{
    struct stat st;
    if (o->ended)
        return take_ended(o->ended, out, err);
    if (reader && reader_wall_clock(reader, last, out) && *out / SECOND_NS <= STORE_TIME_MOST)
        return 0;
    if (stat(o->recording, &st) < 0)
        return error_system(err, errno, "%s", o->recording);
    if (st.st_mtim.tv_sec < 0 || st.st_mtim.tv_sec > STORE_TIME_MOST)
        return error_set(err, EINVAL,
                         "%s was written at no time that a store has: give --ended, from 1970 to 2106",
                         o->recording);
    *out = (uint64_t)st.st_mtim.tv_sec * SECOND_NS + (uint64_t)st.st_mtim.tv_nsec;
    return 0;
}

static uint64_t last_time(const struct report *report)
{
    uint64_t last = 0;
    for (; report; report = report->next)
        for (size_t i = 0; i < report->contexts->sample_count; i++)
            last = report->contexts->samples[i].time > last ? report->contexts->samples[i].time : last;
    return last;
}

/* Names in recordings are untrusted. */
static int check_names(const struct store_batch *batches, size_t count, struct fathom_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct store_key *k = &batches[i].key;
        if (strlen(k->service) > STORE_NAME_MOST || strlen(k->event) > STORE_NAME_MOST ||
            strlen(k->host) > STORE_NAME_MOST)
            return error_set(err, EBADMSG,
                             "the recording has a service, event or host whose name is longer than %u bytes",
                             STORE_NAME_MOST);
    }
    return 0;
}

static int put_batches(struct fathom_store_import *i, struct slotted *slots,
                       struct fathom_store_imported *imported, struct fathom_error *err)
{
    struct dictionary *dictionary;
    struct store_batch *batches;
    size_t count = 0;
    int rc = 0;
    for (const struct report *r = report_of(i->report); rc == 0 && r; r = r->next)
        rc = slotted_add(slots, r, err);
    if (rc == 0)
        rc = slotted_finish(slots, &batches, &count, &dictionary, err);
    if (rc == 0)
        rc = check_names(batches, count, err);
    if (rc == 0 && i->store)
        rc = store_put(i->store, dictionary, batches, count, &imported->added, err);
    else if (rc == 0)
        rc = push_batches(i->push, dictionary, batches, count, err);
    imported->batches = count;
    imported->sent = i->store ? store_sent(i->store) : push_sent(i->push);
    imported->added = i->store ? imported->added : count;
    for (size_t b = 0; rc == 0 && b < count; b++)
        imported->samples += batches[b].samples;
    return rc;
}

int fathom_store_import_run(struct fathom_store_import *i, struct fathom_store_imported *imported,
                            struct fathom_error *error)
{
    const struct fathom_store_import_options *o = &i->options;
    struct slotted_options slots = {.service = o->service, .host = o->host};
    *imported = (struct fathom_store_imported){0};
    int rc = fathom_report_run(i->report, error);
    slots.last = rc == 0 ? last_time(report_of(i->report)) : 0;
    if (rc == 0)
        rc = identify_recording(report_recording(i->report), &slots.sequence, error);
    if (rc == 0)
        rc = find_end(o, report_reader(i->report), slots.last, &slots.ended, error);
    if (rc == 0 && i->store)
        rc = store_recording(i->store, slots.sequence, &slots.ended, error);
    if (rc < 0)
        return rc;
    if (!slots.host)
        slots.host = report_reader(i->report) ? reader_host(report_reader(i->report))->name.nodename : "";
    slots.reader = report_reader(i->report);
    struct slotted *made = slotted_new(&slots);
    rc = made ? put_batches(i, made, imported, error) : error_memory(error);
    slotted_free(made);
    return rc;
}
