/* payload.c - see payload.h. */
#include "store/payload.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "store/summing.h"

enum { LEVEL = 3, ENTRY_MOST = 4 * BYTES_ULEB_MAX + 1, HEAD_MOST = 1 + 2 * BYTES_ULEB_MAX, ENTRY_LEAST = 3 };

struct payload {
    ZSTD_CCtx *packer;
    ZSTD_DCtx *unpacker;
    uint8_t *plain, *packed;
    size_t plain_capacity, packed_capacity;
    struct store_entry *entries;
    size_t entry_capacity;
};

struct payload *payload_new(void)
{
    struct payload *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->packer = ZSTD_createCCtx();
    p->unpacker = ZSTD_createDCtx();
    if (p->packer && p->unpacker &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(p->packer, ZSTD_c_checksumFlag, 1)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(p->packer, ZSTD_c_compressionLevel, LEVEL)))
        return p;
    payload_free(p);
    return NULL;
}

void payload_free(struct payload *p)
{
    if (!p)
        return;
    ZSTD_freeCCtx(p->packer);
    ZSTD_freeDCtx(p->unpacker);
    free(p->plain);
    free(p->packed);
    free(p->entries);
    free(p);
}

uint64_t payload_period(const struct store_entry *entries, size_t count)
{
    uint64_t period = count && entries[0].count ? entries[0].weight / entries[0].count : 0, weight;
    for (size_t i = 0; i < count; i++)
        if (__builtin_mul_overflow(entries[i].count, period, &weight) || weight != entries[i].weight ||
            (entries[i].rest && entries[i].rest % period))
            return 0;
    return period;
}

static uint8_t version_of(const struct store_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].rest)
            return PAYLOAD_VERSION;
    return 1;
}

static size_t write_plain(uint8_t *plain, const struct store_entry *entries, size_t count)
{
    const uint64_t period = payload_period(entries, count);
    uint64_t before = 0;
    uint8_t *out = plain;
    const uint8_t version = *out++ = version_of(entries, count);
    out = bytes_put_uleb(out, period);
    out = bytes_put_uleb(out, count);
    for (size_t i = 0; i < count; i++) {
        out = bytes_put_uleb(out, entries[i].context - before);
        out = bytes_put_uleb(out, entries[i].count);
        if (!period)
            out = bytes_put_uleb(out, entries[i].weight);
        *out++ = entries[i].sure;
        if (version > 1 && certainty_in(entries[i].sure) == CERTAINTY_INFERRED)
            out = bytes_put_uleb(out, entries[i].rest / (period ? period : 1));
        before = entries[i].context;
    }
    return (size_t)(out - plain);
}

int payload_pack(struct payload *p, const struct store_entry *entries, size_t count, const void **data,
                 size_t *size, struct fathom_error *err)
{
    if (count > (PAYLOAD_MOST - HEAD_MOST) / ENTRY_MOST)
        return error_set(err, E2BIG, "a batch of %zu contexts is more than a store takes", count);
    if (!vec_reserve(p->plain, 0, p->plain_capacity, HEAD_MOST + count * ENTRY_MOST))
        return error_memory(err);
    size_t plain = write_plain(p->plain, entries, count);
    if (!vec_reserve(p->packed, 0, p->packed_capacity, ZSTD_compressBound(plain)))
        return error_memory(err);
    *size = ZSTD_compress2(p->packer, p->packed, p->packed_capacity, p->plain, plain);
    *data = p->packed;
    return ZSTD_isError(*size) ? error_memory(err) : 0;
}

static int refuse_damaged(struct fathom_error *err, const char *what)
{
    return error_set(err, EBADMSG, "a batch of the store is damaged: %s", what);
}

static int read_entries(struct payload *p, struct bytes *b, size_t *count, struct fathom_error *err)
{
    const uint8_t version = bytes_u8(b);
    const uint64_t period = bytes_uleb(b), wanted = bytes_uleb(b);
    uint64_t context = 0;
    if (!b->failed && (version < 1 || version > PAYLOAD_VERSION))
        return error_set(err, ENOTSUP,
                         "a batch of the store is of version %u, and this program knows %u: use a newer one",
                         version, PAYLOAD_VERSION);
    if (b->failed || wanted > bytes_left(b) / ENTRY_LEAST)
        return refuse_damaged(err, "more contexts than it has room for");
    if (!vec_reserve(p->entries, 0, p->entry_capacity, wanted + 1))
        return error_memory(err);
    for (size_t i = 0; i < wanted; i++) {
        struct store_entry e = {.context = bytes_uleb(b)};
        e.count = bytes_uleb(b);
        bool fits = !__builtin_add_overflow(context, e.context, &context);
        fits &= period ? !__builtin_mul_overflow(e.count, period, &e.weight) : true;
        e.weight = period ? e.weight : bytes_uleb(b);
        e.context = context;
        e.sure = bytes_u8(b);
        if (version > 1 && certainty_in(e.sure) == CERTAINTY_INFERRED)
            fits &= !__builtin_mul_overflow(bytes_uleb(b), period ? period : 1, &e.rest) &&
                    e.rest < (e.weight ? e.weight : 1);
        if (b->failed || !fits)
            return refuse_damaged(err, fits ? "it is cut short" : "a number is too large");
        p->entries[i] = e;
    }
    *count = wanted;
    return bytes_left(b) ? refuse_damaged(err, "more bytes than contexts") : 0;
}

int payload_unpack(struct payload *p, const void *data, size_t size, const struct store_entry **entries,
                   size_t *count, struct fathom_error *err)
{
    const unsigned long long plain = ZSTD_getFrameContentSize(data, size);
    if (plain == ZSTD_CONTENTSIZE_ERROR || plain == ZSTD_CONTENTSIZE_UNKNOWN || plain > PAYLOAD_MOST)
        return refuse_damaged(err, "it is not compressed, or too large");
    if (!vec_reserve(p->plain, 0, p->plain_capacity, (size_t)plain + 1))
        return error_memory(err);
    size_t got = ZSTD_decompressDCtx(p->unpacker, p->plain, (size_t)plain, data, size);
    if (ZSTD_isError(got) || got != plain)
        return refuse_damaged(err, "it cannot be unpacked");
    struct bytes bytes = bytes_of(p->plain, got);
    int rc = read_entries(p, &bytes, count, err);
    if (rc == 0)
        *entries = p->entries;
    return rc;
}
