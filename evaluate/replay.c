/* replay.c - see replay.h. */
#include "evaluate/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "collector/verify/known_stacks.h"
#include "collector/verify/user/machine.h"
#include "infer/live/stack_learner.h"
#include "perfdata/announced.h"
#include "perfdata/stack_parts.h"

#define PAGE_BITS       12 /* as chosen in verify.c */
#define PAGE_BITS_ALONE 6

enum { MAIN, STACKS, EVENTS };

struct replaying {
    const struct replay_options *options;
    struct replay *out;
    struct event events[EVENTS]; /* of the replayed records */
    struct machine machine;
    struct known_stacks *known;
    struct stack_learner *learner;
    struct announced *announced;
    struct processes *processes;
    uint8_t *raw; /* scratch: a stack record with its stack */
    bool started; /* the BPF machine is running */
};

static int add_known_stack(void *replaying, const struct known_stack *stack, struct fathom_error *err)
{
    struct replaying *r = replaying;
    return known_stacks_add(r->known, stack, err);
}

static bool set_go_stacks(void *replaying, uint32_t space, const struct go_stacks *go, uint64_t bias)
{
    struct replaying *r = replaying;
    return known_stacks_switch(r->known, space, go, bias);
}

static void place_process(void *replaying, uint32_t pid, uint32_t space)
{
    (void)replaying;
    machine_place(pid, space);
}

static void forget_space(void *replaying, uint32_t space)
{
    struct replaying *r = replaying;
    known_stacks_forget(r->known, space);
}

/* Passes the BPF program's records for the last sample to the code that joins them with samples. */
static int join_records(struct replaying *r, const struct sample *sample, struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < r->machine.record_count; i++) {
        const struct machine_record *made = &r->machine.records[i];
        const size_t head = stack_parts_write(
            &(struct stack_parts){
                .head = made->head, .bytes = made->stack, .size = made->head.size, .more_at = made->more_at},
            r->raw);
        memcpy(r->raw + head, made->stack, made->head.size);
        struct record record = {.kind = RECORD_SAMPLE, .pid = sample->pid, .tid = sample->tid};
        record.sample = (struct sample){.event = STACKS,
                                        .pid = sample->pid,
                                        .tid = sample->tid,
                                        .time = sample->time,
                                        .raw = r->raw,
                                        .raw_size = (uint32_t)(head + made->head.size)};
        rc = announced_take(r->announced, &record, err);
        r->out->records++;
        r->out->read += made->head.size > 0 && !made->more_at;
    }
    return rc < 0 ? rc : 0;
}

/* Runs the BPF program on a sample of a thread whose stack's base may be known. */
static void run_program(struct replaying *r, const struct sample *sample)
{
    const struct process *process = process_find(r->processes, sample->pid);
    const struct machine_memory memory = {sample->sp, sample->stack_size, sample->stack};
    uint64_t base;
    if (process && process_stack_base(process, sample->tid, sample->sp, &base) == STACK_OWN)
        machine_set_base(sample->tid, base);
    r->machine.now = sample->time;
    r->machine.memory = &memory;
    r->machine.memory_count = sample->stack != NULL;
    machine_sample(&(struct machine_sample){
        .pid = sample->pid,
        .tid = sample->tid,
        .ip = sample->reg_ip,
        .sp = sample->sp,
        .bp = sample->bp,
        .registers = sample->register_mask == STACK_RECORD_REGISTERS ? sample->registers : NULL});
}

static int take_sample(struct replaying *r, struct record *record, struct fathom_error *err)
{
    struct sample *sample = &record->sample;
    int rc = 0;
    sample->event = MAIN;
    if (sample->has_regs) {
        run_program(r, sample);
        rc = join_records(r, sample, err);
    }
    sample->known = SAMPLE_STACK_UNKNOWN;
    if (rc == 0)
        rc = announced_take(r->announced, record, err);
    if (rc == 0)
        rc = stack_learner_take(r->learner, r->processes, record, err);
    if (r->machine.out_of_memory)
        rc = error_memory(err);
    r->out->cut += sample->stack_cut;
    const struct stack_verdict verdict = {sample->known, sample->compared, sample->stack_number,
                                          sample->checks_number, sample->stack_read};
    if (rc == 0 && !vec_push(r->out->stacks, r->out->count, r->out->capacity, verdict))
        rc = error_memory(err);
    return rc;
}

static int start_replay(struct replaying *r, uint64_t time, struct fathom_error *err)
{
    const struct replay_options *options = r->options;
    struct verify_config config = {.started = time,
                                   .burst = options->burst,
                                   .rate = options->rate,
                                   .cpus = 1,
                                   .page_bits = options->compared ? PAGE_BITS : PAGE_BITS_ALONE,
                                   .compared = (uint8_t)options->compared,
                                   .follow = VERIFY_ALL};
    int rc = machine_start(&r->machine, &config);
    r->started = rc == 0;
    const struct known_stacks_maps maps = r->started ? machine_maps() : (struct known_stacks_maps){0};
    if (rc == 0)
        rc = known_stacks_new(&maps, options->compared, config.page_bits, &r->known);
    return rc < 0 ? error_memory(err) : 0;
}

/* An order_sink. */
static int take_record(void *replaying, const struct record *given, struct fathom_error *err)
{
    struct replaying *r = replaying;
    struct record record = *given;
    int rc = 0;
    if (record.kind == RECORD_SAMPLE && !sample_is_of(&record.sample, r->options->event))
        return 0;
    if (!r->started && (record.time || record.kind == RECORD_SAMPLE))
        rc = start_replay(r, record.time, err);
    if (rc == 0 && record.kind == RECORD_SAMPLE)
        return take_sample(r, &record, err);
    if (rc == 0)
        rc = announced_take(r->announced, &record, err);
    if (r->started && record.time)
        r->machine.now = record.time;
    if (rc == 0 && r->started && record.kind == RECORD_FORK)
        machine_fork(record.fork.parent_pid, record.fork.parent_tid, record.tid,
                     record.pid == record.fork.parent_pid);
    if (rc == 0)
        rc = stack_learner_take(r->learner, r->processes, &record, err);
    if (rc == 0 && r->started && record.kind == RECORD_EXIT)
        machine_set_base(record.tid, 0);
    if (r->machine.out_of_memory)
        rc = error_memory(err);
    return rc < 0 ? rc : processes_apply(r->processes, &record, err);
}

int replay_run(struct reader *reader, struct image_cache *images, const struct replay_options *options,
               struct replay *out, struct fathom_error *err)
{
    struct replaying r = {.options = options, .out = out};
    *out = (struct replay){0};
    r.events[STACKS].stacks = true;
    r.announced = announced_new(r.events, EVENTS);
    r.processes = processes_new(images, NULL);
    r.raw = malloc(sizeof(struct stack_record_read) + STACK_RECORD_MAX);
    int rc = r.announced && r.processes && r.raw ? 0 : error_memory(err);
    if (rc == 0)
        rc = stack_learner_new(&(struct stack_learner_input){.events = r.events,
                                                             .count = EVENTS,
                                                             .know = add_known_stack,
                                                             .stacks_are = set_go_stacks,
                                                             .place = place_process,
                                                             .forget = forget_space,
                                                             .context = &r},
                               &r.learner, err);
    if (rc == 0)
        rc = reader_run(reader, take_record, &r, err);
    stack_learner_stop(r.learner, NULL);
    known_stacks_free(r.known);
    if (r.started)
        machine_stop();
    announced_free(r.announced);
    processes_free(r.processes);
    free(r.raw);
    return rc;
}

void replay_free(struct replay *replay)
{
    free(replay->stacks);
    *replay = (struct replay){0};
}
