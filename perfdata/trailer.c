/* trailer.c - see trailer.h. */
#include "perfdata/trailer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/layout.h"

enum { PART_CLOCK = 1, PART_SCALING = 2, PART_CODE_NAMES = 3 };

static void put_part(FILE *out, uint32_t type, const void *data, size_t size)
{
    const uint32_t head[] = {type, (uint32_t)size};
    fwrite(head, sizeof head, 1, out);
    fwrite(data, 1, size, out);
}

static void put_scaling(FILE *out, const struct scaling *scaling)
{
    char *data = NULL;
    size_t size = 0;
    FILE *part = open_memstream(&data, &size);
    if (!part)
        return;
    scaling_put(part, scaling);
    if (fclose(part) == 0)
        put_part(out, PART_SCALING, data, size);
    free(data);
}

int trailer_make(const struct trailer *t, uint8_t **data, size_t *size, struct fathom_error *err)
{
    char *text = NULL;
    *data = NULL;
    *size = 0;
    if (!t->clock_wall && !t->scaling.count && !t->code_names_size)
        return 0;
    FILE *out = open_memstream(&text, size);
    if (!out)
        return error_memory(err);
    if (t->clock_wall)
        put_part(out, PART_CLOCK, (const uint64_t[]){t->clock_time, t->clock_wall}, 16);
    if (t->scaling.count)
        put_scaling(out, &t->scaling);
    if (t->code_names_size)
        put_part(out, PART_CODE_NAMES, t->code_names, t->code_names_size);
    const uint64_t end[] = {(uint64_t)ftell(out) + TRAILER_END, TRAILER_MAGIC};
    fwrite(end, sizeof end, 1, out);
    *data = fclose(out) == 0 ? (uint8_t *)text : NULL;
    return *data ? 0 : error_memory(err);
}

int trailer_name_code(struct trailer *t, const void *data, size_t size)
{
    void *copy = size ? malloc(size) : NULL;
    if (size && !copy)
        return -ENOMEM;
    t->code_names = size ? memcpy(copy, data, size) : NULL;
    t->code_names_size = size;
    return 0;
}

uint64_t trailer_size(const uint8_t end[TRAILER_END])
{
    const uint64_t size = load_u64(end);
    return load_u64(end + 8) == TRAILER_MAGIC && size >= TRAILER_END ? size : 0;
}

int trailer_take(struct bytes b, struct trailer *out, struct fathom_error *err)
{
    int rc = 0;
    while (rc == 0 && bytes_left(&b) >= 8) {
        const uint32_t type = bytes_u32(&b), size = bytes_u32(&b);
        const uint8_t *data = bytes_take(&b, size);
        struct bytes part = bytes_of(data, data ? size : 0);
        if (type == PART_CLOCK && data && size >= 16) {
            out->clock_time = bytes_u64(&part);
            out->clock_wall = bytes_u64(&part);
        } else if (type == PART_SCALING && data && !out->scaling.count) {
            rc = scaling_take(part, &out->scaling, err);
        } else if (type == PART_CODE_NAMES && data && size && !out->code_names) {
            if (trailer_name_code(out, data, size) < 0)
                return error_memory(err);
        }
    }
    return rc;
}
