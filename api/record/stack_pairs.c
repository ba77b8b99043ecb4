#include "api/record/stack_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "perfdata/stack_record.h"

struct stack_pairs {
    struct stack_pairs_input in;
    struct decoder *decoder;
    uint64_t held[STACK_PAIRS_RECORD / 8 + 1]; /* a stack record that waits for its sample */
    size_t held_size;                          /* 0: none */
    uint8_t *more;                             /* earlier records of the same stack */
    size_t more_size, more_capacity;
    uint32_t number, tid; /* of the records in `more` */
};

int stack_pairs_new(const struct stack_pairs_input *input, struct stack_pairs **out, struct fathom_error *err)
{
    struct stack_pairs *p = calloc(1, sizeof *p);
    if (!p)
        return error_memory(err);
    p->in = *input;
    int rc = decoder_new(input->events, input->count, &p->decoder, err);
    if (rc < 0)
        stack_pairs_free(p);
    else
        *out = p;
    return rc;
}

void stack_pairs_free(struct stack_pairs *p)
{
    if (!p)
        return;
    decoder_free(p->decoder);
    free(p->more);
    free(p);
}

int stack_pairs_decode(const struct stack_pairs *p, const void *record, size_t size, struct record *out)
{
    return decoder_decode(p->decoder, record, size, out, NULL);
}

int stack_pairs_finish(struct stack_pairs *p, struct fathom_error *err)
{
    const size_t size = p->held_size, more = p->more_size;
    p->held_size = p->more_size = 0;
    int rc = more ? p->in.next(p->in.context, p->more, more, err) : 0;
    return rc == 0 && size ? p->in.next(p->in.context, p->held, size, err) : rc;
}

/* Decides what to do with the held stack record and the sample after it. */
static int pair_sample(const struct stack_pairs *p, const struct perf_event_header *header,
                       const struct sample *sample, struct fathom_error *err)
{
    const struct event *event = &p->in.events[sample->event];
    struct record held;
    if (!p->held_size || event->stacks || event->audit ||
        stack_pairs_decode(p, p->held, p->held_size, &held) < 0 || held.sample.tid != sample->tid ||
        held.sample.time != sample->time)
        return STACK_PAIR_LEAVE;
    return p->in.take(
        p->in.context,
        &(struct stack_pair){(const void *)p->held, header, &held.sample, sample, p->more, p->more_size},
        err);
}

/* Holds a stack record of kind STACK_RECORD_MORE. 0, -ENOMEM or the sink's result. */
static int hold_more(struct stack_pairs *p, const struct perf_event_header *header, uint32_t tid,
                     uint32_t number, struct fathom_error *err)
{
    const bool goes_on = !p->held_size && p->tid == tid && p->number == number &&
                         p->more_size < (size_t)STACK_RECORD_MORES * STACK_PAIRS_RECORD;
    int rc = goes_on ? 0 : stack_pairs_finish(p, err);
    if (rc == 0 && !vec_reserve(p->more, p->more_size, p->more_capacity, header->size))
        rc = error_memory(err);
    if (rc < 0)
        return rc;
    memcpy(p->more + p->more_size, header, header->size);
    p->more_size += header->size;
    p->tid = tid;
    p->number = number;
    return 0;
}

/* Holds a stack record if it is wanted, with the STACK_RECORD_MORE records that belong to it. *kept: whether it is held. */
static int hold_stack(struct stack_pairs *p, const struct perf_event_header *header,
                      const struct sample *stack, bool *kept, struct fathom_error *err)
{
    struct stack_record head = {0};
    if (stack->raw && stack->raw_size >= sizeof head)
        memcpy(&head, stack->raw, sizeof head);
    *kept = true;
    if (head.magic == STACK_RECORD_MAGIC && head.kind == STACK_RECORD_MORE)
        return hold_more(p, header, stack->tid, head.number, err);
    *kept = !p->in.is_wanted || p->in.is_wanted(p->in.context, stack);
    const bool follows =
        *kept && !p->held_size && p->more_size && p->tid == stack->tid && p->number == head.number;
    int rc = follows ? 0 : stack_pairs_finish(p, err);
    if (rc < 0 || !*kept)
        return rc;
    memcpy(p->held, header, header->size);
    p->held_size = header->size;
    return 0;
}

/* *kept: the sample is not passed on now. */
static int take_sample(struct stack_pairs *p, const struct perf_event_header *header,
                       const struct sample *sample, bool *kept, struct fathom_error *err)
{
    if (p->in.events[sample->event].stacks)
        return hold_stack(p, header, sample, kept, err);
    int rc = pair_sample(p, header, sample, err);
    if (rc < 0)
        return rc;
    *kept = rc == STACK_PAIR_TAKE;
    if (rc != STACK_PAIR_LEAVE)
        p->held_size = p->more_size = 0;
    return stack_pairs_finish(p, err);
}

/* Whether a sample may belong to the held stack record, or is a stack record. */
static bool concerns_pair(const struct stack_pairs *p, const struct perf_event_header *header,
                          struct record *record)
{
    return header->type == PERF_RECORD_SAMPLE && stack_pairs_decode(p, header, header->size, record) == 0 &&
           (p->held_size || p->more_size || p->in.events[record->sample.event].stacks);
}

int stack_pairs_add(struct stack_pairs *p, const void *records, size_t size, struct fathom_error *err)
{
    const char *passed = records, *at = records, *end = at + size;
    int rc = 0;
    while (at < end && rc == 0) {
        const struct perf_event_header *header = (const void *)at;
        const char *next = at + header->size;
        struct record record;
        const bool mark = header->type == USER_FINISHED_ROUND;
        bool kept = false;
        if (mark || concerns_pair(p, header, &record)) {
            rc = at > passed ? p->in.next(p->in.context, passed, (size_t)(at - passed), err) : 0;
            if (rc == 0)
                rc = mark ? stack_pairs_finish(p, err) : take_sample(p, header, &record.sample, &kept, err);
            if (mark)
                kept = p->in.pass_mark && !p->in.pass_mark(p->in.context);
            passed = kept ? next : at;
        }
        at = next;
    }
    return rc == 0 && end > passed ? p->in.next(p->in.context, passed, (size_t)(end - passed), err) : rc;
}
