/*
 * fuzz_payload.c - a fuzz target for what reads the batches of a store of one file. The input is what was compressed; and, as it is,
 * what is said to be.
 */
#include <stdlib.h>
#include <zstd.h>

#include "store/payload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_one(struct payload *payload, const void *data, size_t size)
{
    const struct store_entry *entries;
    struct fathom_error err = {0};
    size_t count = 0;
    uint64_t sum = 0;
    int rc = payload_unpack(payload, data, size, &entries, &count, &err);
    if (rc < 0 && (err.code != -rc || !err.text[0]))
        abort();
    for (size_t i = 0; rc == 0 && i < count; i++) {
        sum += entries[i].weight;
        if (i && entries[i].context < entries[i - 1].context)
            abort();
        if (entries[i].rest && entries[i].rest >= entries[i].weight)
            abort();
    }
    (void)sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct payload *payload = payload_new();
    const size_t room = ZSTD_compressBound(size);
    void *packed = malloc(room + 1);
    if (!payload || !packed)
        abort();
    const size_t got = ZSTD_compress(packed, room, data, size, 1);
    if (ZSTD_isError(got))
        abort();
    read_one(payload, packed, got);
    read_one(payload, data, size);
    free(packed);
    payload_free(payload);
    return 0;
}
