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

struct checksum *checksum_begin(void)
{
    XXH3_state_t *state = XXH3_createState();
    if (state)
        XXH3_64bits_reset(state);
    return (struct checksum *)state;
}

void checksum_add(struct checksum *sum, const void *data, size_t size)
{
    XXH3_64bits_update((XXH3_state_t *)sum, data, size);
}

uint64_t checksum_end(struct checksum *sum)
{
    uint64_t value = sum ? XXH3_64bits_digest((XXH3_state_t *)sum) : 0;
    XXH3_freeState((XXH3_state_t *)sum);
    return value;
}
