/* stack_dump.c - shortens stack dumps; see stack_dump.h. */
#include "perfdata/stack_dump.h"

#include <linux/perf_event.h>
#include <string.h>

size_t stack_dump_trim(void *record, size_t size, const struct sample *sample, uint64_t valid)
{
    uint8_t *dump = (uint8_t *)record + sample->stack_at;
    uint64_t padded = (valid + 7) & ~(uint64_t)7;
    size_t old_end =
        sample->stack_at + 8 + (size_t)sample->stack_capacity; /* of the dump: dyn_size follows */
    uint8_t *at = dump + 8 + padded;
    memcpy(dump, &padded, sizeof padded);
    if (padded) { /* without a dump the kernel writes no dyn_size */
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
