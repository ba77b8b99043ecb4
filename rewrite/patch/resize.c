/* resize.c - changes the numbers in code and CFI; see patch.h. */
#include "rewrite/patch/patch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/hash.h"
#include "rewrite/growth/frames.h"
#include "rewrite/patch/apply.h"
#include "image/image_file.h"
#include "image/image_private.h"

int patch_apply(const struct unit *u, const struct frame_edit *edit, uint32_t bytes, uint8_t *data,
                size_t size)
{
    uint64_t offset;
    if (!image_offset(u->whole->image, edit->address, &offset) || offset > size || edit->size > size - offset)
        return -EINVAL;
    int32_t value = (int8_t)data[offset];
    if (edit->size == 4)
        memcpy(&value, data + offset, sizeof value);
    int64_t grown = (int64_t)value + edit->sign * (int64_t)bytes;
    int64_t limit = edit->size == 4 ? INT32_MAX : INT8_MAX;
    if (grown > limit || grown < -limit - 1)
        return -EINVAL;
    if (edit->size == 4) {
        value = (int32_t)grown;
        memcpy(data + offset, &value, sizeof value);
    } else {
        data[offset] = (uint8_t)grown;
    }
    return 0;
}

/* File offset of an FDE's instructions. */
size_t patch_fde_offset(const struct unit *u, const struct unit_fde *fde)
{
    return (size_t)(fde->fde->code.at - u->whole->image->file.data);
}

static int resize_unit(struct unit *u, uint32_t bytes, uint8_t *data, size_t size)
{
    int rc = 0;
    for (size_t i = 0; i < u->edit_count && rc == 0; i++)
        rc = patch_apply(u, &u->edits[i], bytes, data, size);
    for (size_t i = 0; i < u->fde_count && rc == 0; i++) {
        if (!unit_encode(u, &u->fdes[i], bytes, &rc))
            return rc < 0 ? rc : -EINVAL;
        memcpy(data + patch_fde_offset(u, &u->fdes[i]), u->scratch, bytes_left(&u->fdes[i].fde->code));
    }
    return rc;
}

static int check_pad(const struct image *image, const struct growth *frames, const struct pad *pad,
                     uint32_t *function, struct fathom_error *err)
{
    *function = image_function_entry(image, pad->address);
    if (*function == IMAGE_NO_FUNCTION)
        return error_set(err, EINVAL, "%s has no function at 0x%llx", image_name(image),
                         (unsigned long long)pad->address);
    if (pad->bytes % PAD_UNIT || pad->bytes > growth_most(frames, *function))
        return error_set(err, EINVAL, "the frame of %s+0x%llx cannot grow by %u bytes: %s", image_name(image),
                         (unsigned long long)pad->address, pad->bytes,
                         growth_most(frames, *function)
                             ? "that is more than fits"
                             : growth_refusal_text(growth_refusal(frames, *function)));
    return 0;
}

struct contents { /* the new file */
    uint8_t *data;
    size_t size;
};

static int resize_all(const struct image *image, const struct growth *frames, const struct pad *pads,
                      size_t count, const struct contents *file, struct fathom_error *err)
{
    struct unit u = {0};
    struct table *seen = table_new();
    int rc = seen ? 0 : error_memory(err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        uint32_t function;
        bool added = true;
        rc = check_pad(image, frames, &pads[i], &function, err);
        if (rc < 0)
            break;
        if (!table_put(seen, function, &added))
            rc = error_memory(err);
        else if (!added)
            rc = error_set(err, EINVAL, "%s+0x%llx has two pads", image_name(image),
                           (unsigned long long)pads[i].address);
        if (rc < 0 || pads[i].bytes == 0)
            continue;
        rc = unit_analyse(&u, &frames->whole, function);
        if (rc == 0)
            rc = resize_unit(&u, pads[i].bytes, file->data, file->size);
        if (rc == -ENOMEM)
            error_memory(err);
        else if (rc < 0)
            error_set(err, -rc, "the frame of %s+0x%llx cannot grow by %u bytes", image_name(image),
                      (unsigned long long)pads[i].address, pads[i].bytes);
    }
    table_free(seen);
    unit_free(&u);
    return rc;
}

/* Gives the file a build-id of its own: XXH3 of the file with a zeroed id (128 bits, then further bits with other seeds). */
static void renew_build_id(uint8_t *data, size_t size, const struct elf_file *old)
{
    uint8_t *id = data + old->build_id_at;
    memset(id, 0, old->build_id_bytes);
    uint8_t made[BUILD_ID_MAX + sizeof(XXH128_canonical_t)];
    size_t count = 0;
    for (uint64_t seed = 0; count < old->build_id.size; seed++) {
        XXH128_canonical_t canonical;
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSeed(data, size, seed));
        memcpy(made + count, &canonical, sizeof canonical);
        count += sizeof canonical;
    }
    memcpy(id, made, old->build_id.size);
}

int patch_resize(const struct image *image, const struct growth *frames, const struct pad *pads, size_t count,
                 void **elf, size_t *size, struct build_id *id, struct fathom_error *err)
{
    struct contents file;
    int rc = image_read_file(image, &file.data, &file.size, err);
    if (rc < 0)
        return rc;
    rc = resize_all(image, frames, pads, count, &file, err);
    if (rc < 0) {
        free(file.data);
        return rc;
    }
    *id = image->file.build_id;
    if (id->size) {
        renew_build_id(file.data, file.size, &image->file);
        memcpy(id->bytes, file.data + image->file.build_id_at, id->size);
    }
    *elf = file.data;
    *size = file.size;
    return 0;
}
