/* mini_debug.c - see mini_debug.h. */
#include "image/elf/mini_debug.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "base/vec.h"

#define UNPACK_MEMORY (UINT64_C(256) << 20) /* bytes that the decoder may use */
#define START_BYTES   (64u << 10)

/* Doubles the buffer. false: out of memory, or over the limit. */
static bool grow_buffer(lzma_stream *stream, uint8_t **bytes, size_t *capacity)
{
    size_t full = *capacity;
    if (full > MINI_DEBUG_MOST / 2 || !vec_reserve(*bytes, full, *capacity, START_BYTES))
        return false;
    stream->next_out = *bytes + full;
    stream->avail_out = *capacity - full;
    return true;
}

/* Decompresses all of it, malloc'd; NULL: damaged, too large, or out of memory. */
static uint8_t *unpack_symbols(const uint8_t *data, size_t size, size_t *unpacked)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    uint8_t *bytes = NULL;
    size_t capacity = 0;
    if (lzma_stream_decoder(&stream, UNPACK_MEMORY, 0) != LZMA_OK)
        return NULL;
    stream.next_in = data;
    stream.avail_in = size;
    lzma_ret rc = LZMA_OK;
    while (rc == LZMA_OK) {
        if (stream.avail_out == 0 && !grow_buffer(&stream, &bytes, &capacity))
            break;
        rc = lzma_code(&stream, LZMA_FINISH);
    }
    *unpacked = (size_t)stream.total_out;
    lzma_end(&stream);
    if (rc == LZMA_STREAM_END)
        return bytes;
    free(bytes);
    return NULL;
}

int mini_debug_open(const struct elf_file *file, const char *path, struct elf_file *out)
{
    size_t size, unpacked;
    const uint8_t *data = elf_section_bytes(file, elf_file_section(file, ".gnu_debugdata"), &size);
    uint8_t *bytes = data ? unpack_symbols(data, size, &unpacked) : NULL;
    if (!bytes)
        return 0;
    int rc = elf_file_open_memory(out, path, bytes, unpacked, NULL);
    free(bytes);
    return rc == 0 ? 1 : rc == -ENOMEM ? rc : 0;
}
