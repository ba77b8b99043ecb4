/*
 * cold_names.c - .cold parts by name. gcc calls them NAME.cold (NAME.cold.N before gcc 9), clang NAME.cold.
 * A clone such as NAME.part.N or NAME.isra.N is a function of its own, and may have a .cold part itself.
 *
 * Several source files may have local functions with the same name: then the part belongs to the one in its
 * own file (the last STT_FILE symbol before both).
 */
#include "image/cold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/hash.h"

struct part {
    const struct symbol *symbol;
    size_t base_length; /* of the owner's name */
    uint32_t function;
    uint32_t owner; /* IMAGE_NO_FUNCTION: not found yet */
    bool same_file; /* the owner is local, of the same source file */
    uint32_t next;  /* next part with the same owner's name, index + 1; 0: none */
};

/* Length of NAME in NAME.cold or NAME.cold.N; 0: not such a name. */
static size_t base_length(const char *name)
{
    const char *found = NULL;
    for (const char *p = name; (p = strstr(p, ".cold")); p++)
        found = p;
    if (!found)
        return 0;
    const char *rest = found + strlen(".cold");
    if (*rest == '.' && rest[1])
        rest += 1 + strspn(rest + 1, "0123456789");
    return *rest ? 0 : (size_t)(found - name);
}

bool cold_is_name(const char *name)
{
    return name && base_length(name);
}

static size_t collect_parts(const struct functions *functions, const struct symbols *symbols,
                            struct part *parts, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < symbols->count; i++) {
        const struct symbol *s = &symbols->items[i];
        size_t length = s->typed ? base_length(s->name) : 0;
        uint32_t f = length ? functions_find(functions, s->address) : IMAGE_NO_FUNCTION;
        if (f == IMAGE_NO_FUNCTION || functions->items[f].address != s->address)
            continue;
        if (parts && count < capacity)
            parts[count] = (struct part){s, length, f, IMAGE_NO_FUNCTION, false, 0};
        count++;
    }
    return count;
}

static void consider_symbol(const struct functions *functions, const struct symbol *s, struct part *part)
{
    const struct symbol *p = part->symbol;
    bool same_file = s->local && s->file && s->file == p->file;
    if ((s->local && s->file && p->file && !same_file) || (part->owner != IMAGE_NO_FUNCTION && !same_file))
        return;
    uint32_t f = functions_find(functions, s->address);
    if (f == IMAGE_NO_FUNCTION || f == part->function || part->same_file)
        return;
    part->owner = f;
    part->same_file = same_file;
}

int cold_join_names(struct functions *functions, const struct symbols *symbols)
{
    size_t count = collect_parts(functions, symbols, NULL, 0);
    if (count == 0)
        return 0;
    struct part *parts = calloc(count, sizeof *parts);
    struct table *by_name = table_new();
    int rc = parts && by_name ? 0 : -ENOMEM;
    if (rc == 0)
        collect_parts(functions, symbols, parts, count);
    for (size_t i = 0; i < count && rc == 0; i++) {
        uint64_t *slot = table_put(by_name, checksum_of(parts[i].symbol->name, parts[i].base_length), NULL);
        if (!slot) {
            rc = -ENOMEM;
            break;
        }
        parts[i].next = (uint32_t)*slot;
        *slot = i + 1;
    }
    for (size_t i = 0; i < symbols->count && rc == 0; i++) {
        const struct symbol *s = &symbols->items[i];
        size_t length = strlen(s->name);
        const uint64_t *slot = s->typed ? table_find(by_name, checksum_of(s->name, length)) : NULL;
        for (uint64_t p = slot ? *slot : 0; p; p = parts[p - 1].next)
            if (parts[p - 1].base_length == length && memcmp(parts[p - 1].symbol->name, s->name, length) == 0)
                consider_symbol(functions, s, &parts[p - 1]);
    }
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (parts[i].owner == IMAGE_NO_FUNCTION)
            continue;
        uint32_t owner = functions_owner(functions, parts[i].owner);
        if (owner != parts[i].function)
            functions->items[parts[i].function].owner = owner;
    }
    table_free(by_name);
    free(parts);
    return rc;
}
