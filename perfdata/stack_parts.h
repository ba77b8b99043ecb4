/*
 * stack_parts.h - reads and writes stack records (stack_record.h) with the parts after their heads. Reads are bounded: a record
 * may come from a hostile file.
 */
#ifndef FATHOM_PERFDATA_STACK_PARTS_H
#define FATHOM_PERFDATA_STACK_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfdata/stack_record.h"

struct stack_parts {
    struct stack_record head;
    /* of the stack, from head.sp + more_at on; NULL: none. Borrowed, not aligned, like the next */
    const uint8_t *bytes;
    /* of these bytes: at most STACK_RECORD_MAX, or STACK_WORDS_MAX if they were unfolded */
    uint32_t size;
    /* for STACK_RECORD_MORE: not 0, and with `size` at most STACK_WORDS_MAX; 0 for others */
    uint32_t more_at;
    bool cut;             /* the record had no space for more */
    struct stack_run run; /* follows `bytes`; times 0: there is none */
    const uint8_t *rest;  /* the bytes after the run, at head.sp + rest_at; NULL: none */
    uint32_t rest_at, rest_size;
    /* instead of a run, the words after `bytes`: each a struct stack_word_at; NULL: none */
    const uint8_t *words;
    struct stack_words known;
    const uint8_t *outer; /* the STACK_RECORD_OUTER bytes at outer_at, further out; NULL: none */
    uint64_t outer_at;
    uint32_t switch_at;    /* stack_switch.at, of `bytes` or of what is recorded instead of them; 0: none */
    const uint8_t *below;  /* the STACK_RECORD_BELOW bytes below head.sp; NULL: none */
    const uint8_t *frames; /* for walks_read(); NULL: none */
    uint32_t frames_size;
    const uint8_t *registers; /* values of the registers in `mask`, 8 bytes each; NULL: none */
    uint64_t mask;
    struct stack_code code;      /* version 0: not recorded */
    struct stack_placed placed;  /* count 0: not recorded */
    const uint8_t *placed_files; /* the addresses of its files, 8 bytes each */
};

/* false: the data is too short, has not our mark, is of an unknown version, or damaged. */
bool stack_parts_read(const uint8_t *data, size_t size, struct stack_parts *out);
/* Whether the stack is more than `bytes`: it has a run or words. */
bool stack_parts_folded(const struct stack_parts *parts);
/* Number of bytes of the unfolded stack, at most STACK_WORDS_MAX. */
uint32_t stack_parts_whole(const struct stack_parts *parts);
/* Writes that many bytes, with STACK_RECORD_HOLE between words. */
void stack_parts_unfold(const struct stack_parts *parts, uint8_t *out);
/* Writes a record up to the stack's bytes, `size` of which have to follow; returns the size of what was written, at most
 * sizeof(struct stack_record_read). Sets head.size and head.version; drops registers that no record has. */
size_t stack_parts_write(const struct stack_parts *parts, uint8_t *out);

#endif
