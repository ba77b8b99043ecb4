/* block_map.c - see block_map.h. */
#include "image/block_map.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "image/image_private.h"

enum {
    TYPE_UNVERSIONED = 0x6fff4c08, /* of LLVM 14: as version 0, without the two bytes before */
    TYPE_VERSIONED = 0x6fff4c0a,
};

enum {               /* versions */
       RELATIVE = 1, /* blocks are told from the end of the one before on */
       NUMBERED = 2, /* their numbers are told */
};

enum { /* features: with the counts of a profile that the compiler had; a function in several ranges */
       ENTRY_COUNT = 1,
       FREQUENCIES = 2,
       PROBABILITIES = 4,
       RANGES = 8,
       KNOWN = 15,
};

struct reader {
    struct bytes bytes;
    uint8_t version, features;
    struct mapped_block *blocks;
    size_t count, capacity;
};

static int compare_blocks(const void *a, const void *b)
{
    const struct mapped_block *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (!x->size != !y->size)
        return x->size ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Blocks behind one address. false: out of memory. */
static bool read_range(struct reader *r, uint64_t address)
{
    struct bytes *b = &r->bytes;
    const uint64_t count = bytes_uleb(b);
    uint64_t end = address;
    for (uint64_t i = 0; i < count && !b->failed; i++) {
        const uint64_t id = r->version >= NUMBERED ? bytes_uleb(b) : i, offset = bytes_uleb(b),
                       size = bytes_uleb(b);
        struct mapped_block block = {.size = size, .id = (uint32_t)id};
        bytes_uleb(b); /* what kind of block it is */
        b->failed |= id > UINT32_MAX || offset > UINT32_MAX || size > UINT32_MAX ||
                     __builtin_add_overflow(r->version >= RELATIVE ? end : address, offset, &block.address) ||
                     __builtin_add_overflow(block.address, size, &end);
        if (!b->failed && !vec_push(r->blocks, r->count, r->capacity, block))
            return false;
    }
    return true;
}

static void skip_counts(struct reader *r)
{
    struct bytes *b = &r->bytes;
    if (r->features & ENTRY_COUNT)
        bytes_uleb(b);
    for (size_t i = 0; r->features & (FREQUENCIES | PROBABILITIES) && i < r->count && !b->failed; i++) {
        if (r->features & FREQUENCIES)
            bytes_uleb(b);
        for (uint64_t n = r->features & PROBABILITIES ? bytes_uleb(b) : 0; n && !b->failed; n--) {
            bytes_uleb(b);
            bytes_uleb(b);
        }
    }
}

/* The next function. false: out of memory. */
static bool read_function(struct reader *r, uint64_t *address)
{
    const uint64_t ranges = r->features & RANGES ? bytes_uleb(&r->bytes) : 1;
    bool good = true;
    r->count = 0;
    for (uint64_t i = 0; good && i < ranges && !r->bytes.failed; i++) {
        const uint64_t start = bytes_u64(&r->bytes);
        *address = i ? *address : start;
        good = read_range(r, start);
    }
    r->bytes.failed |= !ranges;
    skip_counts(r);
    return good;
}

static int read_section(const struct image *image, const struct elf_section *section, struct reader *r,
                        int (*see)(void *, const struct mapped_function *, struct fathom_error *),
                        void *context, struct fathom_error *err)
{
    size_t size;
    const uint8_t *data = elf_section_bytes(&image->file, section, &size);
    int rc = 0;
    r->bytes = bytes_of(data, size);
    while (rc == 0 && bytes_left(&r->bytes)) {
        struct mapped_function f = {0};
        r->version = section->type == TYPE_VERSIONED ? bytes_u8(&r->bytes) : 0;
        r->features = section->type == TYPE_VERSIONED ? bytes_u8(&r->bytes) : 0;
        if (r->version > NUMBERED || r->features & ~KNOWN)
            return error_set(err, ENOTSUP,
                             "the section %s of %s has version %u with features %#x, of which 2 and 0xf are "
                             "the newest that are read: compile with an older clang",
                             section->name, image_path(image), r->version, r->features);
        if (!read_function(r, &f.address))
            return error_memory(err);
        if (r->bytes.failed)
            return error_set(err, EBADMSG, "the section %s of %s is damaged", section->name,
                             image_path(image));
        if (r->count)
            qsort(r->blocks, r->count, sizeof *r->blocks, compare_blocks);
        f.blocks = r->blocks;
        f.count = r->count;
        rc = see(context, &f, err);
    }
    return rc;
}

int block_map_read(const struct image *image,
                   int (*see)(void *context, const struct mapped_function *function,
                              struct fathom_error *err),
                   void *context, struct fathom_error *err)
{
    struct reader r = {0};
    int rc = -ENOENT;
    for (size_t i = 0; (rc == 0 || rc == -ENOENT) && i < image->file.section_count; i++) {
        const struct elf_section *s = &image->file.sections[i];
        if (s->type == TYPE_UNVERSIONED || s->type == TYPE_VERSIONED)
            rc = read_section(image, s, &r, see, context, err);
    }
    free(r.blocks);
    return rc;
}
