/*
 * plt.c - the stubs of the procedure linkage table as functions "name@plt" (x86-64 psABI, section 5.2, and GNU
 * ld's .plt.sec and .plt.got).
 *
 * A stub jumps through a slot of the GOT, and a relocation names the slot's symbol. If no stub of a section can
 * be named this way, the section is one function.
 */
#include "base/sort.h"
#include "base/vec.h"
#include "image/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    uint64_t address;
    const char *name;
};

struct slots {
    struct slot *items;
    size_t count, capacity;
};

static const char *symbol_name(const struct elf_file *file, const struct elf_section *symbols, uint64_t index)
{
    size_t size, string_size;
    const uint8_t *at = elf_section_bytes(file, symbols, &size);
    if (index == 0 || index >= size / sizeof(Elf64_Sym) || symbols->link >= file->section_count)
        return NULL;
    const uint8_t *strings = elf_section_bytes(file, &file->sections[symbols->link], &string_size);
    Elf64_Sym sym;
    memcpy(&sym, at + index * sizeof sym, sizeof sym);
    if (sym.st_name >= string_size || !strings[sym.st_name] ||
        !memchr(strings + sym.st_name, 0, string_size - sym.st_name))
        return NULL;
    return (const char *)strings + sym.st_name;
}

static int read_relocations(const struct elf_file *file, const struct elf_section *s, struct slots *slots)
{
    size_t size;
    const uint8_t *at = elf_section_bytes(file, s, &size);
    if (s->link >= file->section_count)
        return 0;
    for (; size >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela), size -= sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, at, sizeof r);
        unsigned type = ELF64_R_TYPE(r.r_info);
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
            continue;
        const char *name = symbol_name(file, &file->sections[s->link], ELF64_R_SYM(r.r_info));
        if (!name)
            continue;
        if (!vec_push(slots->items, slots->count, slots->capacity, (struct slot){r.r_offset, name}))
            return -ENOMEM;
    }
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* The GOT slot that a stub jumps through: [endbr64] [bnd] jmp *disp32(%rip). */
static bool stub_slot(const uint8_t *code, size_t size, uint64_t address, uint64_t *slot)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t at = size >= 4 && memcmp(code, endbr64, 4) == 0 ? 4 : 0;
    if (at < size && code[at] == 0xf2)
        at++;
    if (size < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
        return false;
    int32_t displacement;
    memcpy(&displacement, code + at + 2, sizeof displacement);
    *slot = address + at + 6 + (uint64_t)(int64_t)displacement;
    return true;
}

static const char *stub_name(const struct slots *slots, uint64_t slot, struct arena *names, bool *no_memory)
{
    struct slot key = {slot, NULL};
    const struct slot *found =
        slots->count ? bsearch(&key, slots->items, slots->count, sizeof key, by_address) : NULL;
    if (!found)
        return NULL;
    size_t length = strlen(found->name);
    char *name = arena_alloc(names, length + sizeof "@plt");
    if (!name) {
        *no_memory = true;
        return NULL;
    }
    memcpy(name, found->name, length);
    memcpy(name + length, "@plt", sizeof "@plt");
    return name;
}

static int add_section(const struct elf_file *file, const struct elf_section *s, const struct slots *slots,
                       struct arena *names, struct functions *functions)
{
    size_t size;
    const uint8_t *code = elf_section_bytes(file, s, &size);
    /* .plt.got has stubs of 8 bytes without endbr64, all others 16 */
    size_t stub = strcmp(s->name, ".plt.got") == 0 && size && code[0] != 0xf3 ? 8 : 16;
    if (size == 0 || size != s->size || size > UINT32_MAX || !elf_file_is_code(file, s->address, size))
        return 0;
    uint32_t before = functions->count;
    bool named = false, no_memory = false;
    for (size_t at = 0; at < size; at += stub) {
        size_t left = size - at < stub ? size - at : stub;
        uint64_t slot;
        const char *name = NULL;
        if (stub_slot(code + at, left, s->address + at, &slot))
            name = stub_name(slots, slot, names, &no_memory);
        named |= name != NULL;
        if (no_memory || functions_add(functions, s->address + at, left, name) < 0)
            return -ENOMEM;
    }
    if (named)
        return 0;
    functions->count = before;
    return functions_add(functions, s->address, size, NULL);
}

static bool is_plt(const struct elf_section *s)
{
    return strcmp(s->name, ".plt") == 0 || strcmp(s->name, ".plt.sec") == 0 ||
           strcmp(s->name, ".plt.got") == 0;
}

bool plt_holds(const struct elf_file *file, uint64_t address)
{
    for (size_t i = 0; i < file->section_count; i++)
        if (address - file->sections[i].address < file->sections[i].size && is_plt(&file->sections[i]))
            return true;
    return false;
}

int plt_add(const struct elf_file *file, struct arena *names, struct functions *functions)
{
    struct slots slots = {0};
    int rc = 0;
    for (size_t i = 0; i < file->section_count && rc == 0; i++)
        if (file->sections[i].type == SHT_RELA && (file->sections[i].flags & SHF_ALLOC))
            rc = read_relocations(file, &file->sections[i], &slots);
    sort_by(slots.items, slots.count, address);
    uint64_t end = 0; /* sections of a damaged file may overlap: those below the last one are skipped */
    for (size_t i = 0; i < file->section_count && rc == 0; i++) {
        const struct elf_section *s = &file->sections[i];
        if (!is_plt(s) || s->address < end)
            continue;
        rc = add_section(file, s, &slots, names, functions);
        end = s->address + s->size;
    }
    free(slots.items);
    return rc;
}
