/* weight_field.c - see weight_field.h. */
#include "perfdata/weight_field.h"

#include <string.h>

#define MARK       UINT64_C(0x46574c44) /* "FWLD" */
#define MARK_SHIFT 32
#define SIZE_SHIFT 16
#define SIGNED     (UINT64_C(1) << 24)

void weight_field_set(struct perf_event_attr *attr, const struct weight_field *field)
{
    attr->sample_type |= PERF_SAMPLE_RAW;
    attr->config1 = MARK << MARK_SHIFT | (field->is_signed ? SIGNED : 0) |
                    (uint64_t)field->size << SIZE_SHIFT | field->at;
}

static bool is_size(uint64_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

struct weight_field weight_field_of(const struct perf_event_attr *attr)
{
    const uint64_t size = attr->config1 >> SIZE_SHIFT & 0xff;
    if (attr->type != PERF_TYPE_TRACEPOINT || !(attr->sample_type & PERF_SAMPLE_RAW) ||
        attr->config1 >> MARK_SHIFT != MARK || !is_size(size))
        return (struct weight_field){0};
    return (struct weight_field){(uint16_t)attr->config1, (uint8_t)size, attr->config1 & SIGNED};
}

uint64_t weight_field_in(const struct weight_field *field, const uint8_t *raw, uint32_t size)
{
    uint64_t value = 0; /* little-endian */
    if (field->at > size || field->size > size - field->at)
        return 0;
    memcpy(&value, raw + field->at, field->size);
    const bool negative = field->is_signed && value >> (8 * field->size - 1);
    return negative ? 0 : value;
}
