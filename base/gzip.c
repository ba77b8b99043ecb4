/* gzip.c - see gzip.h. */
#include "base/gzip.h"

#include <stdlib.h>
#include <zlib.h>

#define PIECE ((size_t)1 << 30) /* zlib counts in 32 bits */

static uInt piece_of(size_t size)
{
    return (uInt)(size < PIECE ? size : PIECE);
}

uint8_t *gzip_pack(const void *data, size_t size, size_t *packed)
{
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    const size_t most = deflateBound(&z, size);
    uint8_t *out = malloc(most);
    int rc = out ? Z_OK : Z_MEM_ERROR;
    z.next_in = (uint8_t *)(uintptr_t)data;
    z.next_out = out;
    while (rc == Z_OK) {
        z.avail_in = piece_of(size - z.total_in);
        z.avail_out = piece_of(most - z.total_out);
        rc = deflate(&z, z.total_in + z.avail_in < size ? Z_NO_FLUSH : Z_FINISH);
    }
    *packed = z.total_out;
    deflateEnd(&z);
    if (rc == Z_STREAM_END)
        return out;
    free(out);
    return NULL;
}
