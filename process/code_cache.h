/*
 * code_cache.h - caches the code found at sampled PCs (internal to process/).
 *
 * Samples and callers hit the same few addresses over and over. The cache is direct-mapped and of a fixed
 * size: it reads one cache line instead of searching for the mapping, the function and the CFI row. An entry
 * is valid for one state of the mappings, each of which has a unique number (process.c), so entries are never
 * invalidated.
 */
#ifndef FATHOM_PROCESS_CODE_CACHE_H
#define FATHOM_PROCESS_CODE_CACHE_H

#include "process/process.h"

#define CODE_CACHE_BITS    14
#define CODE_CACHE_ENTRIES (1u << CODE_CACHE_BITS) /* 64 bytes each */

struct code_entry {
    _Alignas(64) uint64_t pc;
    uint64_t state; /* of the mappings; 0: the entry is free */
    struct place place;
    struct cfi_row row;
};

_Static_assert(sizeof(struct code_entry) == 64, "an entry is one cache line");

struct code_cache {
    struct code_entry *entries;
};

/* false: out of memory. */
bool code_cache_make(struct code_cache *cache);
void code_cache_free(struct code_cache *cache); /* may be zeroed */

/* The entry for the PC (Fibonacci hashing: Knuth, TAOCP 6.4), which is valid if code_entry_holds(), and must
 * be filled in otherwise. */
static inline struct code_entry *code_cache_at(const struct code_cache *cache, uint64_t pc)
{
    return &cache->entries[pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CODE_CACHE_BITS)];
}

static inline bool code_entry_holds(const struct code_entry *entry, uint64_t pc, uint64_t state)
{
    return entry->pc == pc && entry->state == state;
}

#endif
