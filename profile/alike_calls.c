/* alike_calls.c - see alike_calls.h. */
#include "profile/alike_calls.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
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
    struct table *known; /* hash of image, site and callee -> struct alike */
};

struct alike_calls *alike_calls_new(void)
{
    struct alike_calls *c = allocate(struct alike_calls, .arena = arena_new(0), .known = table_new());
    return whole_or_free(c, c->arena && c->known, alike_calls_free);
}

void alike_calls_free(struct alike_calls *c)
{
    if (!c)
        return;
    arena_free(c->arena);
    table_free(c->known);
    free(c);
}

/* The code from the start of the address's function, or a part of it. */
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
        if (code_is_call(out))
            return true;
    }
    return false;
}

/* Whether a call can reach a function. */
enum leads { LEADS_NEVER, LEADS_MAYBE, LEADS_SURE };

/* Whether a text has a name as a word, as "__strlen_avx2" has "strlen". */
static bool has_word(const char *text, const char *name, size_t length)
{
    for (const char *at = text; (at = strchr(at, *name)) != NULL; at++)
        if (strncmp(at, name, length) == 0 && !isalnum((unsigned char)at[length]) &&
            (at == text || !isalnum((unsigned char)at[-1])))
            return true;
    return false;
}

/* A PLT stub reaches the function that it is named after, or the loader's choice for that name (an ifunc), whose own name
 * contains it. */
static enum leads stub_leads(const struct image *image, uint32_t stub, const struct alike_callee *callee)
{
    const char *name = image_function(image, stub)->name,
               *text = image_function(callee->image, callee->function)->name;
    const size_t length = name ? strcspn(name, "@") : 0;
    const bool named = length && *name != '*'; /* "*ABS*+0x1234" is the name of a resolver's stub */
    if (named && text && has_word(text, name, length))
        return LEADS_SURE;
    return named && callee->image == image ? LEADS_NEVER : LEADS_MAYBE;
}

/* A called function may go on to another one by its last jump. */
static enum leads jump_leads(const struct image *image, uint32_t function, const struct alike_callee *callee)
{
    const struct image_function *f = image_function(image, function);
    size_t size, at = 0;
    const uint8_t *code = image_bytes(image, f->address, &size);
    struct code_insn insn;
    size = code && size > f->size ? f->size : size;
    while (code && at < size && code_read(code + at, size - at, f->address + at, &insn)) {
        at += insn.length;
        if (insn.kind == CODE_JUMP_INDIRECT)
            return LEADS_MAYBE;
        const uint32_t to =
            insn.kind == CODE_JUMP ? image_function_at(image, insn.target) : IMAGE_NO_FUNCTION;
        if (to == IMAGE_NO_FUNCTION || to == function)
            continue;
        if ((callee->image == image && to == callee->function) ||
            (image_function_is_stub(image, to) && stub_leads(image, to, callee) != LEADS_NEVER))
            return LEADS_MAYBE;
    }
    return LEADS_NEVER;
}

static enum leads call_leads(const struct image *image, const struct code_insn *call,
                             const struct alike_callee *callee)
{
    if (call->kind == CODE_CALL_INDIRECT)
        return LEADS_MAYBE;
    const uint32_t to = image_function_at(image, call->target);
    if (to == IMAGE_NO_FUNCTION)
        return LEADS_MAYBE;
    if (callee->image == image && to == callee->function)
        return LEADS_SURE;
    return image_function_is_stub(image, to) ? stub_leads(image, to, callee) : jump_leads(image, to, callee);
}

/* The calls with the same CFI row as a known one. */
struct row_calls {
    const struct image *image;
    const struct alike_callee *callee;
    const uint8_t *code;
    size_t size;
    uint64_t start, first, last; /* first, last: addresses of the last bytes of the calls */
    struct alike *out;
};

/* Adds direct calls that reach the callee at least as surely as `least`, and indirect ones. */
static void add_calls(const struct row_calls *r, bool indirect, enum leads least)
{
    struct code_insn call;
    for (size_t at = 0;
         next_call(r->code, r->size, r->start, &at, &call) && r->out->count < ALIKE_CALLS_MOST;) {
        const uint64_t end = call.address + call.length;
        if (end - 1 >= r->first && end - 1 < r->last &&
            (call.kind == CODE_CALL_INDIRECT ? indirect : call_leads(r->image, &call, r->callee) >= least))
            r->out->sites[r->out->count++] = end;
    }
}

static void find_alike(const struct image *image, uint64_t site, const struct alike_callee *callee,
                       struct alike *alike)
{
    struct row_calls r = {.image = image, .callee = callee, .out = alike};
    size_t at = 0;
    r.code = part_code(image, site - 1, &r.start, &r.size);
    struct code_insn known = {0};
    while (r.code && known.address + known.length != site && next_call(r.code, r.size, r.start, &at, &known))
        ;
    if (r.code && known.address + known.length == site) {
        image_return_range(image, site - 1, &r.first, &r.last);
        add_calls(&r, known.kind == CODE_CALL_INDIRECT, LEADS_SURE);
        /* The known site is from another call's stack, of which only the caller is known: any call that can reach the callee. */
        if (!alike->count)
            add_calls(&r, call_leads(image, &known, callee) == LEADS_NEVER, LEADS_MAYBE);
    }
    if (!alike->count)
        alike->sites[alike->count++] = site;
}

const uint64_t *alike_calls_find(struct alike_calls *c, const struct image *image, uint64_t site,
                                 const struct alike_callee *callee, uint32_t *count)
{
    const uint64_t caller = hash_u64((uintptr_t)image) + hash_u64(site),
                   key = hash_u64(caller + hash_u64((uintptr_t)callee->image) + callee->function);
    uint64_t *place = table_put(c->known, key, NULL);
    struct alike *alike = place ? (struct alike *)(uintptr_t)*place : NULL;
    if (place && !alike && (alike = arena_alloc(c->arena, sizeof *alike))) {
        *alike = (struct alike){0};
        *place = (uintptr_t)alike;
        find_alike(image, site, callee, alike);
    }
    *count = alike ? alike->count : 0;
    return alike ? alike->sites : NULL;
}
