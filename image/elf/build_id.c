/* build_id.c - build-ids: compares, formats and reads them. */
#include "image/elf/build_id.h"

#include <stdio.h>
#include <string.h>

#include "image/elf/elf_file.h"

struct build_id build_id_of(const uint8_t *bytes, size_t size)
{
    struct build_id id = {.size = size <= BUILD_ID_MAX ? (uint8_t)size : 0};
    memcpy(id.bytes, bytes, id.size);
    return id;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

void build_id_format(const struct build_id *id, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < id->size && i < BUILD_ID_MAX; i++) {
        *out++ = digits[id->bytes[i] >> 4];
        *out++ = digits[id->bytes[i] & 15];
    }
    *out = 0;
}

int build_id_read(const char *path, struct build_id *id, struct fathom_error *err)
{
    struct elf_file file;
    int rc = elf_file_open(&file, path, ELF_HEADERS, err);
    if (rc < 0)
        return rc;
    *id = file.build_id;
    elf_file_close(&file);
    return 0;
}
