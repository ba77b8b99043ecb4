/* sort.c - see sort.h. */
#include "base/sort.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11u /* counts of one digit stay in the first-level cache */
#define DIGITS     (1u << DIGIT_BITS)
#define LEAST      256u /* items: below this, comparing is faster */

static uint64_t key_of(const void *item, struct sort_key key)
{
    const uint8_t *at = (const uint8_t *)item + key.at;
    uint64_t value;
    uint32_t small;
    if (key.width == sizeof value)
        return memcpy(&value, at, sizeof value), value;
    return memcpy(&small, at, sizeof small), small;
}

static int compare(const void *a, const void *b, void *key)
{
    const uint64_t x = key_of(a, *(const struct sort_key *)key), y = key_of(b, *(const struct sort_key *)key);
    return (x > y) - (x < y);
}

/* The bits in which keys differ; 0: they are already in order. */
static uint64_t bits_to_sort(const uint8_t *items, size_t count, size_t size, struct sort_key key)
{
    uint64_t differ = 0, last = 0;
    const uint64_t first = count ? key_of(items, key) : 0;
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        const uint64_t now = key_of(items + i * size, key);
        sorted = sorted && now >= last;
        differ |= now ^ first;
        last = now;
    }
    return sorted ? 0 : differ;
}

/* Distributes by one digit, from one array to the other. */
static void distribute(const struct sort_keyed *from, struct sort_keyed *to, size_t count, unsigned shift)
{
    size_t at[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        at[from[i].key >> shift & (DIGITS - 1)]++;
    for (size_t d = 0; d < DIGITS; d++) {
        const size_t those = at[d];
        at[d] = sum;
        sum += those;
    }
    for (size_t i = 0; i < count; i++)
        to[at[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts by the digits in which keys differ. Returns one of the two arrays. */
static struct sort_keyed *sort_digits(struct sort_keyed *from, struct sort_keyed *to, size_t count,
                                      uint64_t differ)
{
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (!(differ >> shift & (DIGITS - 1)))
            continue;
        distribute(from, to, count, shift);
        struct sort_keyed *other = from;
        from = to;
        to = other;
    }
    return from;
}

bool sort_keyed(struct sort_keyed *items, size_t count)
{
    const struct sort_key key = {offsetof(struct sort_keyed, key), sizeof items->key};
    const uint64_t differ = bits_to_sort((const uint8_t *)items, count, sizeof *items, key);
    struct sort_keyed *other = differ ? malloc(count * sizeof *other) : NULL;
    if (differ && !other)
        return false;
    if (differ && sort_digits(items, other, count, differ) == other)
        memcpy(items, other, count * sizeof *items);
    free(other);
    return true;
}

void sort_by_key(void *items, size_t count, size_t size, struct sort_key key)
{
    const uint64_t differ = bits_to_sort(items, count, size, key);
    if (!differ)
        return;
    struct sort_keyed *order = count >= LEAST ? malloc(2 * count * sizeof *order) : NULL;
    uint8_t *moved = order ? malloc(count * size) : NULL;
    if (!moved) {
        free(order);
        qsort_r(items, count, size, compare, &key);
        return;
    }
    for (size_t i = 0; i < count; i++)
        order[i] = (struct sort_keyed){key_of((uint8_t *)items + i * size, key), i};
    const struct sort_keyed *sorted = sort_digits(order, order + count, count, differ);
    for (size_t i = 0; i < count; i++)
        memcpy(moved + i * size, (uint8_t *)items + sorted[i].place * size, size);
    memcpy(items, moved, count * size);
    free(order);
    free(moved);
}

size_t sort_unique_numbers(void *numbers, size_t count, size_t width)
{
    const struct sort_key key = {0, width};
    uint8_t *items = numbers;
    size_t kept = 0;
    sort_by_key(items, count, width, key);
    for (size_t i = 0; i < count; i++)
        if (!kept || key_of(items + i * width, key) != key_of(items + (kept - 1) * width, key))
            memmove(items + kept++ * width, items + i * width, width);
    return kept;
}
