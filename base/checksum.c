/* checksum.c - see checksum.h. */
#include "base/checksum.h"

#include <xxhash.h>

uint64_t checksum_of(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}
