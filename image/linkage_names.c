/* linkage_names.c - see linkage_names.h. */
#include "image/linkage_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "image/elf/symbols.h"
#include "image/image_private.h"

struct linkage_names {
    struct symbols symbols; /* by address; each name once */
};

static int compare_addresses(const struct symbol *x, const struct symbol *y)
{
    return (x->address > y->address) - (x->address < y->address);
}

static int by_name(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names ? names : compare_addresses(x, y);
}

static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    const int addresses = compare_addresses(x, y);
    return addresses ? addresses : strcmp(x->name, y->name);
}

/* Leaves each name that is at one address alone. */
static void keep_unique(struct symbols *s)
{
    size_t kept = 0;
    for (size_t i = 0, next; i < s->count; i = next) {
        for (next = i + 1; next < s->count && strcmp(s->items[next].name, s->items[i].name) == 0;)
            next++;
        if (s->items[next - 1].address == s->items[i].address)
            s->items[kept++] = s->items[i];
    }
    s->count = kept;
}

struct linkage_names *linkage_names_open(const struct image *image)
{
    struct linkage_names *names = calloc(1, sizeof *names);
    struct symbols *s = names ? &names->symbols : NULL;
    if (!s || symbols_read(s, &image->file, &image->file) < 0 ||
        symbols_read(s, &image->debug, &image->file) < 0) {
        linkage_names_close(names);
        return NULL;
    }
    if (s->count)
        qsort(s->items, s->count, sizeof *s->items, by_name);
    keep_unique(s);
    if (s->count)
        qsort(s->items, s->count, sizeof *s->items, by_address);
    return names;
}

void linkage_names_close(struct linkage_names *names)
{
    if (names)
        symbols_free(&names->symbols);
    free(names);
}

const char *linkage_names_at(const struct linkage_names *names, uint64_t address, size_t i)
{
    const struct symbols *s = &names->symbols;
    const size_t at = lower_bound(k, (size_t)0, s->count, s->items[k].address < address) + i;
    return at < s->count && s->items[at].address == address ? s->items[at].name : NULL;
}
