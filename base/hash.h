/*
 * hash.h - the two hash tables used throughout.
 *
 * struct table maps 64-bit keys to 64-bit values by open addressing (linear probing, at most 3/4 full).
 * struct names interns strings: equal strings get the same small number, counted from 0.
 * Neither is thread-safe.
 */
#ifndef FATHOM_BASE_HASH_H
#define FATHOM_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A 64-bit mixer in which every input bit affects every output bit (MurmurHash3's finalizer, public domain).
 */
static inline uint64_t hash_u64(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
}

/* The next of a sequence of numbers that look random (SplitMix's, with the mixer above). */
static inline uint64_t hash_random(uint64_t *state)
{
    return hash_u64(*state += 0x9e3779b97f4a7c15u);
}

struct table;

struct table *table_new(void); /* NULL: out of memory */
void table_free(struct table *table);
/* A pointer to the value, or NULL if the key is absent. Valid until the next table_put. */
uint64_t *table_find(const struct table *table, uint64_t key);
/* A pointer to the key's value, inserted as 0 if absent (then *added is true, unless NULL). NULL: out of
 * memory. */
uint64_t *table_put(struct table *table, uint64_t key, bool *added);
/* Gives the key this value. false: out of memory. */
bool table_set(struct table *table, uint64_t key, uint64_t value);
bool table_remove(struct table *table, uint64_t key); /* whether it was there */
size_t table_count(const struct table *table);
size_t table_bytes(const struct table *table); /* of memory */
/* Walks all entries in no particular order: start with *cursor = 0, ends with false. */
bool table_next(const struct table *table, size_t *cursor, uint64_t *key, uint64_t *value);

/* The index of a key's item in a growing array (vec.h), which gets the item if the key is new. SIZE_MAX: out of memory. The table's values
 * are the indexes + 1. */
#define table_index(table, key, items, count, capacity, ...)                                                 \
    __extension__({                                                                                          \
        uint64_t *table_place = table_put((table), (key), NULL);                                             \
        if (table_place && !*table_place && vec_push(items, count, capacity, __VA_ARGS__))                   \
            *table_place = (count);                                                                          \
        table_place ? (size_t)*table_place - 1 : SIZE_MAX;                                                   \
    })

struct names;

#define NAMES_NONE UINT32_MAX

struct names *names_new(void);
void names_free(struct names *names);
/* The string's number; a copy is kept. NAMES_NONE: out of memory. */
uint32_t names_intern(struct names *names, const char *text);
/* The string with this number, or NULL. Lives as long as the table. */
const char *names_text(const struct names *names, uint32_t number);
uint32_t names_count(const struct names *names);

#endif
