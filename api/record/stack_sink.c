#include "api/record/stack_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/record/stack_pairs.h"
#include "perfdata/stack_sample.h"

#define NEW_STACKS_ID (UINT64_C(1) << 63) /* the kernel counts its own from 1 on */

struct stack_sink {
    collector_sink *next;
    void *context;        /* of next */
    struct event *events; /* the events of incoming records, and after them the new one */
    size_t count;         /* of incoming events */
    uint64_t id;
    struct stack_pairs *pairs;
    uint64_t made[8192];
};

static const struct event *find_stacks(const struct event *events, size_t count)
{
    size_t i = 0;
    while (i < count && !events[i].stacks)
        i++;
    return i < count ? &events[i] : NULL;
}

static int pass_on(void *sink, const void *records, size_t size, struct fathom_error *err)
{
    struct stack_sink *s = sink;
    return s->next(s->context, records, size, err);
}

/* Passes on a sample with the stack, in place of the stack record. */
static int take_pair(void *sink, const struct stack_pair *pair, struct fathom_error *err)
{
    struct stack_sink *s = sink;
    const size_t size = stack_sample_make(pair->stack, pair->sample, s->id, (uint8_t *)s->made);
    if (!size)
        return STACK_PAIR_LEAVE;
    int rc = s->next(s->context, s->made, size, err);
    return rc < 0 ? rc : STACK_PAIR_SAMPLE;
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
    return stack_pairs_new(
        &(struct stack_pairs_input){
            .events = s->events, .count = count, .take = take_pair, .next = pass_on, .context = s},
        &s->pairs, err);
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
    stack_pairs_free(s->pairs);
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

int stack_sink_add(void *sink, const void *records, size_t size, struct fathom_error *err)
{
    struct stack_sink *s = sink;
    return stack_pairs_add(s->pairs, records, size, err);
}

int stack_sink_finish(struct stack_sink *s, struct fathom_error *err)
{
    return stack_pairs_finish(s->pairs, err);
}
