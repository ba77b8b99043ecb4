/* running.c - see running.h. */
#include "image/kernel/running.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/elf/note.h"

#define NOTES_MOST 65536u

struct symbol {
    uint64_t address;
    uint32_t name; /* offset in texts */
    uint8_t rank;  /* among names of one address, the one with the highest rank is shown */
};

struct running_kernel {
    FILE *kallsyms, *modules; /* NULL: could not be opened, or already read */
    bool read;
    struct kernel_layout layout;
    struct symbol *symbols; /* by address */
    size_t count, capacity;
    char *texts;
    size_t text_size, text_capacity;
};

const struct kernel_places kernel_places_here = {"/proc", "/sys"};

static FILE *open_in(const char *directory, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return NULL;
    return fopen(path, "re");
}

/* The kernel's build-id, from its ELF notes. */
static void read_notes(FILE *file, struct build_id *id)
{
    uint8_t notes[NOTES_MOST];
    size_t size = fread(notes, 1, sizeof notes, file);
    struct bytes b = bytes_of(notes, size);
    for (struct elf_note note; elf_note_next(&b, &note);)
        if (elf_note_is(&note, "GNU", NT_GNU_BUILD_ID) && note.size <= BUILD_ID_MAX) {
            id->size = (uint8_t)note.size;
            memcpy(id->bytes, note.data, note.size);
            return;
        }
}

struct running_kernel *running_kernel_open(const struct kernel_places *places)
{
    struct running_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->kallsyms = open_in(places->proc, "kallsyms");
    k->modules = open_in(places->proc, "modules");
    FILE *notes = open_in(places->sys, "kernel/notes");
    if (notes) {
        read_notes(notes, &k->layout.id);
        fclose(notes);
    }
    return k;
}

void running_kernel_close(struct running_kernel *k)
{
    if (!k)
        return;
    if (k->kallsyms)
        fclose(k->kallsyms);
    if (k->modules)
        fclose(k->modules);
    kernel_layout_free(&k->layout);
    free(k->symbols);
    free(k->texts);
    free(k);
}

/* Global before local and weak; names without leading underscores before others. */
static uint8_t rank_of(char type, const char *name)
{
    return (uint8_t)((type == 'T' ? 2 : 0) + (name[0] != '_' ? 1 : 0));
}

static bool add_symbol(struct running_kernel *k, uint64_t address, char type, const char *name)
{
    size_t length = strlen(name) + 1;
    struct symbol symbol = {address, (uint32_t)k->text_size, rank_of(type, name)};
    if (k->text_size + length > UINT32_MAX ||
        !vec_reserve(k->texts, k->text_size, k->text_capacity, length) ||
        !vec_push(k->symbols, k->count, k->capacity, symbol))
        return false;
    memcpy(k->texts + k->text_size, name, length);
    k->text_size += length;
    return true;
}

/* A line is "ffffffff81000000 T _text"; a module's ends with a tab and "[ext4]". */
static bool take_line(struct running_kernel *k, char *line)
{
    char *end, *name;
    uint64_t address = strtoull(line, &end, 16);
    if (address < KERNEL_ADDRESSES || end[0] != ' ' || !end[1] || end[2] != ' ')
        return true;
    const char type = end[1];
    name = end + 3;
    name[strcspn(name, "\t\n")] = 0;
    if (strcmp(name, "_text") == 0)
        k->layout.kernel.start = address;
    else if (strcmp(name, "_etext") == 0)
        k->layout.kernel.end = address;
    return !strchr("tTwW", type) || add_symbol(k, address, type, name);
}

/* A line is "ext4 1130496 1 - Live 0xffffffffc0a00000". */
static bool take_module(struct running_kernel *k, const char *line)
{
    char name[62], path[sizeof name + 2];
    uint64_t size, start;
    if (sscanf(line, "%61s %lu %*s %*s %*s %lx", name, &size, &start) != 3)
        return true;
    snprintf(path, sizeof path, "[%s]", name);
    return kernel_layout_add(&k->layout, path, start, start + size, &k->layout.id) == 0;
}

static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->rank != y->rank ? x->rank - y->rank : x->name < y->name ? -1 : x->name > y->name;
}

static int read_all(struct running_kernel *k)
{
    char *line = NULL;
    size_t capacity = 0;
    bool good = true;
    while (good && k->kallsyms && getline(&line, &capacity, k->kallsyms) > 0)
        good = take_line(k, line);
    while (good && k->modules && getline(&line, &capacity, k->modules) > 0)
        good = take_module(k, line);
    free(line);
    if (k->layout.kernel.end <= k->layout.kernel.start)
        k->layout.kernel = (struct kernel_range){0};
    snprintf(k->layout.kernel.name, sizeof k->layout.kernel.name, "[kernel]");
    if (k->count)
        qsort(k->symbols, k->count, sizeof *k->symbols, compare_symbols);
    k->read = good;
    return good ? 0 : -ENOMEM;
}

int running_kernel_layout(struct running_kernel *k, const struct kernel_layout **out,
                          struct fathom_error *err)
{
    if (!k->read && read_all(k) < 0)
        return error_memory(err);
    *out = &k->layout;
    return 0;
}

const char *running_kernel_function(const struct running_kernel *k, uint64_t address, uint64_t *start)
{
    size_t low = 0, high = k->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (k->symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    *start = k->symbols[low - 1].address;
    return k->texts + k->symbols[low - 1].name;
}
