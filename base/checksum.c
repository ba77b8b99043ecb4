/* checksum.c - see checksum.h. */
#include "base/checksum.h"

#include <xxhash.h>

/* The library's run-time dispatch to AVX: two to three times the speed of SSE2, with the same checksums. */
#if __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

uint64_t checksum_of(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}
