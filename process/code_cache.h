/*
 * code_cache.h - what code lies at the PCs that were met (internal to process/).
 *
 * Samples and callers fall on few addresses over and over. The cache is direct-mapped and of a fixed size:
 * one line of memory instead of a search for the mapping, the function and the CFI row. An entry holds for
 * one state of the mappings, which has a number of its own (process.c), so none is ever taken back.
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

_Static_assert(sizeof(struct code_entry) == 64, "an entry is one line of a CPU's cache");

struct code_cache {
    struct code_entry *entries;
};

/* false: out of memory. */
bool code_cache_make(struct code_cache *cache);
void code_cache_free(struct code_cache *cache); /* one that was never made (zeroed) is allowed */

/* The entry for the PC (Fibonacci hashing: Knuth, TAOCP 6.4), which is about it when code_entry_holds(), and
 * to be filled in otherwise. */
static inline struct code_entry *code_cache_at(const struct code_cache *cache, uint64_t pc)
{
    return &cache->entries[pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CODE_CACHE_BITS)];
}

static inline bool code_entry_holds(const struct code_entry *entry, uint64_t pc, uint64_t state)
{
    return entry->pc == pc && entry->state == state;
}

#endif
