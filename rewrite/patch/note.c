/*
 * note.c - the descriptor of NT_GNU_BUILD_ID, and how to replace it; see note.h. The new id is XXH3 of the file
 * with a zeroed id (128 bits, then further bits with other seeds).
 */
#include "rewrite/patch/note.h"

#include <string.h>
#include <xxhash.h>

#include "image/image_private.h"

struct note_place note_find(const struct image *image)
{
    return (struct note_place){image->file.build_id_at, image->file.build_id_bytes};
}

void note_renew(uint8_t *data, size_t size, struct note_place place)
{
    uint8_t *id = data + place.offset;
    memset(id, 0, place.size);
    uint8_t made[BUILD_ID_MAX + sizeof(XXH128_canonical_t)];
    size_t count = 0;
    for (uint64_t seed = 0; count < place.size && count < BUILD_ID_MAX; seed++) {
        XXH128_canonical_t canonical;
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSeed(data, size, seed));
        memcpy(made + count, &canonical, sizeof canonical);
        count += sizeof canonical;
    }
    memcpy(id, made, place.size < BUILD_ID_MAX ? place.size : BUILD_ID_MAX);
}
