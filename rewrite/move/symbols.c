/*
 * symbols.c - the section headers of the new file: those of the new segment follow the old ones; and names for
 * the new code in a copy of the symbol table, for debuggers and profilers. See work.h.
 *
 * The first copy's symbols have the function's names, those of copy n the suffix ".clone.n". All are local; a
 * function with .cold parts follows a file symbol, by which the parts find each other (image/cold_names.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "rewrite/move/work.h"

#define NAME_MOST 4096 /* bytes of a symbol's name */

struct namer {
    const struct move_work *work;
    struct move_sections *sections;
    struct move_buffer strings, symbols; /* the new ones */
    uint32_t string_base;                /* offset of the first new string */
    uint32_t file_name;                  /* offset of the name of file symbols */
    size_t old_count;                    /* number of sections; the first new one has the code */
};

static const char *name_of(const struct move_survey *survey, const struct move_sections *sections,
                           size_t index)
{
    Elf64_Shdr *names = &sections->items[sections->names];
    uint64_t at = names->sh_offset + sections->items[index].sh_name;
    if (sections->items[index].sh_name >= names->sh_size || names->sh_offset > survey->size ||
        names->sh_size > survey->size - names->sh_offset ||
        survey->data[names->sh_offset + names->sh_size - 1])
        return "";
    return (const char *)survey->data + at;
}

static bool add_string(struct move_buffer *strings, uint32_t base, const char *text, uint32_t *offset)
{
    size_t at = move_append(strings, text, strlen(text) + 1);
    *offset = base + (uint32_t)at;
    return at != SIZE_MAX;
}

static bool add_symbol(struct namer *n, const Elf64_Sym *symbol)
{
    return move_append(&n->symbols, symbol, sizeof *symbol) != SIZE_MAX;
}

static const char *function_name(const struct move_survey *survey, uint64_t address)
{
    const struct functions *functions = &survey->image->functions;
    uint32_t f = functions_find(functions, address);
    return f == IMAGE_NO_FUNCTION ? NULL : functions->items[f].name;
}

static bool add_copy(struct namer *n, const struct move_copy *copy)
{
    const struct move_work *work = n->work;
    const char *base = function_name(work->survey, copy->address);
    char name[NAME_MOST], clone[32] = "";
    if (!base)
        return true;
    if (copy->number)
        snprintf(clone, sizeof clone, ".clone.%u", copy->number);
    Elf64_Sym file = {
        .st_name = n->file_name, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FILE), .st_shndx = SHN_ABS};
    if (copy->count > 1 && !add_symbol(n, &file))
        return false;
    for (uint32_t p = 0; p < copy->count; p++) {
        const struct move_piece *piece = &work->pieces[copy->first + p];
        bool main = piece->address == copy->address;
        int length = snprintf(name, sizeof name, "%s%s%s", base, clone, main ? "" : ".cold");
        Elf64_Sym symbol = {.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                            .st_shndx = (Elf64_Half)n->old_count,
                            .st_value = move_place_address(work, piece->place),
                            .st_size = piece->size};
        if (length >= (int)sizeof name)
            continue;
        if (!add_string(&n->strings, n->string_base, name, &symbol.st_name) || !add_symbol(n, &symbol))
            return false;
    }
    return true;
}

static bool in_file(const struct move_buffer *file, const Elf64_Shdr *s)
{
    return s->sh_type != SHT_NOBITS && s->sh_offset <= file->size && s->sh_size <= file->size - s->sh_offset;
}

/* Lets symbols through which other files, and this one's own PLT calls, find the functions follow the first copy.
 * But pointers to a function must stay equal: not if the file has the old address elsewhere. */
static void move_dynamic(const struct namer *n, struct move_buffer *file)
{
    const struct move_work *work = n->work;
    const struct move_survey *survey = work->survey;
    for (size_t i = 0; i < n->old_count; i++) {
        const Elf64_Shdr *s = &n->sections->items[i];
        if (s->sh_type != SHT_DYNSYM || !in_file(file, s) || s->sh_entsize != sizeof(Elf64_Sym))
            continue;
        for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= s->sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, file->bytes + s->sh_offset + at, sizeof symbol);
            const struct move_copy *copy = move_copy_find(work, symbol.st_value, 0);
            if (!copy || symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
                (survey->marks[copy->function] & SURVEY_TAKEN && !survey_follows(survey, symbol.st_value)))
                continue;
            symbol.st_value = move_place_address(work, copy->entry);
            symbol.st_shndx = (Elf64_Half)n->old_count;
            for (uint32_t p = copy->first; p < copy->first + copy->count; p++)
                symbol.st_size =
                    work->pieces[p].address == copy->address ? work->pieces[p].size : symbol.st_size;
            memcpy(file->bytes + s->sh_offset + at, &symbol, sizeof symbol);
        }
    }
}

/* Whether another section refers to symbols of the table by index. */
static bool is_indexed(const struct namer *n, size_t table)
{
    for (size_t i = 0; i < n->sections->count; i++) {
        const Elf64_Shdr *s = &n->sections->items[i];
        bool indexes = s->sh_type == SHT_RELA || s->sh_type == SHT_REL || s->sh_type == SHT_GROUP ||
                       s->sh_type == SHT_SYMTAB_SHNDX;
        /* (.rela.plt of static programs has no symbols, but may name the table) */
        if (indexes && s->sh_link == table && s->sh_size &&
            !(s->sh_type == SHT_RELA && (s->sh_flags & SHF_ALLOC)))
            return true;
    }
    return false;
}

/* Appends a section's old bytes, with more inserted behind the first `before`. */
static bool extend_section(struct move_buffer *file, Elf64_Shdr *s, uint64_t before,
                           const struct move_buffer *more)
{
    if (!move_align(file, 0, 8))
        return false;
    size_t start = file->size;
    size_t at = move_append(file, NULL, s->sh_size + more->size);
    if (at == SIZE_MAX)
        return false;
    memcpy(file->bytes + at, file->bytes + s->sh_offset, before);
    if (more->size)
        memcpy(file->bytes + at + before, more->bytes, more->size);
    memcpy(file->bytes + at + before + more->size, file->bytes + s->sh_offset + before, s->sh_size - before);
    s->sh_offset = start;
    s->sh_size += more->size;
    return true;
}

/* Adds the copies to .symtab, if the file has one. */
static int add_symbols(struct namer *n, struct move_buffer *file)
{
    size_t table = 0;
    while (table < n->sections->count && n->sections->items[table].sh_type != SHT_SYMTAB)
        table++;
    if (table == n->sections->count)
        return 0;
    Elf64_Shdr *symtab = &n->sections->items[table];
    if (symtab->sh_link >= n->sections->count || !in_file(file, symtab) || is_indexed(n, table) ||
        symtab->sh_entsize != sizeof(Elf64_Sym) || symtab->sh_info > symtab->sh_size / sizeof(Elf64_Sym))
        return 0;
    Elf64_Shdr *strings = &n->sections->items[symtab->sh_link];
    if (!in_file(file, strings))
        return 0;
    n->string_base = (uint32_t)strings->sh_size;
    bool done = add_string(&n->strings, n->string_base, "moved", &n->file_name);
    for (size_t i = 0; i < n->work->copy_count && done; i++)
        done = add_copy(n, &n->work->copies[i]);
    done = done && extend_section(file, strings, strings->sh_size, &n->strings) &&
           extend_section(file, symtab, symtab->sh_info * sizeof(Elf64_Sym), &n->symbols);
    if (done)
        symtab->sh_info += (uint32_t)(n->symbols.size / sizeof(Elf64_Sym));
    return done ? 0 : -ENOMEM;
}

struct addition {
    const char *name, *old; /* old: new name of the section that had this name; NULL: none had */
    unsigned first, last;   /* buffers */
    Elf64_Shdr header;
};

/* Adds a section behind the old ones. */
static bool add_section(struct namer *n, const struct addition *a, struct move_buffer *names, uint32_t base,
                        const struct move_output *out)
{
    const struct move_buffer *first = &n->work->buffers[a->first], *last = &n->work->buffers[a->last];
    struct move_sections *sections = n->sections;
    Elf64_Shdr section = a->header;
    section.sh_addr = first->address;
    section.sh_offset = first->address - out->address + out->offset;
    section.sh_size = last->address + last->size - first->address;
    for (size_t i = 0; i < n->old_count && a->old; i++)
        if (strcmp(name_of(n->work->survey, sections, i), a->name) == 0)
            if (!add_string(names, base, a->old, &sections->items[i].sh_name))
                return false;
    return add_string(names, base, a->name, &section.sh_name) &&
           vec_push(sections->items, sections->count, sections->capacity, section);
}

static int add_sections(struct namer *n, const struct move_output *out, struct move_buffer *file)
{
    static const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
    const struct addition additions[] = {
        {".text.moved",
         NULL,
         BUFFER_START,
         BUFFER_FAR,
         {.sh_type = SHT_PROGBITS, .sh_flags = code, .sh_addralign = 64}},
        {".rodata.moved",
         NULL,
         BUFFER_DATA,
         BUFFER_DATA,
         {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addralign = 16}},
        {".eh_frame",
         ".eh_frame.old",
         BUFFER_FRAMES,
         BUFFER_FRAMES,
         {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addralign = 8}},
        {".eh_frame_hdr",
         ".eh_frame_hdr.old",
         BUFFER_INDEX,
         BUFFER_INDEX,
         {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addralign = 4}},
    };
    struct move_buffer names = {0};
    Elf64_Shdr table = n->sections->items[n->sections->names];
    bool done = true;
    if (!in_file(file, &table))
        return -ENOTSUP;
    for (size_t i = 0; i < sizeof additions / sizeof *additions && done; i++)
        if (additions[i].first != BUFFER_DATA || n->work->buffers[BUFFER_DATA].size)
            done = add_section(n, &additions[i], &names, (uint32_t)table.sh_size, out);
    done = done && extend_section(file, &n->sections->items[n->sections->names], table.sh_size, &names);
    free(names.bytes);
    return done ? 0 : -ENOMEM;
}

int move_symbols(const struct move_work *work, const struct move_output *out, struct move_buffer *file,
                 struct move_sections *sections)
{
    struct namer n = {.work = work, .sections = sections, .old_count = sections->count};
    move_dynamic(&n, file);
    int rc = add_symbols(&n, file);
    if (rc == 0)
        rc = add_sections(&n, out, file);
    free(n.strings.bytes);
    free(n.symbols.bytes);
    return rc;
}
