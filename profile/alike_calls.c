/* alike_calls.c - see alike_calls.h. */
#include "profile/alike_calls.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/search.h"
#include "image/code/code.h"
#include "image/return_range.h"

struct alike {
    uint32_t count;
    uint64_t sites[ALIKE_CALLS_MOST];
};

struct alike_calls {
    struct arena *arena;
    struct table *known; /* image and site, hashed -> struct alike */
};

struct alike_calls *alike_calls_new(void)
{
    struct alike_calls *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->arena = arena_new(0);
    c->known = table_new();
    if (!c->arena || !c->known) {
        alike_calls_free(c);
        return NULL;
    }
    return c;
}

void alike_calls_free(struct alike_calls *c)
{
    if (!c)
        return;
    arena_free(c->arena);
    table_free(c->known);
    free(c);
}

static bool is_call(const struct code_insn *insn)
{
    return insn->kind == CODE_CALL || insn->kind == CODE_CALL_INDIRECT;
}

/* The code from the start of the address's function, or part of one. */
static const uint8_t *part_code(const struct image *image, uint64_t address, uint64_t *start, size_t *size)
{
    uint32_t count = image_function_count(image);
    uint32_t after = lower_bound(i, 0, count, image_function(image, i)->address <= address);
    if (after == 0)
        return NULL;
    const struct image_function *part = image_function(image, after - 1);
    const uint8_t *code = image_bytes(image, part->address, size);
    *start = part->address;
    if (code && *size > part->size)
        *size = part->size;
    return code;
}

/* The next call in the code; false: there is none. */
static bool next_call(const uint8_t *code, size_t size, uint64_t start, size_t *at, struct code_insn *out)
{
    while (*at < size && code_read(code + *at, size - *at, start + *at, out)) {
        *at += out->length;
        if (is_call(out))
            return true;
    }
    return false;
}

static void find_alike(const struct image *image, struct alike *alike)
{
    uint64_t site = alike->sites[0], start, first, last;
    size_t size, at = 0;
    const uint8_t *code = part_code(image, site - 1, &start, &size);
    struct code_insn known = {0}, insn;
    while (code && known.address + known.length != site && next_call(code, size, start, &at, &known))
        ;
    if (!code || known.address + known.length != site)
        return;
    image_return_range(image, site - 1, &first, &last);
    for (at = 0; next_call(code, size, start, &at, &insn) && alike->count < ALIKE_CALLS_MOST;) {
        uint64_t end = insn.address + insn.length;
        bool same =
            insn.kind == known.kind && (insn.kind == CODE_CALL_INDIRECT || insn.target == known.target);
        if (same && end != site && end - 1 >= first && end - 1 < last)
            alike->sites[alike->count++] = end;
    }
}

const uint64_t *alike_calls_find(struct alike_calls *c, const struct image *image, uint64_t site,
                                 uint32_t *count)
{
    uint64_t *place = table_put(c->known, hash_u64((uintptr_t)image) + hash_u64(site), NULL);
    struct alike *alike = place ? (struct alike *)(uintptr_t)*place : NULL;
    if (place && !alike && (alike = arena_alloc(c->arena, sizeof *alike))) {
        *alike = (struct alike){1, {site}};
        *place = (uintptr_t)alike;
        find_alike(image, alike);
    }
    *count = alike ? alike->count : 0;
    return alike ? alike->sites : NULL;
}
