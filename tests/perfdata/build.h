/* build.h - records byte by byte, for the tests: start, put fields, end. */
#ifndef FATHOM_TESTS_PERFDATA_BUILD_H
#define FATHOM_TESTS_PERFDATA_BUILD_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

struct build {
    _Alignas(8) uint8_t bytes[65536 + 64];
    size_t size;  /* of all records so far */
    size_t start; /* of the record that is being built */
};

static inline void put(struct build *b, const void *data, size_t size)
{
    memcpy(b->bytes + b->size, data, size);
    b->size += size;
}

static inline void put64(struct build *b, uint64_t value)
{
    put(b, &value, sizeof value);
}

static inline void put32(struct build *b, uint32_t value)
{
    put(b, &value, sizeof value);
}

/* With its NUL, padded to 8 bytes. */
static inline void put_text(struct build *b, const char *text)
{
    char padded[256] = {0};
    strncpy(padded, text, sizeof padded - 9);
    put(b, padded, (strlen(padded) + 8) & ~(size_t)7);
}

static inline void record_start(struct build *b, uint32_t type, uint16_t misc)
{
    struct perf_event_header header = {type, misc, 0};
    b->start = b->size;
    put(b, &header, sizeof header);
}

static inline void record_end(struct build *b)
{
    uint16_t size = (uint16_t)(b->size - b->start);
    memcpy(b->bytes + b->start + 6, &size, sizeof size);
}

/* A sample of process 7, whose event's fields begin with IDENTIFIER, IP, TID and TIME. */
static inline void sample_start(struct build *b, uint64_t id, uint32_t tid, uint64_t time)
{
    record_start(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    put64(b, id);
    put64(b, 0x401234);
    put32(b, 7);
    put32(b, tid);
    put64(b, time);
}

#endif
