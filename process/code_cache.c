/* code_cache.c - see code_cache.h. */
#include "process/code_cache.h"

#include <stdlib.h>
#include <string.h>

bool code_cache_make(struct code_cache *cache)
{
    size_t bytes = CODE_CACHE_ENTRIES * sizeof *cache->entries;
    cache->entries = aligned_alloc(_Alignof(struct code_entry), bytes);
    if (!cache->entries)
        return false;
    memset(cache->entries, 0, bytes);
    return true;
}

void code_cache_free(struct code_cache *cache)
{
    free(cache->entries);
    *cache = (struct code_cache){0};
}
