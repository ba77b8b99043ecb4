/*
 * frames.c - the new file's .eh_frame: a copy of the old one with the moved functions' entries added, so that all
 * readers find one section; and its sorted table .eh_frame_hdr (LSB 5.0 core, sections 10.6 and 10.7). See
 * work.h.
 */
#include <errno.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "rewrite/move/work.h"

#define LETTERS_MOST 16 /* bytes of a CIE's augmentation */

#define FORMAT   0x0f
#define RELATIVE 0x70
#define PCREL    0x10
#define SDATA4   0x0b
#define UDATA4   0x03
#define DATAREL  0x30

struct raw_cie {
    uint8_t fde_encoding, lsda_encoding;
    bool augmented;
    uint64_t personality; /* of its pointer, offset in the section; 0: none */
    uint8_t personality_encoding;
    struct bytes program;
};

struct section {
    const uint8_t *old;
    size_t size;      /* without terminators at its end */
    uint64_t address; /* of the old section */
};

static unsigned width_of(uint8_t encoding)
{
    switch (encoding & FORMAT) {
    case 0x00:
    case 0x04:
    case 0x0c:
        return 8;
    case UDATA4:
    case SDATA4:
        return 4;
    default:
        return 0;
    }
}

static bool read_letters(const struct section *s, const char *letters, struct bytes *b, struct raw_cie *cie)
{
    for (; *letters; letters++) {
        if (*letters == 'R') {
            cie->fde_encoding = bytes_u8(b);
        } else if (*letters == 'L') {
            cie->lsda_encoding = bytes_u8(b);
        } else if (*letters == 'P') {
            cie->personality_encoding = bytes_u8(b);
            cie->personality = (uint64_t)(b->at - s->old);
            unsigned width = width_of(cie->personality_encoding);
            if (!bytes_take(b, width) || width == 0)
                return false;
        } else if (*letters != 'S' && *letters != 'B') {
            return false;
        }
    }
    return !b->failed;
}

/* Reads the CIE at an offset, and which of its fields depend on its place. */
static bool read_cie(const struct section *s, uint64_t offset, struct raw_cie *cie)
{
    *cie = (struct raw_cie){.lsda_encoding = POINTER_OMIT, .personality_encoding = POINTER_OMIT};
    if (offset >= s->size)
        return false;
    struct bytes b = bytes_of(s->old + offset, s->size - offset);
    uint32_t length = bytes_u32(&b);
    const uint8_t *body = bytes_take(&b, length);
    if (!body)
        return false;
    b = bytes_of(body, length);
    if (bytes_u32(&b) != 0)
        return false;
    uint8_t version = bytes_u8(&b);
    size_t left = bytes_left(&b) < LETTERS_MOST ? bytes_left(&b) : LETTERS_MOST;
    const char *letters = left && memchr(b.at, 0, left) ? bytes_string(&b) : NULL;
    if (!letters || (version != 1 && version != 3))
        return false;
    bytes_uleb(&b);
    bytes_sleb(&b);
    if (version == 1)
        bytes_u8(&b);
    else
        bytes_uleb(&b);
    cie->augmented = letters[0] == 'z';
    if (cie->augmented) {
        uint64_t size = bytes_uleb(&b);
        const uint8_t *data = bytes_take(&b, size);
        if (!data)
            return false;
        struct bytes d = bytes_of(data, size);
        if (!read_letters(s, letters + 1, &d, cie))
            return false;
    } else if (letters[0]) {
        return false;
    }
    cie->program = b;
    return !b.failed && width_of(cie->fde_encoding) &&
           (cie->lsda_encoding == POINTER_OMIT || width_of(cie->lsda_encoding));
}

/* Finds the section, by its header or, without one, by the pointer that the unwinder uses. */
static bool find_section(const struct move_survey *survey, struct section *out)
{
    const struct elf_section *s = elf_file_section(survey->file, ".eh_frame");
    size_t size;
    out->old = elf_section_bytes(survey->file, s, &size);
    out->address = s ? s->address : 0;
    if (!out->old) {
        out->old = survey->cfi.bases.section;
        out->address = survey->cfi.bases.section_address;
        if (!out->old || !elf_file_bytes(survey->file, out->address, ELF_REST, &size))
            return false;
    }
    bool sized = s != NULL;
    size_t at = 0, end = 0;
    uint32_t length;
    while (size - at >= 4) { /* `end`: behind the last entry */
        memcpy(&length, out->old + at, 4);
        if (length == UINT32_MAX || (length == 0 && !sized) || length > size - at - 4)
            break;
        at += 4 + (size_t)length;
        end = length ? at : end;
    }
    out->size = end;
    return end > 0 && (length == 0 || at == size || size - at < 4);
}

/* Adjusts an encoded pointer by the distance between the sections; 0 stays 0. */
static bool shift_pointer(uint8_t *at, uint8_t encoding, int64_t delta)
{
    unsigned width = width_of(encoding);
    if ((encoding & RELATIVE) != PCREL)
        return true;
    int64_t value = 0;
    memcpy(&value, at, width);
    if (width == 4)
        value = (int32_t)value;
    if (value == 0)
        return true;
    value += delta;
    memcpy(at, &value, width);
    return width == 8 || (value >= INT32_MIN && value <= INT32_MAX);
}

static uint64_t pointer_at(const uint8_t *at, uint8_t encoding, uint64_t place)
{
    unsigned width = width_of(encoding);
    int64_t value = 0;
    memcpy(&value, at, width);
    if (width == 4 && (encoding & FORMAT) == SDATA4)
        value = (int32_t)value;
    return (uint64_t)value + ((encoding & RELATIVE) == PCREL ? place : 0);
}

/* Copies an FDE. */
static bool copy_fde(struct move_work *work, const struct section *s, uint64_t offset, uint32_t length,
                     int64_t delta)
{
    uint8_t *copy = work->buffers[BUFFER_FRAMES].bytes;
    uint32_t back;
    memcpy(&back, s->old + offset + 4, 4);
    struct raw_cie cie;
    if (back > offset + 4 || !read_cie(s, offset + 4 - back, &cie))
        return false;
    unsigned width = width_of(cie.fde_encoding);
    struct bytes b = bytes_of(s->old + offset + 8, length - 4);
    uint64_t pc_at = offset + 8, size = 0;
    const uint8_t *pc = bytes_take(&b, width), *size_at = bytes_take(&b, width);
    if (!pc || !size_at)
        return false;
    uint64_t address = pointer_at(pc, cie.fde_encoding, s->address + pc_at);
    memcpy(&size, size_at, width);
    if (cie.augmented) {
        uint64_t n = bytes_uleb(&b);
        const uint8_t *data = bytes_take(&b, n);
        if (!data)
            return false;
        if (cie.lsda_encoding != POINTER_OMIT &&
            (n < width_of(cie.lsda_encoding) ||
             !shift_pointer(copy + (data - s->old), cie.lsda_encoding, delta)))
            return false;
    }
    if (!shift_pointer(copy + pc_at, cie.fde_encoding, delta))
        return false;
    if (size == 0 || !elf_file_is_code(work->survey->file, address, size))
        return true;
    return vec_push(work->entries, work->entry_count, work->entry_capacity,
                    (struct frames_entry){address, size, offset, offset + 4 - back});
}

/* Copies all entries, and adjusts what depends on their places. */
static bool copy_entries(struct move_work *work, const struct section *s)
{
    uint8_t *copy = work->buffers[BUFFER_FRAMES].bytes;
    int64_t delta = (int64_t)(s->address - work->buffers[BUFFER_FRAMES].address);
    struct raw_cie cie;
    for (uint64_t at = 0; at + 4 <= s->size;) {
        uint32_t length, id;
        memcpy(&length, s->old + at, 4);
        if (length != 0 && length < 4)
            return false;
        if (length != 0) {
            memcpy(&id, s->old + at + 4, 4);
            if (id == 0 && (!read_cie(s, at, &cie) ||
                            (cie.personality &&
                             !shift_pointer(copy + cie.personality, cie.personality_encoding, delta))))
                return false;
            if (id != 0 && !copy_fde(work, s, at, length, delta))
                return false;
        }
        at += 4 + (uint64_t)length;
    }
    return true;
}

static bool put_bytes(struct move_buffer *out, const void *data, size_t n)
{
    return move_append(out, data, n) != SIZE_MAX;
}

static bool put_pointer(struct move_buffer *out, uint8_t encoding, uint64_t value)
{
    uint64_t place = out->address + out->size;
    value -= (encoding & RELATIVE) == PCREL && value ? place : 0;
    unsigned width = width_of(encoding);
    int64_t number = (int64_t)value;
    bool fits = width == 8 || ((encoding & FORMAT) == UDATA4 && (encoding & RELATIVE) == 0
                                   ? number >= 0 && number <= UINT32_MAX
                                   : number >= INT32_MIN && number <= INT32_MAX);
    return fits && put_bytes(out, &value, width);
}

static bool put_fde(struct move_work *work, const struct section *s, const struct move_piece *piece,
                    uint64_t cie_at)
{
    struct move_buffer *out = &work->buffers[BUFFER_FRAMES];
    struct raw_cie cie;
    if (!read_cie(s, cie_at, &cie) ||
        ((cie.fde_encoding | (cie.lsda_encoding == POINTER_OMIT ? 0 : cie.lsda_encoding)) & RELATIVE &
         ~PCREL))
        return false;
    size_t start = out->size;
    uint64_t pc = move_place_address(work, piece->place), size = piece->size, lsda = 0;
    uint32_t head[2] = {0, (uint32_t)(start + 4 - cie_at)};
    unsigned lsda_width = cie.lsda_encoding == POINTER_OMIT ? 0 : width_of(cie.lsda_encoding);
    uint8_t augmentation = (uint8_t)lsda_width;
    if (piece->lsda != NO_LSDA)
        lsda = work->buffers[BUFFER_DATA].address + piece->lsda;
    if ((piece->lsda != NO_LSDA && lsda_width == 0) || !put_bytes(out, head, sizeof head) ||
        !put_pointer(out, cie.fde_encoding, pc) || !put_bytes(out, &size, width_of(cie.fde_encoding)) ||
        (cie.augmented && !put_bytes(out, &augmentation, 1)) ||
        (lsda_width && !put_pointer(out, cie.lsda_encoding, lsda)) ||
        (piece->program_size && !put_bytes(out, work->programs + piece->program, piece->program_size)) ||
        !move_align(out, start, 8)) /* (DW_CFA_nop) */
        return false;
    uint32_t length = (uint32_t)(out->size - start - 4);
    memcpy(out->bytes + start, &length, 4);
    return vec_push(work->entries, work->entry_count, work->entry_capacity,
                    (struct frames_entry){pc, size, start, cie_at});
}

static bool put_fdes(struct move_work *work, const struct section *s)
{
    size_t old = work->entry_count;
    sort_by(work->entries, old, pc);
    for (size_t i = 0; i < work->piece_count; i++) {
        const struct move_piece *piece = &work->pieces[i];
        const struct frames_entry *entries = work->entries;
        size_t k = lower_bound(m, 0, old, entries[m].pc < piece->address);
        if (k == old || entries[k].pc != piece->address || !put_fde(work, s, piece, entries[k].cie))
            return false;
    }
    return true;
}

int move_frames(struct move_work *work, struct fathom_error *err)
{
    struct section s;
    static const uint32_t end = 0;
    struct move_buffer *out = &work->buffers[BUFFER_FRAMES];
    const char *path = image_path(work->survey->image);
    if (!find_section(work->survey, &s))
        return error_set(err, ENOTSUP, "%s: its .eh_frame cannot be extended", path);
    work->entry_count = 0;
    out->size = 0;
    if (!put_bytes(out, s.old, s.size))
        return error_memory(err);
    /* (either may have failed; which one hardly matters) */
    if (!copy_entries(work, &s) || !move_align(out, 0, 4) || !put_fdes(work, &s) ||
        !put_bytes(out, &end, sizeof end))
        return error_set(err, ENOTSUP, "%s: an entry of its .eh_frame cannot be moved", path);
    return 0;
}

int move_index(struct move_work *work, struct fathom_error *err)
{
    struct move_buffer *out = &work->buffers[BUFFER_INDEX];
    uint64_t frames = work->buffers[BUFFER_FRAMES].address;
    uint8_t head[4] = {1, PCREL | SDATA4, UDATA4, DATAREL | SDATA4};
    sort_by(work->entries, work->entry_count, pc);
    out->size = 0;
    uint32_t count = (uint32_t)work->entry_count;
    bool done = put_bytes(out, head, sizeof head) && put_pointer(out, head[1], frames) &&
                put_bytes(out, &count, sizeof count);
    for (size_t i = 0; i < work->entry_count && done; i++) {
        const struct frames_entry *e = &work->entries[i];
        int64_t pair[2] = {(int64_t)(e->pc - out->address), (int64_t)(frames + e->at - out->address)};
        if (pair[0] < INT32_MIN || pair[0] > INT32_MAX || pair[1] < INT32_MIN || pair[1] > INT32_MAX)
            return error_set(err, EOVERFLOW, "%s: its code is too far from its CFI",
                             image_path(work->survey->image));
        done = put_bytes(out, &pair[0], 4) && put_bytes(out, &pair[1], 4);
    }
    return done ? 0 : error_memory(err);
}
