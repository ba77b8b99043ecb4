/*
 * sample_decode.c - decodes the fields of a PERF_RECORD_SAMPLE, in the order in which the kernel writes them
 * (perf_output_sample() in kernel/events/core.c). Every count is bounded by the record.
 */
#include "base/sampling.h"
#include "perfdata/layout.h"

/* The rest of the record. */
struct rest {
    const uint8_t *at, *end;
};

/* Skips n bytes and returns where they start, or NULL if the record is too short. */
static inline const uint8_t *take_bytes(struct rest *rest, uint64_t n)
{
    if (n > (uint64_t)(rest->end - rest->at))
        return NULL;
    const uint8_t *at = rest->at;
    rest->at += n;
    return at;
}

/* Skips a u64 count and that many elements; returns where these start, or NULL. */
static const uint8_t *take_counted(struct rest *rest, uint64_t between, uint64_t element, uint64_t *count)
{
    const uint8_t *at = take_bytes(rest, 8);
    if (!at || !take_bytes(rest, between))
        return NULL;
    *count = load_u64(at);
    if (*count > RECORD_SIZE_MAX / element)
        return NULL;
    return take_bytes(rest, *count * element);
}

static bool skip_read(struct rest *rest, uint64_t format)
{
    uint64_t times = 8 * (uint64_t)__builtin_popcountll(
                             format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
    uint64_t value =
        8 + 8 * (uint64_t)__builtin_popcountll(format & (PERF_FORMAT_ID | (UINT64_C(1) << 4) /* LOST */));
    if (!(format & PERF_FORMAT_GROUP))
        return take_bytes(rest, times + value);
    uint64_t count;
    return take_counted(rest, times, value, &count);
}

static bool take_branches(struct rest *rest, const struct layout *layout, struct sample *out)
{
    uint64_t count;
    const uint8_t *branches = take_counted(rest, layout->branch_index ? 8 : 0, SAMPLE_BRANCH, &count);
    if (!branches)
        return false;
    if (count) {
        out->branches = branches;
        out->branch_count = (uint32_t)count;
    }
    return !layout->branch_counters || take_bytes(rest, count * 8);
}

/* A set of registers, its abi first: NULL and true if the kernel had none to write (no user context). */
static bool take_registers(struct rest *rest, const struct register_places *places, const uint8_t **registers)
{
    const uint8_t *abi = take_bytes(rest, 8);
    if (!abi)
        return false;
    if (load_u64(abi) == PERF_SAMPLE_REGS_ABI_NONE)
        return true;
    *registers = abi;
    return take_bytes(rest, 8 * (uint64_t)places->count);
}

static bool set_registers(const uint8_t *registers, const struct register_places *places, struct sample *out)
{
    if (!registers || places->sp < 0 || places->ip < 0 || places->bp < 0)
        return false;
    const uint8_t *values = registers + 8;
    /* Tables of 64-bit code do not apply to a 32-bit process; but its stack has a base nevertheless. */
    out->has_regs = load_u64(registers) == PERF_SAMPLE_REGS_ABI_64;
    out->sp = load_u64(values + 8 * places->sp);
    out->reg_ip = load_u64(values + 8 * places->ip);
    out->bp = load_u64(values + 8 * places->bp);
    out->registers = values;
    out->register_mask = places->mask;
    return true;
}

/* Uses the user's registers, if they belong to the same instruction and there are more of them than at the interrupt. */
static void prefer_user(const uint8_t *user, const struct register_places *places, struct sample *out)
{
    const uint8_t *values = user ? user + 8 : NULL;
    if (user && out->registers && places->count > __builtin_popcountll(out->register_mask) &&
        places->sp >= 0 && places->ip >= 0 && load_u64(values + 8 * places->sp) == out->sp &&
        load_u64(values + 8 * places->ip) == out->reg_ip) {
        out->registers = values;
        out->register_mask = places->mask;
    }
}

/* The kernel shortens a dump to keep the record under 64 KiB (perf_sample_ustack_size()): to what is left of 65,535 bytes after
 * `others`, the bytes before it. We know only the total of all other bytes, which may be slightly larger, so the limit may be
 * slightly too low: a complete stack of just this size may be reported as cut, but never the reverse. */
static bool is_cut(uint64_t requested, uint64_t valid, uint64_t others)
{
    if (valid >= requested)
        return true;
    uint64_t reach = others + 8 < RECORD_SIZE_MAX ? (RECORD_SIZE_MAX - others - 8 + 7) & ~UINT64_C(7) : 0;
    return valid >= reach;
}

static bool take_stack(struct rest *rest, const struct layout *layout, size_t record_size, struct sample *out)
{
    uint64_t size;
    const size_t at = record_size - (size_t)(rest->end - rest->at);
    const uint8_t *stack = take_counted(rest, 0, 1, &size);
    if (!stack)
        return false;
    if (size == 0)
        return true;
    const uint8_t *valid = take_bytes(rest, 8);
    if (!valid || load_u64(valid) > size)
        return false;
    uint64_t valid_size = load_u64(valid);
    out->stack_at = (uint32_t)at;
    out->stack_capacity = (uint32_t)size;
    if (valid_size) {
        out->stack = stack;
        out->stack_size = (uint32_t)valid_size;
        out->stack_cut = is_cut(layout->stack_size, valid_size, record_size - size);
    }
    return true;
}

static uint8_t mode_of(uint16_t misc)
{
    switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
    case PERF_RECORD_MISC_CPUMODE_UNKNOWN:
        return SAMPLE_MODE_UNKNOWN;
    case PERF_RECORD_MISC_KERNEL:
        return SAMPLE_MODE_KERNEL;
    case PERF_RECORD_MISC_USER:
        return SAMPLE_MODE_USER;
    default:
        return SAMPLE_MODE_OTHER;
    }
}

/* IDENTIFIER to PERIOD: fields that occur at most once. */
static bool take_fixed(struct rest *rest, const struct layout *layout, struct sample *out)
{
    const uint64_t type = layout->sample_type;
    const uint8_t *at = take_bytes(rest, layout->fixed_size);
    if (!at)
        return false;
    if (type & PERF_SAMPLE_IDENTIFIER)
        at += 8;
    if (type & PERF_SAMPLE_IP) {
        out->ip = load_u64(at);
        at += 8;
    }
    if (type & PERF_SAMPLE_TID) {
        out->pid = load_u32(at);
        out->tid = load_u32(at + 4);
        at += 8;
    }
    if (type & PERF_SAMPLE_TIME) {
        out->time = load_u64(at);
        at += 8;
    }
    if (type & PERF_SAMPLE_ADDR)
        out->addr = load_u64(at);
    out->period = type & PERF_SAMPLE_PERIOD ? load_u64(rest->at - 8) : layout->default_period;
    return true;
}

/* Sets what the raw data of waits, and of who ended them, contain. */
static void take_wait(const struct layout *layout, struct sample *out)
{
    struct wait_raw wait;
    struct waker_raw waker;
    if (layout->waits && out->raw_size >= sizeof wait.reason)
        out->wait = load_u32(out->raw);
    if (layout->waits && out->raw_size >= sizeof wait) {
        memcpy(&wait, out->raw, sizeof wait);
        out->wake = wait.number == WAIT_LASTS ? 0 : (uint64_t)out->tid << 32 | wait.number;
    } else if (layout->wakeups && out->raw_size >= sizeof waker) {
        memcpy(&waker, out->raw, sizeof waker);
        out->wake = (uint64_t)waker.woken << 32 | waker.number;
    }
}

/* Sets how many allocations it represents. */
static void take_allocation(const struct layout *layout, struct sample *out)
{
    const uint64_t second = heap_field_of(&layout->weight, out, HEAP_ADDRESS);
    uint64_t size = heap_field_of(&layout->weight, out, HEAP_SIZE);
    if (layout->heap == HEAP_ENTERED) {
        if (__builtin_mul_overflow(out->period, second, &size) || size > INT64_MAX)
            size = 0; /* it has no such field */
        out->period = size ? sampling_weight(size, layout->heap_mean) : 0;
    }
    out->allocations = heap_allocations(out->period, size, out->time, second);
}

/* READ to BRANCH_STACK: counted fields before the registers. */
static bool take_counted_fields(struct rest *rest, const struct layout *layout, struct sample *out)
{
    const uint64_t type = layout->sample_type;
    uint64_t count;
    if (type & PERF_SAMPLE_READ && !skip_read(rest, layout->read_format))
        return false;
    if (type & PERF_SAMPLE_CALLCHAIN) {
        const uint8_t *chain = take_counted(rest, 0, 8, &count);
        if (!chain)
            return false;
        if (count) {
            out->callchain = (const uint64_t *)(const void *)chain;
            out->callchain_count = (uint32_t)count;
        }
    }
    if (type & PERF_SAMPLE_RAW) {
        const uint8_t *size = take_bytes(rest, 4);
        out->raw = size ? take_bytes(rest, load_u32(size)) : NULL;
        if (!out->raw)
            return false;
        out->raw_size = load_u32(size);
        take_wait(layout, out);
        if (layout->weight.size &&
            __builtin_mul_overflow(out->period, weight_field_in(&layout->weight, out->raw, out->raw_size),
                                   &out->period))
            out->period = UINT64_MAX;
        if (layout->heap)
            take_allocation(layout, out);
    }
    return !(type & PERF_SAMPLE_BRANCH_STACK) || take_branches(rest, layout, out);
}

/* WEIGHT to TRANSACTION. */
static bool take_memory(struct rest *rest, const struct layout *layout, struct sample *out)
{
    const uint64_t type = layout->sample_type;
    if (type & PERF_SAMPLE_WEIGHT_TYPE) {
        const uint8_t *weight = take_bytes(rest, 8);
        if (!weight)
            return false;
        out->weight = type & PERF_SAMPLE_WEIGHT ? load_u64(weight) : load_u32(weight);
    }
    if (type & PERF_SAMPLE_DATA_SRC) {
        const uint8_t *source = take_bytes(rest, 8);
        if (!source)
            return false;
        out->data_src = load_u64(source);
    }
    return !(type & PERF_SAMPLE_TRANSACTION) || take_bytes(rest, 8);
}

/* PHYS_ADDR to AUX: skipped except for the cgroup, but they must be present. */
static bool take_tail(struct rest *rest, uint64_t type, struct sample *out)
{
    uint64_t count;
    const uint64_t pages = type & (PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE);
    if (type & PERF_SAMPLE_PHYS_ADDR && !take_bytes(rest, 8))
        return false;
    if (type & PERF_SAMPLE_CGROUP) {
        const uint8_t *cgroup = take_bytes(rest, 8);
        if (!cgroup)
            return false;
        out->cgroup = load_u64(cgroup);
    }
    if (!take_bytes(rest, 8 * (uint64_t)__builtin_popcountll(pages)))
        return false;
    return !(type & PERF_SAMPLE_AUX) || take_counted(rest, 0, 1, &count);
}

/* The IP that an IBS sample's registers belong to (arch/x86/events/amd/ibs.c, perf_ibs_handle_irq: the IP in the registers is
 * IBS's, and the chain is made from those at the interrupt). */
static uint64_t interrupted_ip(const struct sample *sample)
{
    for (uint32_t i = 0; i + 1 < sample->callchain_count; i++)
        if (sample->callchain[i] == (uint64_t)PERF_CONTEXT_USER)
            return sample->callchain[i + 1];
    return sample->reg_ip;
}

bool sample_decode(const struct layout *layout, const uint8_t *data, size_t size, struct sample *out)
{
    const uint64_t type = layout->sample_type;
    struct rest rest = {data + RECORD_HEADER_SIZE, data + size};
    const uint8_t *user = NULL, *intr = NULL;

    out->mode = mode_of(load_u16(data + 4));
    if (!take_fixed(&rest, layout, out))
        return false;
    const uint64_t counted =
        PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK;
    if (type & counted && !take_counted_fields(&rest, layout, out))
        return false;
    if (type & PERF_SAMPLE_REGS_USER && !take_registers(&rest, &layout->user, &user))
        return false;
    if (type & PERF_SAMPLE_STACK_USER && !take_stack(&rest, layout, size, out))
        return false;
    if (!take_memory(&rest, layout, out))
        return false;
    if (type & PERF_SAMPLE_REGS_INTR && !take_registers(&rest, &layout->intr, &intr))
        return false;
    if (!take_tail(&rest, type, out))
        return false;

    const bool exact = load_u16(data + 4) & PERF_RECORD_MISC_EXACT_IP;
    /* For a sample in the kernel, the registers at the interrupt say nothing about the user's stack. */
    if (out->mode == SAMPLE_MODE_KERNEL && set_registers(user, &layout->user, out))
        out->user_regs = true;
    else if (!set_registers(intr, &layout->intr, out))
        out->user_regs = set_registers(user, &layout->user, out);
    prefer_user(user, &layout->user, out);
    out->regs_after = exact && layout->precise && out->has_regs && !out->user_regs;
    if (exact && layout->ibs && out->has_regs)
        out->reg_ip = interrupted_ip(out);
    return true;
}
