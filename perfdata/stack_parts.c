/* stack_parts.c - see stack_parts.h. */
#include "perfdata/stack_parts.h"

#include <string.h>

#include "base/bytes.h"

/* false: damaged. */
static bool read_registers(struct bytes part, struct stack_parts *out)
{
    const uint64_t mask = bytes_u64(&part);
    const uint8_t *values = bytes_take(&part, 8 * (uint64_t)__builtin_popcountll(mask));
    if (values) {
        out->mask = mask;
        out->registers = values;
    }
    return values != NULL;
}

/* false: damaged. */
static bool read_run(struct bytes part, struct stack_parts *out)
{
    struct stack_run *run = &out->run;
    const uint8_t *at = bytes_take(&part, sizeof *run);
    if (!at || !out->bytes || run->times || out->words)
        return false;
    memcpy(run, at, sizeof *run);
    bool good = run->count <= sizeof run->at / sizeof *run->at && run->times > 0 && run->period >= 8 &&
                run->period >= 8 * run->count && (uint64_t)run->period * (run->times - 1) <= STACK_RECORD_MAX;
    for (uint32_t i = 0; good && i < run->count; i++)
        good = (run->at[i] & ~UINT32_C(7)) + UINT64_C(8) <= out->size;
    return good;
}

static struct stack_word_at word_of(const struct stack_parts *parts, uint32_t index)
{
    struct stack_word_at word;
    memcpy(&word, parts->words + index * sizeof word, sizeof word);
    return word;
}

/* Reads the bytes after a run. false: damaged. */
static bool read_rest(const uint8_t *at, uint64_t offset, uint32_t size, struct stack_parts *out)
{
    if (offset < out->size || offset + size > STACK_RECORD_MAX)
        return false;
    out->rest = at;
    out->rest_at = (uint32_t)offset;
    out->rest_size = size;
    out->cut = offset + size + (out->below ? STACK_RECORD_BELOW : 0) == STACK_RECORD_MAX;
    return true;
}

/* Reads bytes that are missing from the next record. false: damaged. */
static bool read_more(const uint8_t *at, int64_t offset, uint32_t size, struct stack_parts *out)
{
    if (out->bytes || size == 0 || offset <= 0 || offset > STACK_WORDS_MAX - (int64_t)size)
        return false;
    out->bytes = at;
    out->size = size;
    out->more_at = (uint32_t)offset;
    return true;
}

/* Reads bytes from SP on, or below it, or after a run, or the outermost ones. Bytes elsewhere are ignored by this reader. */
static bool read_bytes(struct bytes part, struct stack_parts *out)
{
    const int64_t offset = (int64_t)bytes_u64(&part);
    const size_t size = bytes_left(&part);
    const uint32_t low = offset == 0 ? 0 : STACK_RECORD_BELOW;
    if (part.failed || size > STACK_RECORD_MAX)
        return false;
    if (out->head.kind == STACK_RECORD_MORE)
        return read_more(part.at, offset, (uint32_t)size, out);
    if (offset > 0 && out->run.times && !out->rest)
        return read_rest(part.at, (uint64_t)offset, (uint32_t)size, out);
    if (offset > 0 && size == STACK_RECORD_OUTER && out->bytes &&
        (uint64_t)offset >= stack_parts_whole(out)) {
        out->outer = part.at;
        out->outer_at = out->head.sp + (uint64_t)offset;
        out->cut = true;
    }
    if ((offset != 0 && offset != -(int64_t)STACK_RECORD_BELOW) || size < low)
        return true;
    if (low)
        out->below = part.at;
    if (size > low && !out->bytes) {
        out->bytes = part.at + low;
        out->size = (uint32_t)size - low;
        out->cut = size == STACK_RECORD_MAX;
    }
    return true;
}

/* false: damaged. */
static bool read_words(struct bytes part, struct stack_parts *out)
{
    struct stack_words *known = &out->known;
    known->whole = bytes_u32(&part);
    known->count = bytes_u32(&part);
    out->words = bytes_take(&part, known->count * (uint64_t)sizeof(struct stack_word_at));
    bool good = out->words && out->bytes && !out->run.times && known->whole >= out->size &&
                known->whole <= STACK_WORDS_MAX;
    for (uint32_t i = 0; good && i < known->count; i++) {
        const struct stack_word_at word = word_of(out, i);
        good = word.at <= known->whole && known->whole - word.at >= sizeof word.value;
    }
    return good;
}

/* The bytes that it describes may be recorded elsewhere (stack_sample.h). false: damaged. */
static bool read_switch(struct bytes part, struct stack_parts *out)
{
    out->switch_at = bytes_u32(&part);
    return !part.failed && out->switch_at % 8 == 0 && (!out->bytes || out->switch_at < out->size);
}

/* false: damaged. */
static bool read_placed(struct bytes part, struct stack_parts *out)
{
    const uint64_t base = bytes_u64(&part), depth = bytes_u64(&part), count = bytes_u64(&part);
    if (part.failed || count > STACK_PLACED_MAX || bytes_left(&part) < 8 * count)
        return false;
    out->placed = (struct stack_placed){base, depth, count};
    out->placed_files = part.at;
    return true;
}

/* false: damaged. */
static bool read_code(struct bytes part, struct stack_parts *out)
{
    const uint8_t *at = bytes_take(&part, sizeof out->code);
    if (at)
        memcpy(&out->code, at, sizeof out->code);
    return at;
}

static bool read_part(struct bytes *all, struct stack_parts *out)
{
    const uint16_t type = bytes_u16(all);
    bytes_u16(all);
    const uint32_t size = bytes_u32(all);
    const uint8_t *at = bytes_take(all, size);
    if (!at)
        return false;
    const struct bytes part = bytes_of(at, size);
    switch (type) {
    case STACK_PART_REGISTERS:
        return read_registers(part, out);
    case STACK_PART_BYTES:
        return read_bytes(part, out);
    case STACK_PART_RUN:
        return read_run(part, out);
    case STACK_PART_WORDS:
        return read_words(part, out);
    case STACK_PART_SWITCH:
        return read_switch(part, out);
    case STACK_PART_FRAMES:
        out->frames = at;
        out->frames_size = size;
        return true;
    case STACK_PART_CODE:
        return read_code(part, out);
    case STACK_PART_PLACED:
        return read_placed(part, out);
    default:
        return true;
    }
}

bool stack_parts_read(const uint8_t *data, size_t size, struct stack_parts *out)
{
    *out = (struct stack_parts){.bytes = NULL};
    if (!data || size < sizeof out->head)
        return false;
    memcpy(&out->head, data, sizeof out->head);
    const struct stack_record *head = &out->head;
    if (head->magic != STACK_RECORD_MAGIC || head->size > size - sizeof *head)
        return false;
    struct bytes parts = bytes_of(data + sizeof *head, head->size);
    if (head->version == STACK_RECORD_BARE) {
        out->bytes = head->size ? parts.at : NULL;
        out->size = head->size;
        out->cut = head->size == STACK_RECORD_MAX;
        return head->size <= STACK_RECORD_MAX && head->kind != STACK_RECORD_MORE;
    }
    bool good = head->version == STACK_RECORD_VERSION;
    while (good && bytes_left(&parts))
        good = read_part(&parts, out);
    return good && (!out->run.times || out->rest) && (head->kind != STACK_RECORD_MORE || out->more_at);
}

bool stack_parts_folded(const struct stack_parts *parts)
{
    return parts->rest || parts->words;
}

uint32_t stack_parts_whole(const struct stack_parts *parts)
{
    return parts->words ? parts->known.whole : parts->rest ? parts->rest_at + parts->rest_size : parts->size;
}

static void unfold_run(const struct stack_parts *parts, uint8_t *out)
{
    const struct stack_run *run = &parts->run;
    for (uint32_t i = 0; i < run->count; i++) {
        const uint32_t first = run->at[i] & ~UINT32_C(7);
        uint64_t word;
        memcpy(&word, parts->bytes + first, sizeof word);
        for (uint32_t out_by = run->period; out_by < run->period * run->times; out_by += run->period) {
            word += run->at[i] & STACK_RUN_RELATIVE ? run->period : 0;
            if (first + out_by >= parts->size && first + out_by + sizeof word <= parts->rest_at)
                memcpy(out + first + out_by, &word, sizeof word);
        }
    }
    memcpy(out + parts->rest_at, parts->rest, parts->rest_size);
}

void stack_parts_unfold(const struct stack_parts *parts, uint8_t *out)
{
    if (parts->size)
        memcpy(out, parts->bytes, parts->size);
    memset(out + parts->size, STACK_RECORD_HOLE, stack_parts_whole(parts) - parts->size);
    if (parts->rest)
        unfold_run(parts, out);
    for (uint32_t i = 0; parts->words && i < parts->known.count; i++) {
        const struct stack_word_at word = word_of(parts, i);
        if (word.at >= parts->size)
            memcpy(out + word.at, &word.value, sizeof word.value);
    }
}

size_t stack_parts_write(const struct stack_parts *parts, uint8_t *out)
{
    const uint8_t *start = out;
    struct stack_record head = parts->head;
    const unsigned count = (unsigned)__builtin_popcountll(parts->mask & STACK_RECORD_REGISTERS);
    const struct stack_part registers = {STACK_PART_REGISTERS, 0, 8 + 8 * count},
                            bytes = {STACK_PART_BYTES, 0, 8 + parts->size};
    const uint64_t mask = parts->mask & STACK_RECORD_REGISTERS, offset = parts->more_at;
    head.version = STACK_RECORD_VERSION;
    head.size = (parts->size ? (uint32_t)sizeof bytes + bytes.size : 0) +
                (mask ? (uint32_t)sizeof registers + registers.size : 0);
    memcpy(out, &head, sizeof head);
    out += sizeof head;
    if (mask) {
        memcpy(out, &registers, sizeof registers);
        memcpy(out + sizeof registers, &mask, sizeof mask);
        out += sizeof registers + sizeof mask;
    }
    for (uint64_t left = parts->mask, at = 0; left; left &= left - 1, at++)
        if (mask & left & (0 - left)) {
            memcpy(out, parts->registers + 8 * at, 8);
            out += 8;
        }
    if (parts->size) {
        memcpy(out, &bytes, sizeof bytes);
        memcpy(out + sizeof bytes, &offset, sizeof offset);
        out += sizeof bytes + sizeof offset;
    }
    return (size_t)(out - start);
}
