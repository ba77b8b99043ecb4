/* stack_sink.c - see stack_sink.h. */
#include "api/record/stack_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/stack_sample.h"

#define NEW_STACKS_ID (UINT64_C(1) << 63) /* the kernel counts its own from 1 on */

struct stack_sink {
    collector_sink *next;
    void *context;        /* its */
    struct event *events; /* those of the records that come, and the new one behind them */
    size_t count;         /* of the former */
    uint64_t id;
    struct decoder *decoder;
    uint64_t held[8192]; /* a stack record that waits for its sample */
    size_t held_size;    /* 0: none */
    uint64_t made[8192];
};

static const struct event *find_stacks(const struct event *events, size_t count)
{
    size_t i = 0;
    while (i < count && !events[i].stacks)
        i++;
    return i < count ? &events[i] : NULL;
}

static int copy_events(struct stack_sink *s, const struct event *events, size_t count,
                       struct fathom_error *err)
{
    const struct event *stacks = find_stacks(events, count);
    if (!stacks)
        return error_set(err, EINVAL, "the recording has no stack records");
    s->events = calloc(count + 1, sizeof *s->events);
    if (!s->events)
        return error_memory(err);
    memcpy(s->events, events, count * sizeof *events);
    s->count = count;
    s->id = NEW_STACKS_ID;
    stack_sample_event(stacks, &s->id, &s->events[count]);
    return decoder_new(s->events, count, &s->decoder, err);
}

int stack_sink_new(const struct event *events, size_t count, struct stack_sink **out,
                   struct fathom_error *err)
{
    struct stack_sink *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    int rc = copy_events(s, events, count, err);
    if (rc < 0)
        stack_sink_free(s);
    else
        *out = s;
    return rc;
}

void stack_sink_free(struct stack_sink *s)
{
    if (!s)
        return;
    decoder_free(s->decoder);
    free(s->events);
    free(s);
}

size_t stack_sink_events(const struct stack_sink *s, const struct event **events)
{
    *events = s->events;
    return s->count + 1;
}

void stack_sink_to(struct stack_sink *s, collector_sink *next, void *context)
{
    s->next = next;
    s->context = context;
}

int stack_sink_finish(struct stack_sink *s, struct fathom_error *err)
{
    size_t size = s->held_size;
    s->held_size = 0;
    return size ? s->next(s->context, s->held, size, err) : 0;
}

/* Passes on the stack record that is held: as a sample with a stack, if this sample is its own. */
static int pass_held(struct stack_sink *s, const struct sample *sample, struct fathom_error *err)
{
    struct record held;
    size_t size = 0;
    bool own = !s->events[sample->event].stacks && !s->events[sample->event].audit;
    if (own && decoder_decode(s->decoder, s->held, s->held_size, &held, NULL) == 0)
        size = stack_sample_make(&held.sample, sample, s->id, (uint8_t *)s->made);
    if (!size)
        return stack_sink_finish(s, err);
    s->held_size = 0;
    return s->next(s->context, s->made, size, err);
}

/* A sample that may belong to the stack record that is held, or is a stack record that is to be held. */
static bool concerns(const struct stack_sink *s, const struct perf_event_header *header,
                     struct record *record)
{
    return header->type == PERF_RECORD_SAMPLE &&
           decoder_decode(s->decoder, header, header->size, record, NULL) == 0 &&
           (s->held_size || s->events[record->sample.event].stacks);
}

/* *held: the record is kept back. */
static int take_sample(struct stack_sink *s, const struct perf_event_header *header,
                       const struct sample *sample, bool *held, struct fathom_error *err)
{
    int rc = s->held_size ? pass_held(s, sample, err) : 0;
    *held = rc == 0 && s->events[sample->event].stacks;
    if (*held) {
        memcpy(s->held, header, header->size);
        s->held_size = header->size;
    }
    return rc;
}

int stack_sink_add(void *sink, const void *records, size_t size, struct fathom_error *err)
{
    struct stack_sink *s = sink;
    const char *written = records, *at = records, *end = at + size;
    while (at < end) {
        const struct perf_event_header *header = (const void *)at;
        const char *next = at + header->size;
        struct record record;
        if (concerns(s, header, &record)) {
            bool held = false;
            int rc = at > written ? s->next(s->context, written, (size_t)(at - written), err) : 0;
            if (rc == 0)
                rc = take_sample(s, header, &record.sample, &held, err);
            if (rc < 0)
                return rc;
            written = held ? next : at;
        }
        at = next;
    }
    return end > written ? s->next(s->context, written, (size_t)(end - written), err) : 0;
}
