/* objects.c - see objects.h. System V ABI, chapter 4, "Symbol Table". */
#include "image/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "image/elf/elf_file.h"
#include "image/elf/symbols.h"
#include "image/image_private.h"

struct objects {
    struct object *at; /* by address */
    size_t count, capacity;
};

static bool is_object(const Elf64_Sym *sym)
{
    return ELF64_ST_TYPE(sym->st_info) == STT_OBJECT && sym->st_shndx != SHN_UNDEF &&
           sym->st_shndx != SHN_ABS && sym->st_size && sym->st_size <= UINT64_MAX - sym->st_value;
}

static bool read_table(struct objects *objects, const struct elf_file *file, const struct elf_section *table)
{
    size_t size, string_size;
    const uint8_t *at = elf_section_bytes(file, table, &size);
    if (table->link >= file->section_count)
        return true;
    const uint8_t *strings = elf_section_bytes(file, &file->sections[table->link], &string_size);
    for (; size >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym), size -= sizeof(Elf64_Sym)) {
        Elf64_Sym sym;
        memcpy(&sym, at, sizeof sym);
        const char *name = is_object(&sym) ? symbol_string(strings, string_size, sym.st_name) : NULL;
        if (name && !vec_push(objects->at, objects->count, objects->capacity,
                              (struct object){sym.st_value, sym.st_size, name}))
            return false;
    }
    return true;
}

static bool read_file(struct objects *objects, const struct elf_file *file)
{
    bool good = true;
    for (size_t i = 0; good && i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        if (s->type == SHT_SYMTAB || s->type == SHT_DYNSYM)
            good = read_table(objects, file, s);
    }
    return good;
}

/* If an object has several names, the last one counts, which is the shortest. */
static int compare_objects(const void *a, const void *b)
{
    const struct object *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    size_t m = strlen(x->name), n = strlen(y->name);
    if (m != n)
        return m > n ? -1 : 1;
    return strcmp(x->name, y->name);
}

struct objects *objects_new(const struct image *image)
{
    struct objects *objects = calloc(1, sizeof *objects);
    if (!objects || !read_file(objects, &image->file) || !read_file(objects, &image->debug)) {
        objects_free(objects);
        return NULL;
    }
    if (objects->count)
        qsort(objects->at, objects->count, sizeof *objects->at, compare_objects);
    return objects;
}

void objects_free(struct objects *objects)
{
    if (!objects)
        return;
    free(objects->at);
    free(objects);
}

const struct object *objects_at(const struct objects *objects, uint64_t address)
{
    size_t after = lower_bound(i, (size_t)0, objects->count, objects->at[i].address <= address);
    const struct object *found = after ? &objects->at[after - 1] : NULL;
    return found && address - found->address < found->size ? found : NULL;
}
