/* layout.c - the fields of our own samples; see layout.h. */
#include "collector/events/layout.h"

#include <string.h>

#include "base/bytes.h"

static uint64_t peek(const void *record, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const uint8_t *)record + offset, sizeof value);
    return value;
}

/* The registers of a mask: abi, then one word per bit. SP is bit 7. */
static uint64_t take_registers(struct bytes *b, uint64_t mask)
{
    if (bytes_u64(b) == 0)
        return 0; /* PERF_SAMPLE_REGS_ABI_NONE: no words follow */
    uint64_t sp = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        if (mask >> bit & 1) {
            uint64_t value = bytes_u64(b);
            if (bit == 7)
                sp = value;
        }
    return sp;
}

bool layout_sample_id(const void *record, size_t size, uint64_t *id)
{
    if (size < sizeof(struct perf_event_header) + 8)
        return false;
    *id = peek(record, sizeof(struct perf_event_header));
    return true;
}

bool layout_sample(const struct perf_event_attr *attr, const void *record, size_t size,
                   struct layout_sample *out)
{
    const uint64_t type = attr->sample_type;
    struct bytes b = bytes_of(record, size);
    *out = (struct layout_sample){0};
    bytes_take(&b, sizeof(struct perf_event_header));
    out->id = bytes_u64(&b);
    out->ip = bytes_u64(&b);
    out->pid = bytes_u32(&b);
    out->tid = bytes_u32(&b);
    out->time = bytes_u64(&b);
    if (type & PERF_SAMPLE_ADDR)
        bytes_u64(&b);
    if (type & PERF_SAMPLE_PERIOD)
        bytes_u64(&b);
    if (type & PERF_SAMPLE_REGS_USER)
        out->sp = take_registers(&b, attr->sample_regs_user);
    if (type & PERF_SAMPLE_STACK_USER) {
        size_t at = (size_t)(b.at - (const uint8_t *)record);
        uint64_t bytes = bytes_u64(&b);
        if (bytes) {
            bytes_take(&b, bytes);
            out->dump = at;
            out->dump_bytes = bytes;
            out->dump_valid = bytes_u64(&b);
            if (out->dump_valid > bytes)
                out->dump_valid = bytes;
        }
    }
    if (type & PERF_SAMPLE_WEIGHT)
        bytes_u64(&b);
    if (type & PERF_SAMPLE_DATA_SRC)
        bytes_u64(&b);
    if (type & PERF_SAMPLE_REGS_INTR) {
        uint64_t sp = take_registers(&b, attr->sample_regs_intr);
        if (out->sp == 0)
            out->sp = sp;
    }
    return !b.failed;
}

size_t layout_cut_dump(void *record, size_t size, const struct layout_sample *sample, uint64_t valid)
{
    uint8_t *dump = (uint8_t *)record + sample->dump;
    uint64_t kept = (valid + 7) & ~(uint64_t)7;
    size_t old_end = sample->dump + 8 + (size_t)sample->dump_bytes; /* of the dump: dyn_size follows */
    uint8_t *at = dump + 8 + kept;
    memcpy(dump, &kept, sizeof kept);
    if (kept) { /* without a dump the kernel writes no dyn_size */
        memcpy(at, &valid, sizeof valid);
        at += 8;
    }
    size_t rest = size - (old_end + 8);
    memmove(at, (uint8_t *)record + old_end + 8, rest);
    size_t made = (size_t)(at - (uint8_t *)record) + rest;
    struct perf_event_header header;
    memcpy(&header, record, sizeof header);
    header.size = (uint16_t)made;
    memcpy(record, &header, sizeof header);
    return made;
}

uint64_t layout_trailer_time(const void *record, size_t size)
{
    return size < sizeof(struct perf_event_header) + 24 ? 0 : peek(record, size - 16);
}
