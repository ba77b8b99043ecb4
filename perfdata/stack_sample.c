/* stack_sample.c - see stack_sample.h. */
#include "perfdata/stack_sample.h"

#include <string.h>

#include "perfdata/stack_record.h"

#define REGS_MASK 0x1c0u /* BP, SP and IP: arch/x86/include/uapi/asm/perf_regs.h */

#define SAMPLE_TYPE                                                                                          \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |     \
     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* The fields of SAMPLE_TYPE before the stack's bytes, in the kernel's order; dyn_size follows the bytes. */
struct stack_sample {
    struct perf_event_header header;
    __u64 id, ip;
    __u32 pid, tid;
    __u64 time, period;
    __u64 callchain; /* its length: 0. Stock perf adds what it unwinds, but only to an event that has one */
    __u32 raw_size;  /* of what follows, to `abi` */
    struct stack_record record;
    __u32 padding;
    __u64 abi, bp, sp, reg_ip;
    __u64 stack_size; /* bytes that follow, a multiple of 8 */
} __attribute__((packed));

_Static_assert(sizeof(struct stack_sample) % 8 == 0, "words");
_Static_assert(sizeof(struct stack_sample) + STACK_RECORD_MAX + 8 <= STACK_SAMPLE_MAX, "fits into a record");

void stack_sample_event(const struct event *stacks, uint64_t *id, struct event *out)
{
    struct event made = {
        .attr = stacks->attr, .name = EVENT_NEW_STACKS_NAME, .stacks = true, .ids = id, .id_count = 1};
    made.attr.type = PERF_TYPE_SOFTWARE;
    made.attr.config = PERF_COUNT_SW_CPU_CLOCK;
    made.attr.config1 = STACK_RECORD_MAGIC;
    made.attr.sample_type = SAMPLE_TYPE;
    made.attr.sample_regs_user = REGS_MASK;
    made.attr.sample_stack_user = STACK_RECORD_MAX;
    *out = made;
}

bool stack_sample_is(const struct perf_event_attr *attr)
{
    const uint64_t needed = PERF_SAMPLE_RAW | PERF_SAMPLE_STACK_USER;
    return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CPU_CLOCK &&
           attr->config1 == STACK_RECORD_MAGIC && (attr->sample_type & needed) == needed;
}

/* The record with a stack that the raw data begin with; false: there is none, or it is not whole. */
static bool read_record(const struct sample *stack, struct stack_record *out)
{
    if (!stack->raw || stack->raw_size < sizeof *out)
        return false;
    memcpy(out, stack->raw, sizeof *out);
    return out->magic == STACK_RECORD_MAGIC && out->version == STACK_RECORD_VERSION &&
           (out->kind == STACK_RECORD_NEW || out->kind == STACK_RECORD_AGAIN) && out->size > 0 &&
           out->size <= STACK_RECORD_MAX && out->size <= stack->raw_size - sizeof *out;
}

static bool is_about(const struct stack_record *record, const struct sample *stack,
                     const struct sample *sample)
{
    return sample->has_regs && sample->sp == record->sp && sample->pid == stack->pid &&
           sample->tid == stack->tid && sample->time == stack->time;
}

size_t stack_sample_make(const struct sample *stack, const struct sample *sample, uint64_t id, uint8_t *out)
{
    struct stack_record record;
    if (!read_record(stack, &record) || !is_about(&record, stack, sample))
        return 0;
    const uint64_t valid = record.size;
    const size_t room = (valid + 7) & ~(size_t)7, size = sizeof(struct stack_sample) + room + sizeof valid;
    record.size = 0; /* no bytes follow it: they are the dump */
    const struct stack_sample made = {
        .header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, (uint16_t)size},
        .id = id,
        .ip = sample->reg_ip,
        .pid = sample->pid,
        .tid = sample->tid,
        .time = sample->time,
        .period = sample->period,
        .raw_size = sizeof record + sizeof made.padding,
        .record = record,
        .abi = PERF_SAMPLE_REGS_ABI_64,
        .bp = sample->bp,
        .sp = sample->sp,
        .reg_ip = sample->reg_ip,
        .stack_size = room,
    };
    memcpy(out, &made, sizeof made);
    out += sizeof made;
    memset(out + valid, 0, room - valid);
    memcpy(out, stack->raw + sizeof record, valid);
    memcpy(out + room, &valid, sizeof valid);
    return size;
}
