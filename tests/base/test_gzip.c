/* test_gzip.c - what is compressed is read by zlib, whatever its size. */
#include "base/gzip.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void check(const uint8_t *data, size_t size)
{
    size_t packed_size;
    uint8_t *packed = gzip_pack(data, size, &packed_size), *out = malloc(size + 1);
    cr_assert(packed && out);
    z_stream z = {
        .next_in = packed, .avail_in = (uInt)packed_size, .next_out = out, .avail_out = (uInt)size + 1};
    cr_assert_eq(inflateInit2(&z, 15 + 16), Z_OK);
    cr_assert_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    cr_assert_eq(z.total_out, size);
    cr_assert_eq(z.avail_in, 0);
    cr_assert(!size || memcmp(out, data, size) == 0);
    inflateEnd(&z);
    free(packed);
    free(out);
}

Test(gzip, packs)
{
    static const size_t sizes[] = {0, 1, 1000, 70000, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *data = malloc(sizes[i] + 1);
        for (size_t n = 0; n < sizes[i]; n++)
            data[n] = i % 2 ? (uint8_t)(n * n >> 7 ^ n) : (uint8_t)random();
        check(data, sizes[i]);
        free(data);
    }
}
