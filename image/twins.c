/* twins.c - see twins.h. */
#include "image/twins.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checksum.h"
#include "base/hash.h"

struct paths {
    struct build_id id;
    size_t count;
    const char *paths[TWINS_MOST];
};

struct twins {
    struct arena *arena;
    struct table *by_build; /* hash of a build-id -> struct paths */
};

struct twins *twins_new(void)
{
    struct twins *twins = calloc(1, sizeof *twins);
    if (!twins)
        return NULL;
    *twins = (struct twins){arena_new(0), table_new()};
    if (twins->arena && twins->by_build)
        return twins;
    twins_free(twins);
    return NULL;
}

void twins_free(struct twins *twins)
{
    if (!twins)
        return;
    arena_free(twins->arena);
    table_free(twins->by_build);
    free(twins);
}

bool twins_add(struct twins *twins, const char *path, const struct build_id *id)
{
    if (!id->size)
        return true;
    uint64_t *slot = table_put(twins->by_build, checksum_of(id->bytes, id->size), NULL);
    struct paths *p = slot ? (struct paths *)(uintptr_t)*slot : NULL;
    if (slot && !p && (p = arena_alloc(twins->arena, sizeof *p))) {
        *p = (struct paths){.id = *id};
        *slot = (uintptr_t)p;
    }
    if (!p)
        return false;
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->paths[i], path) == 0)
            return true;
    if (p->count == TWINS_MOST || !build_id_equal(&p->id, id))
        return true;
    p->paths[p->count] = arena_strdup(twins->arena, path);
    return p->paths[p->count] && ++p->count;
}

size_t twins_find(const struct twins *twins, const struct build_id *id, const char *paths[TWINS_MOST])
{
    const uint64_t *slot = id->size ? table_find(twins->by_build, checksum_of(id->bytes, id->size)) : NULL;
    const struct paths *p = slot ? (const struct paths *)(uintptr_t)*slot : NULL;
    if (!p || !build_id_equal(&p->id, id))
        return 0;
    memcpy(paths, p->paths, p->count * sizeof *paths);
    return p->count;
}
