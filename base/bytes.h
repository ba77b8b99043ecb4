/*
 * bytes.h - a bounded reader of little-endian bytes, and LEB128 written.
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

/* NULL is only valid without bytes; even adding 0 to it is undefined (C17, 6.5.6). */
static inline struct bytes bytes_of(const void *data, size_t size)
{
    return (struct bytes){data, size ? (const uint8_t *)data + size : data, false};
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
/* Writes a value as ULEB128, at most BYTES_ULEB_MAX bytes; returns their end. */
#define BYTES_ULEB_MAX 10u
uint8_t *bytes_put_uleb(uint8_t *out, uint64_t value);
/* How many bytes that are; and writes it in a given number of bytes, which may be more. */
size_t bytes_uleb_size(uint64_t value);
void bytes_put_uleb_as(uint8_t *out, uint64_t value, size_t size);
/* Maps small values of either sign to small unsigned ones, and back. */
static inline uint64_t zigzag(uint64_t value)
{
    return value << 1 ^ (value >> 63 ? UINT64_MAX : 0);
}
static inline uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (value & 1 ? UINT64_MAX : 0);
}
/* The next n bytes, or NULL (and failed). Points into the input. */
const uint8_t *bytes_take(struct bytes *b, uint64_t n);

#endif
