/* test_payload.c - the bytes of a batch's entries, whole, cut and changed. */
#include "store/payload.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct store_entry *some(size_t count, bool period)
{
    struct store_entry *entries = calloc(count, sizeof *entries);
    for (size_t i = 0; i < count; i++)
        entries[i] =
            (struct store_entry){(i + 1) * 1000, i + 1, period ? 10 * (i + 1) : i * i, (uint8_t)i, 0};
    return entries;
}

static void check_round(size_t count, bool period)
{
    struct payload *p = payload_new(), *q = payload_new();
    struct store_entry *entries = some(count, period);
    const struct store_entry *got;
    struct fathom_error err;
    const void *data;
    size_t size, read;
    cr_assert_eq(payload_pack(p, entries, count, &data, &size, &err), 0);
    cr_assert_eq(payload_unpack(q, data, size, &got, &read, &err), 0, "%s", err.text);
    cr_assert_eq(read, count);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(got[i].context, (i + 1) * 1000);
        cr_assert_eq(got[i].count, i + 1);
        cr_assert_eq(got[i].weight, entries[i].weight);
        cr_assert_eq(got[i].sure, entries[i].sure);
    }
    free(entries);
    payload_free(p);
    payload_free(q);
}

Test(payload, comes_back)
{
    check_round(0, true);
    check_round(1, true);
    check_round(1000, true);
    check_round(1000, false);
}

Test(payload, has_rests_of_sums)
{
    const struct store_entry with_period[] = {{5, 3, 30, 100, 20},
                                              {5, 1, 10, STORE_PROVED, 0},
                                              {9, 2, 20, 7, 0}},
                             without[] = {{5, 3, 31, 100, 30}, {6, 1, 7, STORE_UNKNOWN, 0}, {9, 2, 20, 7, 1}},
                             odd[] = {{5, 3, 30, 100, 7}};
    const struct {
        const struct store_entry *entries;
        size_t count;
        uint64_t period;
    } all[] = {{with_period, 3, 10}, {without, 3, 0}, {odd, 1, 0}};
    struct payload *p = payload_new();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct store_entry *got;
        struct fathom_error err;
        const void *data;
        size_t size, read;
        cr_assert_eq(payload_period(all[i].entries, all[i].count), all[i].period);
        cr_assert_eq(payload_pack(p, all[i].entries, all[i].count, &data, &size, &err), 0);
        cr_assert_eq(payload_unpack(p, data, size, &got, &read, &err), 0, "%s", err.text);
        cr_assert_eq(read, all[i].count);
        for (size_t e = 0; e < read; e++) {
            const struct store_entry *wanted = &all[i].entries[e];
            cr_assert_eq(got[e].context, wanted->context);
            cr_assert_eq(got[e].count, wanted->count);
            cr_assert_eq(got[e].weight, wanted->weight);
            cr_assert_eq(got[e].sure, wanted->sure);
            cr_assert_eq(got[e].rest, wanted->rest);
        }
    }
    payload_free(p);
}

Test(payload, that_was_changed_is_damaged)
{
    struct payload *p = payload_new(), *q = payload_new();
    struct store_entry *entries = some(100, true);
    const struct store_entry *got;
    struct fathom_error err;
    const void *data;
    size_t size, read;
    cr_assert_eq(payload_pack(p, entries, 100, &data, &size, &err), 0);
    uint8_t *copy = malloc(size);
    for (size_t i = 0; i < size; i++) {
        memcpy(copy, data, size);
        copy[i] ^= 0x55;
        int rc = payload_unpack(q, copy, size, &got, &read, &err);
        cr_assert(rc == -EBADMSG || rc == -ENOTSUP, "byte %zu: %d", i, rc);
        rc = payload_unpack(q, data, i, &got, &read, &err);
        cr_assert_eq(rc, -EBADMSG);
    }
    free(copy);
    free(entries);
    payload_free(p);
    payload_free(q);
}
