/*
 * debug_frame.c - the ranges that the CFI in .debug_frame covers (DWARF 5, section 6.4.1). Debuggers may prefer
 * that CFI, and it is not changed, so this code is left alone. Compilers write it only where there is no
 * .eh_frame.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sort.h"
#include "base/vec.h"
#include "rewrite/growth/whole.h"
#include "image/image_file.h"
#include "image/image_private.h"

#define CIE_ID UINT32_MAX

static int cover_range(struct whole *w, uint64_t start, uint64_t end)
{
    return vec_push(w->debug_frames, w->debug_frame_count, w->debug_frame_capacity,
                    (struct whole_range){start, end})
               ? 0
               : -ENOMEM;
}

/* Reads the FDEs of a section with 32-bit lengths and 8-byte addresses. -EBADMSG: another format. */
static int read_entries(struct whole *w, const uint8_t *data, size_t size)
{
    struct bytes b = bytes_of(data, size);
    int rc = 0;
    while (bytes_left(&b) && rc == 0) {
        uint32_t length = bytes_u32(&b);
        const uint8_t *body = bytes_take(&b, length);
        if (length == UINT32_MAX || !body || length < 4)
            return -EBADMSG;
        struct bytes entry = bytes_of(body, length);
        if (bytes_u32(&entry) == CIE_ID)
            continue;
        uint64_t address = bytes_u64(&entry), bytes = bytes_u64(&entry);
        if (entry.failed || address + bytes < address)
            return -EBADMSG;
        rc = cover_range(w, address, address + bytes);
    }
    return rc;
}

/* Makes the ranges ascending and disjoint. */
static void merge_ranges(struct whole *w)
{
    struct whole_range *ranges = w->debug_frames;
    size_t kept = 0;
    sort_by(ranges, w->debug_frame_count, start);
    for (size_t i = 0; i < w->debug_frame_count; i++) {
        if (kept == 0 || ranges[i].start > ranges[kept - 1].end)
            ranges[kept++] = ranges[i];
        else if (ranges[i].end > ranges[kept - 1].end)
            ranges[kept - 1].end = ranges[i].end;
    }
    w->debug_frame_count = kept;
}

int whole_read_debug_frame(struct whole *w, struct fathom_error *err)
{
    const struct elf_file *file = &w->image->file;
    const struct elf_section *packed = elf_file_section(file, ".zdebug_frame");
    const struct elf_section *section = packed ? packed : elf_file_section(file, ".debug_frame");
    if (!section || section->type == SHT_NOBITS)
        return 0;
    uint8_t *data;
    size_t size;
    int rc = image_read_file(w->image, &data, &size, err);
    if (rc < 0)
        return rc;
    if (packed || section->flags & SHF_COMPRESSED || section->file_size == 0)
        rc = -EBADMSG;
    else
        rc = read_entries(w, data + section->offset, section->file_size);
    free(data);
    if (rc == -EBADMSG)
        rc = cover_range(w, 0, UINT64_MAX);
    if (rc < 0)
        return error_memory(err);
    merge_ranges(w);
    return 0;
}
