/*
 * reader.c - walks the records of a recording and delivers them in time order; see reader.h.
 */
#include "perfdata/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "perfdata/announced.h"
#include "perfdata/scripts.h"
#include "perfdata/head.h"
#include "perfdata/heap_made.h"
#include "perfdata/inflate.h"
#include "perfdata/input.h"
#include "perfdata/latency.h"
#include "perfdata/layout.h"
#include "perfdata/unsampled.h"
#include "perfdata/wakers.h"
#include "perfdata/wall.h"

struct reader {
    struct input input;
    struct input *parts; /* further files of a directory, with records only; unordered */
    size_t part_count;
    struct head head;
    struct decoder *decoder;
    const struct log *log;
    struct scripts *scripts; /* across all passes; NULL: the recording has no script records */
    struct reader_summary summary;
    /* index of the first event that is made from others, as are all after it: at most 8 */
    uint32_t made_from;
    struct wall wall;
    struct wakers wakers;
    struct heap_made heap;
    uint32_t event;    /* whose totals are reported: reader_main_event() */
    struct pass *live; /* for a recording in progress; NULL: finished, or from a file */
    /* from reader_set_stacks(); NULL: not called */
    const struct stack_verdict *verdicts;
    size_t verdict_count;
    uint32_t said_event;
};

/* One pass. */
struct pass {
    struct reader *reader;
    struct order *order;
    struct inflate *inflate; /* NULL: no compressed records so far */
    struct unsampled *unsampled;
    struct announced *announced;
    struct latency latency;
    uint64_t enabled, running;    /* ns, for the event */
    double rests[SCALING_EVENTS]; /* by event: rounding remainders of scaled periods */
    size_t verdict_at;            /* number of samples so far of the event that reader_set_stacks() is for */
    order_sink *sink;             /* the caller's */
    void *context;
};

static void pass_end(struct pass *pass);

static void reader_free(struct reader *reader)
{
    if (reader->live)
        pass_end(reader->live);
    free(reader->live);
    decoder_free(reader->decoder);
    scripts_free(reader->scripts);
    wakers_free(&reader->wakers);
    heap_made_free(&reader->heap);
    head_free(&reader->head);
    input_close(&reader->input);
    for (size_t i = 0; i < reader->part_count; i++)
        input_close(&reader->parts[i]);
    free(reader->parts);
    free(reader);
}

/* Adds the events that are made from others. */
static int add_made_events(struct reader *reader, struct fathom_error *err)
{
    reader->made_from = (uint32_t)reader->head.count;
    int rc = wall_add(&reader->head, &reader->wall, err);
    rc = rc == 0 ? wakers_add(&reader->head, &reader->wakers, err) : rc;
    return rc == 0 ? heap_made_add(&reader->head, &reader->heap, err) : rc;
}

int reader_open(const char *path, const struct log *log, struct reader **out, struct fathom_error *err)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return error_memory(err);
    reader->log = log;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    int rc = input_is_directory(path)
                 ? input_open_directory(path, &reader->input, &reader->parts, &reader->part_count, err)
                 : input_open(path, &reader->input, err);
    if (rc < 0)
        goto out;
    rc = head_read(&reader->head, &reader->input, name, err);
    if (rc == 0)
        rc = add_made_events(reader, err);
    if (rc < 0)
        goto out;
    rc = decoder_new(reader->head.events, reader->head.count, &reader->decoder, err);
    if (rc == 0 && reader->head.truncated)
        log_write(log, LOG_WARNING,
                  "%s was not finished: it is read as far as it goes, and lacks the command line", name);
out:
    if (rc < 0)
        reader_free(reader);
    else
        *out = reader;
    return rc;
}

void reader_close(struct reader *reader)
{
    if (reader)
        reader_free(reader);
}

size_t reader_events(const struct reader *reader, const struct event **out)
{
    *out = reader->head.events;
    return reader->head.count;
}

bool reader_wall_clock(const struct reader *reader, uint64_t time, uint64_t *wall)
{
    const struct trailer *t = &reader->head.trailer;
    *wall = t->clock_wall + (time - t->clock_time); /* or before it */
    return t->clock_wall && *wall < (uint64_t)INT64_MAX;
}

const struct scaling *reader_scaling(const struct reader *reader, uint32_t event)
{
    const struct scaling *s = &reader->head.trailer.scaling;
    return s->count && event < SCALING_EVENTS && s->events >> event & 1 ? s : NULL;
}

const char *reader_command(const struct reader *reader)
{
    return reader->head.command;
}

const struct host *reader_host(const struct reader *reader)
{
    return &reader->head.host;
}

const void *reader_code_names(const struct reader *reader, size_t *size)
{
    *size = reader->head.trailer.code_names_size;
    return reader->head.trailer.code_names;
}

bool reader_is_ours(const struct reader *reader)
{
    return reader->head.trailer.clock_wall || head_has_stacks(&reader->head);
}

int reader_name_code(struct reader *reader, const void *data, size_t size, struct fathom_error *err)
{
    return trailer_name_code(&reader->head.trailer, data, size) < 0 ? error_memory(err) : 0;
}

const void *reader_tracing_data(const struct reader *reader, size_t *size)
{
    *size = reader->head.tracing_size;
    return reader->head.tracing;
}

const char *reader_kernel(const struct reader *reader)
{
    const char *release = reader->head.host.name.release;
    return release[0] ? release : NULL;
}

void reader_summary(const struct reader *reader, struct reader_summary *out)
{
    *out = reader->summary;
}

void reader_set_stacks(struct reader *reader, uint32_t event, const struct stack_verdict *verdicts,
                       size_t count)
{
    reader->verdicts = verdicts;
    reader->verdict_count = verdicts ? count : 0;
    reader->said_event = event;
}

/* Sets what reader_set_stacks() gave for the sample. false: it is skipped. */
static bool apply_verdict(struct pass *pass, struct sample *sample)
{
    const struct reader *reader = pass->reader;
    if (sample->event != reader->said_event || pass->verdict_at >= reader->verdict_count)
        return !reader->verdicts || sample->event >= reader->head.count ||
               !reader->head.events[sample->event].audit;
    const struct stack_verdict *verdict = &reader->verdicts[pass->verdict_at++];
    sample->known = verdict->known;
    sample->compared = verdict->compared;
    sample->stack_number = verdict->stack_number;
    sample->checks_number = verdict->checks_number;
    sample->stack_read = verdict->stack_read;
    return true;
}

/* An event on two kinds of cores has two records. */
static void take_totals(struct pass *pass, const struct record *record)
{
    const struct reader *reader = pass->reader;
    struct reader_summary *summary = &pass->reader->summary;
    /* Events of threads are enabled while these are on a CPU; those of one kind of core, only there. */
    if (record->totals.event < reader->head.count && reader->head.events[record->totals.event].attr.inherit &&
        record->totals.enabled > summary->cpu_time)
        summary->cpu_time = record->totals.enabled;
    if (record->totals.event != reader->event)
        return;
    summary->counted += record->totals.value;
    pass->enabled += record->totals.enabled;
    pass->running += record->totals.running;
    if (pass->enabled)
        summary->counted_share = (double)pass->running / (double)pass->enabled;
}

/* Scales a sample's period to what it represents, once. */
static void scale_period(struct pass *pass, struct sample *sample)
{
    const struct scaling *s = reader_scaling(pass->reader, sample->event);
    if (s)
        sample->period = scaling_period(s, sample->time, sample->period, &pass->rests[sample->event]);
}

/* Which of the events made from others a sample belongs to, as in struct sample. */
static uint8_t made_of(const struct reader *reader, const struct sample *sample)
{
    const struct heap_made *heap = &reader->heap;
    unsigned made = 0;
    if (wall_has(&reader->wall, sample->event))
        made |= 1u << (reader->wall.event - reader->made_from);
    if (wakers_has(&reader->wakers, sample->event))
        made |= 1u << (reader->wakers.event - reader->made_from);
    if (sample->event == heap->allocated && heap->live != UINT32_MAX)
        made |= heap_made_of(heap, &reader->head.events[heap->allocated], sample)
                << (heap->live - reader->made_from);
    return (uint8_t)made;
}

/* false: out of memory. */
static bool fill_sample(struct pass *pass, struct sample *sample)
{
    struct reader *reader = pass->reader;
    scale_period(pass, sample);
    sample->made_from = reader->made_from;
    sample->made = made_of(reader, sample);
    if (reader->wakers.event == UINT32_MAX || sample->event != reader->wakers.wakeups)
        return true;
    sample->waker = wakers_label(&reader->wakers, sample);
    return sample->waker;
}

static int count_and_pass_on(void *context, const struct record *record, struct fathom_error *err)
{
    struct pass *pass = context;
    struct reader_summary *summary = &pass->reader->summary;
    struct record filled;
    if (record->kind == RECORD_MMAP) {
        filled = *record;
        build_ids_fill(&pass->reader->head.build_ids, &filled.mmap);
        record = &filled;
    } else if (pass->announced || pass->reader->verdicts || pass->reader->head.trailer.scaling.count ||
               pass->reader->made_from < pass->reader->head.count || pass->latency.open) {
        filled = *record;
        int rc = pass->announced ? announced_take(pass->announced, &filled, err) : 0;
        if (rc)
            return rc < 0 ? rc : 0;
        if (record->kind == RECORD_SAMPLE && latency_take(&pass->latency, &filled.sample, err) < 0)
            return -ENOMEM;
        if (record->kind == RECORD_SAMPLE && !apply_verdict(pass, &filled.sample))
            return 0;
        if (record->kind == RECORD_SAMPLE && !fill_sample(pass, &filled.sample))
            return error_memory(err);
        record = &filled;
    }
    summary->records++;
    switch (record->kind) {
    case RECORD_SAMPLE:
        summary->samples++;
        break;
    case RECORD_LOST:
        summary->lost += record->lost;
        break;
    case RECORD_MMAP:
        summary->stacks |= record->mmap.path && strncmp(record->mmap.path, "[stack:", 7) == 0;
        break;
    case RECORD_THROTTLE:
        summary->throttled++;
        break;
    case RECORD_TOTALS:
        take_totals(pass, record);
        break;
    default:
        break;
    }
    if (unsampled_apply(pass->unsampled, record) < 0)
        return error_memory(err);
    return pass->sink(pass->context, record, err);
}

static int push_inflated(void *context, const uint8_t *data, size_t size, struct fathom_error *err)
{
    struct pass *pass = context;
    if (load_u32(data) == USER_FINISHED_ROUND)
        return pass->reader->part_count ? 0 : order_round(pass->order, err);
    return order_push_copy(pass->order, data, size, err);
}

/* Decompresses one piece of the stream. If it is damaged, the rest of the stream is lost, as the summary
 * reports. */
static int run_compressed(struct pass *pass, const uint8_t *at, uint32_t type, uint32_t size,
                          struct fathom_error *err)
{
    struct reader *reader = pass->reader;
    const uint8_t *data = at + RECORD_HEADER_SIZE;
    size_t bytes = size - RECORD_HEADER_SIZE;
    reader->summary.compressed = true;
    if (!pass->inflate && !(pass->inflate = inflate_new(push_inflated, pass)))
        return error_memory(err);
    if (inflate_is_damaged(pass->inflate))
        return 0;
    if (type == USER_COMPRESSED2) {
        uint64_t piece = bytes < 8 ? 0 : load_u64(data);
        data += 8;
        bytes = bytes < 8 || piece > bytes - 8 ? 0 : (size_t)piece;
    }
    struct fathom_error problem;
    int rc = inflate_piece(pass->inflate, data, bytes, reader->head.mmap_size, &problem);
    if (rc < 0 && inflate_is_damaged(pass->inflate)) {
        log_write(reader->log, LOG_WARNING, "%s", problem.text);
        reader->summary.truncated = true;
        return 0;
    }
    return rc < 0 ? error_set(err, -rc, "%s", problem.text) : 0;
}

/* Reads the records of one file. rounds: it has all records, so that its marks say how far they can be sorted. */
static int walk_records(struct pass *pass, struct input *input, uint64_t at, uint64_t end, bool rounds,
                        struct fathom_error *err)
{
    struct reader *reader = pass->reader;
    uint64_t round = at;
    struct head_record r;
    int rc = 0;
    input_rewind(input);
    while (rc >= 0 && at < end) {
        rc = head_next(&reader->head, input, at, end, &r, err);
        if (rc < 0)
            break;
        if (!r.step) {
            reader->summary.truncated = true;
            break;
        }
        if (r.type == USER_FINISHED_ROUND && rounds) {
            rc = order_round(pass->order, err);
            input_pass(input, round); /* what is still queued came after it */
            round = at;
        } else if (r.type == USER_COMPRESSED || r.type == USER_COMPRESSED2) {
            rc = run_compressed(pass, r.data, r.type, r.size, err);
        } else if (r.type != USER_FINISHED_ROUND) {
            rc = order_push(pass->order, r.data, r.size, err);
        }
        at += r.step;
    }
    if (pass->inflate && inflate_is_open(pass->inflate))
        reader->summary.truncated = true;
    inflate_free(pass->inflate); /* each file has its own stream */
    pass->inflate = NULL;
    return rc;
}

/* A directory's files overlap in time, and where one thread read several rings the kernel's order within each is lost:
 * everything is sorted at the end. */
static int walk_all(struct pass *pass, struct fathom_error *err)
{
    struct reader *reader = pass->reader;
    int rc = walk_records(pass, &reader->input, reader->head.records, reader->head.records_end,
                          reader->part_count == 0, err);
    for (size_t i = 0; i < reader->part_count && rc >= 0; i++)
        rc = walk_records(pass, &reader->parts[i], 0, reader->parts[i].size, false, err);
    return rc;
}

/* copy: as for order_new(). pass_end() has to be called even on failure. */
static int pass_begin(struct pass *pass, struct reader *reader, bool copy, struct fathom_error *err)
{
    pass->reader = reader;
    reader->summary = (struct reader_summary){.truncated = reader->head.truncated, .pipe = reader->head.pipe};
    pass->order = order_new(reader->decoder, copy, count_and_pass_on, pass);
    pass->unsampled = unsampled_new();
    bool announced = head_has_stacks(&reader->head);
    pass->announced = announced ? announced_new(reader->head.events, reader->head.count) : NULL;
    if (!pass->order || !pass->unsampled || (!pass->announced && announced))
        return error_memory(err);
    int rc = latency_begin(&pass->latency, reader->head.events, reader->head.count, err);
    if (rc < 0 || !announced)
        return rc;
    reader->scripts = reader->scripts ? reader->scripts : scripts_new();
    if (reader->scripts)
        announced_use_scripts(pass->announced, reader->scripts);
    return reader->scripts ? 0 : error_memory(err);
}

static void pass_end(struct pass *pass)
{
    struct reader_summary *summary = &pass->reader->summary;
    if (pass->order)
        summary->damaged = order_damaged(pass->order);
    if (pass->unsampled)
        summary->unsampled = unsampled_count(pass->unsampled, &summary->started);
    if (pass->announced) {
        summary->damaged += announced_damaged(pass->announced);
        summary->unresolved = announced_unresolved(pass->announced);
    }
    summary->unended = latency_unended(&pass->latency);
    if (pass->reader->scripts)
        summary->script_readings = scripts_readings(pass->reader->scripts);
    latency_end(&pass->latency);
    announced_free(pass->announced);
    unsampled_free(pass->unsampled);
    inflate_free(pass->inflate);
    order_free(pass->order);
}

static int run_pass(struct reader *reader, order_sink *sink, void *context, struct fathom_error *err)
{
    struct pass pass = {.sink = sink, .context = context};
    int rc = pass_begin(&pass, reader, false, err);
    if (rc == 0)
        rc = walk_all(&pass, err);
    if (rc >= 0)
        rc = order_flush(pass.order, err);
    pass_end(&pass);
    return rc < 0 ? rc : 0;
}

static int see_heap(void *context, const struct record *record, struct fathom_error *err)
{
    struct reader *reader = context;
    return heap_made_see(&reader->heap, &reader->head.events[reader->heap.allocated], record, err);
}

int reader_run(struct reader *reader, order_sink *sink, void *context, struct fathom_error *err)
{
    const bool unread = reader->heap.live != UINT32_MAX && !reader->heap.all;
    int rc = unread ? run_pass(reader, see_heap, reader, err) : 0;
    if (unread && rc == 0 && reader->heap.unknown)
        log_write(
            reader->log, LOG_WARNING,
            "of %llu sampled allocations it is not told whether they were freed, as too many were alive at a "
            "time: events live and peak lack them (record with a larger --alloc-bytes)",
            (unsigned long long)reader->heap.unknown);
    return rc < 0 ? rc : run_pass(reader, sink, context, err);
}

int reader_open_live(const struct reader_live *live, struct reader **out, struct fathom_error *err)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader || !(reader->live = calloc(1, sizeof *reader->live))) {
        free(reader);
        return error_memory(err);
    }
    reader->log = live->log;
    reader->live->reader = reader;
    reader->live->sink = live->sink;
    reader->live->context = live->context;
    int rc = input_begin(&reader->input, err);
    if (rc == 0)
        rc = head_copy(&reader->head, live->events, live->count, live->command, err);
    if (rc == 0)
        rc = add_made_events(reader, err);
    if (rc == 0)
        rc = decoder_new(reader->head.events, reader->head.count, &reader->decoder, err);
    if (rc == 0)
        rc = pass_begin(reader->live, reader, true, err);
    if (rc < 0)
        reader_free(reader);
    else
        *out = reader;
    return rc;
}

int reader_append(void *live, const void *records, size_t size, struct fathom_error *err)
{
    struct reader *reader = live;
    const uint8_t *at = records, *end = at + size;
    struct order *order = reader->live->order;
    int rc = input_append(&reader->input, records, size, err);
    reader->head.records_end = reader->input.size;
    while (rc == 0 && at < end) {
        size_t left = (size_t)(end - at), whole = left < RECORD_HEADER_SIZE ? 0 : load_u16(at + 6);
        if (whole < RECORD_HEADER_SIZE || whole > left)
            return error_set(err, EINVAL, "records that are not whole were added to a recording");
        rc =
            load_u32(at) == USER_FINISHED_ROUND ? order_round(order, err) : order_push(order, at, whole, err);
        at += whole;
    }
    return rc;
}

int reader_finish(struct reader *reader, struct fathom_error *err)
{
    int rc = order_flush(reader->live->order, err);
    pass_end(reader->live);
    free(reader->live);
    reader->live = NULL;
    return rc;
}

/* Finds the first event with samples. */
struct search {
    const struct event *events;
    size_t count;
    uint32_t first; /* of those reported */
    uint32_t found; /* UINT32_MAX: none yet */
};

static bool is_reported(const struct event *event)
{
    return !event->audit && !event->stacks && latency_event_of(&event->attr) != LATENCY_ENTERED &&
           (event->attr.freq || event->attr.sample_period) &&
           (event->attr.type != PERF_TYPE_SOFTWARE || event->attr.config != PERF_COUNT_SW_DUMMY);
}

/* Ends the pass as soon as no earlier event than the one found can appear. */
static int look_at_record(void *context, const struct record *record, struct fathom_error *err)
{
    struct search *search = context;
    (void)err;
    if (record->kind != RECORD_SAMPLE || record->sample.event >= search->count ||
        !is_reported(&search->events[record->sample.event]))
        return 0;
    if (record->sample.event < search->found)
        search->found = record->sample.event;
    return search->found == search->first ? -ECANCELED : 0;
}

static int find_sampled(struct reader *reader, uint32_t first, uint32_t *event, struct fathom_error *err)
{
    struct search search = {reader->head.events, reader->head.count, first, UINT32_MAX};
    int rc = reader_run(reader, look_at_record, &search, err);
    if (rc < 0 && search.found != first)
        return rc;
    *event = search.found == UINT32_MAX ? first : search.found;
    return 0;
}

uint32_t reader_next_event(const struct reader *reader, uint32_t from)
{
    for (uint32_t i = from; i < reader->head.count; i++)
        if (is_reported(&reader->head.events[i]) && decoder_first(reader->decoder, i) == i)
            return i;
    return UINT32_MAX;
}

void reader_choose_event(struct reader *reader, uint32_t event)
{
    reader->event = event;
}

void reader_other_events(const struct reader *reader, uint32_t event, char *out, size_t size)
{
    const struct event *events = reader->head.events;
    *out = '\0';
    uint32_t i = UINT32_MAX;
    while ((i = reader_next_event(reader, i + 1)) != UINT32_MAX) {
        size_t used = strlen(out);
        if (i != event)
            snprintf(out + used, size - used, "%s%s", used ? ", " : "", events[i].name);
    }
}

int reader_main_event(struct reader *reader, const char *name, uint32_t *event, struct fathom_error *err)
{
    const struct event *events = reader->head.events;
    uint32_t first = UINT32_MAX, candidates = 0;
    if (!name && reader->wall.reported) {
        *event = reader->event = reader->wall.event;
        return 0;
    }
    for (uint32_t i = 0; i < reader->head.count; i++) {
        if (name ? strncasecmp(events[i].name, name, strlen(name)) == 0
                 : is_reported(&events[i]) && i < reader->made_from) {
            first = candidates++ ? first : i;
        }
    }
    if (candidates) {
        int rc = candidates > 1 && !name ? find_sampled(reader, first, &first, err) : 0;
        if (rc == 0)
            *event = reader->event = first;
        return rc;
    }
    if (!name)
        return error_set(err, EBADMSG, "the recording has no event to report");
    char names[256];
    reader_other_events(reader, UINT32_MAX, names, sizeof names);
    return error_set(err, ENOENT, "the recording has no event '%s'; it has: %s", name,
                     *names ? names : "none");
}

uint8_t reader_build_id(const struct reader *reader, const char *path, uint8_t id[20])
{
    struct record_mmap mmap = {.path = path};
    build_ids_fill(&reader->head.build_ids, &mmap);
    memcpy(id, mmap.build_id, sizeof mmap.build_id);
    return mmap.build_id_size;
}
