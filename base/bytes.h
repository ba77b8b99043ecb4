/*
 * bytes.h - a bounded reader of little-endian bytes.
 *
 * For input that may be hostile: a read past the end returns 0 and sets `failed`, which stays set, so a
 * parser checks once after a group of reads. LEB128 as in DWARF 5, section 7.6.
 */
#ifndef FATHOM_BASE_BYTES_H
#define FATHOM_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    const uint8_t *at, *end; /* borrowed */
    bool failed;
};

static inline struct bytes bytes_of(const void *data, size_t size)
{
    return (struct bytes){data, (const uint8_t *)data + size, false};
}

static inline size_t bytes_left(const struct bytes *b)
{
    return (size_t)(b->end - b->at);
}

uint8_t bytes_u8(struct bytes *b);
uint16_t bytes_u16(struct bytes *b);
uint32_t bytes_u32(struct bytes *b);
uint64_t bytes_u64(struct bytes *b);
uint64_t bytes_uleb(struct bytes *b); /* a value of more than 64 bits fails */
int64_t bytes_sleb(struct bytes *b);
/* A NUL-terminated string; NULL (and failed) if it is not terminated before the end. Points into the input.
 */
const char *bytes_string(struct bytes *b);
/* The next n bytes, or NULL (and failed). Points into the input. */
const uint8_t *bytes_take(struct bytes *b, uint64_t n);

#endif
