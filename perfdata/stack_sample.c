/* stack_sample.c - see stack_sample.h. */
#include "perfdata/stack_sample.h"

#include <string.h>

#include "perfdata/stack_parts.h"

#define SAMPLE_TYPE                                                                                          \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |     \
     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* The fields of SAMPLE_TYPE before the stack's bytes, in the kernel's order; dyn_size follows the bytes. */
struct stack_sample {
    struct perf_event_header header;
    __u64 id, ip;
    __u32 pid, tid;
    __u64 time, period;
    /* its length: 0. Stock perf adds what it unwinds, but only to an event that has a chain */
    __u64 callchain;
    __u32 raw_size; /* bytes from here to `abi` */
    struct stack_record record;
    struct stack_part below_part; /* a part of the record, as the dump begins at SP */
    __s64 below_offset;
    __u8 below[STACK_RECORD_BELOW];
    struct stack_part switch_part;
    struct stack_switch switched;
    __u32 padding;
    __u64 abi, registers[STACK_RECORD_REGISTER_COUNT];
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
    made.attr.sample_regs_user = STACK_RECORD_REGISTERS;
    made.attr.sample_stack_user = STACK_RECORD_MAX;
    *out = made;
}

bool stack_sample_is(const struct perf_event_attr *attr)
{
    const uint64_t needed = PERF_SAMPLE_RAW | PERF_SAMPLE_STACK_USER;
    return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CPU_CLOCK &&
           attr->config1 == STACK_RECORD_MAGIC && (attr->sample_type & needed) == needed;
}

/* Reads the record with a stack at the beginning of the raw data; false: there is none, or it is incomplete. */
static bool read_record(const struct sample *stack, struct stack_parts *out)
{
    return stack_parts_read(stack->raw, stack->raw_size, out) && out->size > 0 && !out->words &&
           (out->head.kind == STACK_RECORD_NEW || out->head.kind == STACK_RECORD_AGAIN);
}

/* Sets all registers; 0: not recorded. */
static void fill_registers(const struct stack_parts *parts, const struct sample *sample,
                           __u64 out[STACK_RECORD_REGISTER_COUNT])
{
    const uint64_t bp = 6, sp = 7, ip = 8; /* their indices, which are their numbers */
    unsigned to = 0, from = 0;
    for (uint64_t bit = 1; bit <= STACK_RECORD_REGISTERS; bit <<= 1) {
        if (parts->mask & STACK_RECORD_REGISTERS & bit)
            memcpy(&out[to], parts->registers + 8 * (size_t)from, 8);
        from += (parts->mask & bit) != 0;
        to += (STACK_RECORD_REGISTERS & bit) != 0;
    }
    out[bp] = sample->bp;
    out[sp] = sample->sp;
    out[ip] = sample->reg_ip;
}

static bool is_about(const struct stack_record *record, const struct sample *stack,
                     const struct sample *sample)
{
    return sample->has_regs && sample->sp == record->sp && sample->pid == stack->pid &&
           sample->tid == stack->tid && sample->time == stack->time;
}

size_t stack_sample_make(const struct sample *stack, const struct sample *sample, uint64_t id, uint8_t *out)
{
    struct stack_parts parts;
    if (!read_record(stack, &parts) || !is_about(&parts.head, stack, sample))
        return 0;
    struct stack_record record = parts.head;
    const uint64_t valid = stack_parts_whole(&parts);
    const size_t padded = (valid + 7) & ~(size_t)7,
                 size = sizeof(struct stack_sample) + padded + sizeof valid;
    record.version = STACK_RECORD_VERSION;
    record.size = offsetof(struct stack_sample, padding) -
                  offsetof(struct stack_sample, below_part); /* the stack is in the dump */
    struct stack_sample made = {
        .header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, (uint16_t)size},
        .id = id,
        .ip = sample->reg_ip,
        .pid = sample->pid,
        .tid = sample->tid,
        .time = sample->time,
        .period = sample->period,
        .raw_size = sizeof record + record.size + sizeof made.padding,
        .record = record,
        .below_part = {STACK_PART_BYTES, 0, sizeof made.below_offset + sizeof made.below},
        .below_offset = -(__s64)STACK_RECORD_BELOW,
        .switch_part = {STACK_PART_SWITCH, 0, sizeof made.switched},
        .switched = {.at = parts.switch_at},
        .abi = PERF_SAMPLE_REGS_ABI_64,
        .stack_size = padded,
    };
    memset(made.below, 0xfd, sizeof made.below);
    if (parts.below)
        memcpy(made.below, parts.below, sizeof made.below);
    __u64 registers[STACK_RECORD_REGISTER_COUNT] = {0};
    fill_registers(&parts, sample, registers);
    memcpy(made.registers, registers, sizeof registers);
    memcpy(out, &made, sizeof made);
    out += sizeof made;
    memset(out + valid, 0, padded - valid);
    stack_parts_unfold(&parts, out);
    memcpy(out + padded, &valid, sizeof valid);
    return size;
}
