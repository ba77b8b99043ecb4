/*
 * stack_pairs.h - pairs each stack record among a collector's records with the sample after it, and passes other records on. A stack record
 * waits for its sample, if necessary until the next call, at most until the end of the round in which the collector passes both on.
 * Records of kind STACK_RECORD_MORE wait with the stack record that they precede.
 */
#ifndef FATHOM_API_RECORD_STACK_PAIRS_H
#define FATHOM_API_RECORD_STACK_PAIRS_H

#include "collector/rings/batch.h"
#include "perfdata/format.h"
#include "perfdata/record.h"

#define STACK_PAIRS_RECORD 65528u /* maximum size of a record, bytes */

struct stack_pairs;

struct stack_pair { /* of the same thread and time */
    const struct perf_event_header *stack_record, *sample_record;
    const struct sample *stack, *sample;
    const void *more; /* records of the same stack that came before */
    size_t more_size; /* bytes of them; 0: none */
};

enum stack_pair_choice {
    STACK_PAIR_LEAVE,  /* pass all on */
    STACK_PAIR_SAMPLE, /* pass the sample on */
    STACK_PAIR_TAKE,   /* pass none on */
};

/* All borrowed. */
struct stack_pairs_input {
    const struct event *events; /* of the records */
    size_t count;
    bool (*is_wanted)(
        void *context,
        const struct sample *stack); /* whether a stack record waits for its sample; NULL: all do */
    /* An enum stack_pair_choice; or negative, which ends the call. */
    int (*take)(void *context, const struct stack_pair *pair, struct fathom_error *err);
    bool (*pass_mark)(void *context); /* whether the mark of a round is passed on; NULL: all are */
    collector_sink *next;
    void *context; /* of all these */
};

int stack_pairs_new(const struct stack_pairs_input *input, struct stack_pairs **out,
                    struct fathom_error *err);
void stack_pairs_free(struct stack_pairs *pairs); /* NULL is allowed */
/* As a collector_sink. */
int stack_pairs_add(struct stack_pairs *pairs, const void *records, size_t size, struct fathom_error *err);
/* Passes on what waits for its sample. Call it at the end of the recording. */
int stack_pairs_finish(struct stack_pairs *pairs, struct fathom_error *err);
/* A record of the same events that was kept. 0 or negative. */
int stack_pairs_decode(const struct stack_pairs *pairs, const void *record, size_t size, struct record *out);

#endif
