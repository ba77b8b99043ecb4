/*
 * numbers.h - looks up the number of a record in an array of the caller's, by a hash of its key.
 *
 * Open addressing with linear probing, at most 3/4 full; a slot holds 32 bits of the hash along with the
 * number, so a record that does not match is almost never examined. Nothing is ever removed.
 */
#ifndef FATHOM_PATHMAP_MAP_NUMBERS_H
#define FATHOM_PATHMAP_MAP_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBERS_NONE UINT32_MAX

struct number_slot {
    uint32_t hash;
    uint32_t number; /* NUMBERS_NONE: free */
};

struct numbers {
    struct number_slot *slots;
    size_t capacity; /* a power of two */
    size_t count;
};

bool numbers_init(struct numbers *numbers); /* false: out of memory */
void numbers_clear(struct numbers *numbers);
/* The number must not be NUMBERS_NONE, and its record must not be present yet. false: out of memory. */
bool numbers_put(struct numbers *numbers, uint32_t hash, uint32_t number);

/* Returns the numbers stored with this hash, one per call (start with *cursor = 0), then NUMBERS_NONE. The
 * caller compares the records. */
static inline uint32_t numbers_next(const struct numbers *numbers, uint32_t hash, size_t *cursor)
{
    size_t mask = numbers->capacity - 1;
    for (;;) {
        const struct number_slot *slot = &numbers->slots[(hash + (*cursor)++) & mask];
        if (slot->number == NUMBERS_NONE || slot->hash == hash)
            return slot->number;
    }
}

#endif
