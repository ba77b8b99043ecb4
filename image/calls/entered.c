/* entered.c - which functions of an image are reachable from other images; see calls.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/calls/private.h"

struct entering {
    const struct calls *calls;
    bool *entered;
    uint32_t *waiting; /* functions whose calls are still to be followed; each at most once */
    uint32_t count;
};

static void enter_function(struct entering *e, uint32_t function)
{
    if (function == IMAGE_NO_FUNCTION || e->entered[function])
        return;
    e->entered[function] = true;
    e->waiting[e->count++] = function;
}

/* Enters all functions exported by the dynamic symbol table, including old versions. */
static void enter_exported(struct entering *e)
{
    const struct elf_file *file = &e->calls->image->file;
    for (size_t s = 0; s < file->section_count; s++) {
        size_t size = 0;
        const uint8_t *symbols =
            file->sections[s].type == SHT_DYNSYM ? elf_section_bytes(file, &file->sections[s], &size) : NULL;
        for (size_t i = 0; i < size / sizeof(Elf64_Sym); i++) {
            Elf64_Sym symbol;
            memcpy(&symbol, symbols + i * sizeof symbol, sizeof symbol);
            unsigned type = ELF64_ST_TYPE(symbol.st_info);
            if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL &&
                (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE))
                enter_function(e, image_function_at(e->calls->image, symbol.st_value));
        }
    }
}

int calls_entered(const struct calls *calls, const uint32_t *but, size_t but_count, bool **out)
{
    uint32_t count = image_function_count(calls->image);
    struct entering e = {.calls = calls,
                         .entered = calloc((size_t)count + 1, sizeof *e.entered),
                         .waiting = malloc(((size_t)count + 1) * sizeof *e.waiting)};
    if (!e.entered || !e.waiting) {
        free(e.entered);
        free(e.waiting);
        return -ENOMEM;
    }
    enter_exported(&e);
    for (size_t i = 0; i < calls->taken_count; i++)
        enter_function(&e, calls->taken[i]);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < e.count; i++) {
        bool left_out = false;
        for (size_t b = 0; b < but_count; b++)
            left_out |= but[b] == e.waiting[i];
        if (left_out)
            e.entered[e.waiting[i]] = false;
        else
            e.waiting[kept++] = e.waiting[i];
    }
    e.count = kept;
    while (e.count) {
        const struct call_site *sites;
        size_t site_count = calls_of(calls, e.waiting[--e.count], &sites);
        for (size_t i = 0; i < site_count; i++)
            if (sites[i].target)
                enter_function(&e, image_function_at(calls->image, sites[i].target));
    }
    free(e.waiting);
    *out = e.entered;
    return 0;
}
