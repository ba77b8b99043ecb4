/* reading.c - see reading.h. */
#include "infer/engine/reading.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"

#define SHOW_RECORDS 4096u /* between two updates of the progress line */

static bool make_parts(struct reading *r)
{
    r->learner = learner_new(r->in.from, r->in.hold_back);
    r->observations = observations_new(r->in.callers, r->in.file ? r->in.file : r->own_file);
    r->files = mapped_files_new();
    r->calls = image_calls_new();
    return r->learner && r->observations && r->files && r->calls;
}

static void free_parts(struct reading *r)
{
    learner_free(r->learner);
    observations_free(r->observations);
    mapped_files_free(r->files);
    processes_free(r->processes);
    proved_free(r->proved);
    image_calls_free(r->calls);
    r->calls = NULL;
    r->learner = NULL;
    r->observations = NULL;
    r->files = NULL;
    r->processes = NULL;
    r->proved = NULL;
    r->complete = r->voted = false;
    r->records = r->bases_voted = 0;
}

struct reading *reading_new(const struct reading_input *input)
{
    struct reading *r =
        allocate(struct reading, .in = *input, .own_file = input->file ? NULL : columns_file_open());
    return whole_or_free(r, (input->file || r->own_file) && make_parts(r), reading_free);
}

void reading_free(struct reading *r)
{
    if (!r)
        return;
    free_parts(r);
    columns_file_close(r->own_file);
    free(r);
}

int reading_reset(struct reading *r, struct fathom_error *err)
{
    free_parts(r);
    return make_parts(r) ? 0 : error_memory(err);
}

int reading_begin(struct reading *r, const struct event *events, size_t count, uint32_t event,
                  struct fathom_error *err)
{
    learner_events(r->learner, events, count, event);
    r->processes = processes_new(r->in.images, r->in.log);
    return r->processes ? 0 : error_memory(err);
}

/* Registers another path of a build, which may have what a stripped file lacks. 0 or -ENOMEM. */
static int note_file(struct reading *r, const struct record *record)
{
    bool added;
    int rc = mapped_files_note(r->files, record, &added);
    if (rc < 0 || !added)
        return rc;
    const struct build_id id = process_build_id(&record->mmap);
    return image_cache_also(r->in.images, record->mmap.path, &id) ? 0 : -ENOMEM;
}

int reading_take(void *reading, const struct record *record, struct fathom_error *err)
{
    struct reading *r = reading;
    struct observation observation;
    struct record filled;
    if (note_file(r, record) < 0)
        return error_memory(err);
    if (record->kind == RECORD_SAMPLE && r->proved) {
        filled = *record;
        proved_fill(r->proved, process_find(r->processes, record->sample.pid), &filled.sample);
        record = &filled;
    }
    int rc = learner_observe(r->learner, r->processes, record, &observation, err);
    return rc < 0 ? rc : observations_add(r->observations, &observation, err);
}

/* An order_sink. */
static int read_record(void *reading, const struct record *record, struct fathom_error *err)
{
    struct reading *r = reading;
    if (r->records++ % SHOW_RECORDS == 0)
        progress_show(r->in.progress, "learning", r->records, 0);
    return reading_take(r, record, err);
}

static int end_reading(struct reading *r, struct fathom_error *err)
{
    processes_free(r->processes);
    r->processes = NULL;
    r->complete = true;
    int rc = observations_end(r->observations, err);
    if (rc == 0 && observations_cut(r->observations))
        log_write(r->in.log, LOG_WARNING,
                  "there is no room for a table of the samples in $TMPDIR or /var/tmp, so the recording is "
                  "read several "
                  "times");
    return rc;
}

bool reading_lacks_names(const struct reading *r, const struct reader *reader)
{
    size_t size;
    reader_code_names(reader, &size);
    return r->processes && size;
}

int reading_run(struct reading *r, struct reader *reader, uint32_t event, const struct pathmap *map,
                struct fathom_error *err)
{
    const struct event *events;
    size_t count = reader_events(reader, &events);
    int rc = 0;
    r->reader = reader;
    if (r->complete)
        return 0;
    image_cache_kernel(r->in.images, reader_kernel(reader));
    if (!r->processes) { /* no records came live */
        size_t names_size;
        const void *names = reader_code_names(reader, &names_size);
        if (image_cache_code_names(r->in.images, names, names_size) < 0 ||
            proved_new(events, count, r->calls, &r->proved) < 0 ||
            (map && !trie_adopt_images(r->learner->trie, map)))
            return error_memory(err);
        rc = reading_begin(r, events, count, event, err);
        if (rc == 0)
            rc = reader_run(reader, read_record, r, err);
    }
    learner_events(r->learner, events, count, event);
    return rc == 0 ? end_reading(r, err) : rc;
}
