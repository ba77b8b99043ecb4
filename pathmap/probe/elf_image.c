/*
 * elf_image.c - see elf_image.h.
 *
 * The loader's public list (struct link_map) gives an image's bias and the address of its dynamic section,
 * for all namespaces and without a lock; /proc/self/maps gives the file and where its ELF header and its
 * program headers are mapped. dl_iterate_phdr() would take locks, sees one namespace, and
 * some programs replace it.
 */
#include "pathmap/probe/elf_image.h"

#include <elf.h>

#include "pathmap/probe/maps.h"
#include "base/raw.h"

/* Where an image's headers are in memory. */
struct headers {
    const Elf64_Ehdr *elf; /* NULL: the mapping before the dynamic section's is not the file's start */
    const Elf64_Phdr *programs;
    uint64_t device, inode;
};

/* Takes a mapping with the ELF header, or one with the program headers, which may have been moved elsewhere in
 * the file. */
static void see_mapping(struct headers *h, const struct maps_line *line)
{
    if (!line->inode || !(line->prot & PROT_READ))
        return;
    if (line->offset == 0) {
        const Elf64_Ehdr *elf = (const void *)line->start;
        bool is_elf = line->end - line->start >= sizeof *elf && raw_equal(elf->e_ident, ELFMAG, SELFMAG) &&
                      elf->e_ident[EI_CLASS] == ELFCLASS64 && elf->e_phentsize == sizeof(Elf64_Phdr);
        *h = (struct headers){is_elf ? elf : NULL, NULL, line->device, line->inode};
    }
    if (!h->elf || h->programs || line->device != h->device || line->inode != h->inode)
        return;
    uint64_t size = line->end - line->start, at = h->elf->e_phoff - line->offset;
    if (h->elf->e_phoff >= line->offset && at <= size && h->elf->e_phnum <= (size - at) / sizeof(Elf64_Phdr))
        h->programs = (const void *)(line->start + at);
}

/* Finds the headers of the image, and its path. */
static bool find_headers(struct elf_image *out, uint64_t dynamic, struct headers *h)
{
    struct maps maps;
    struct maps_line line;
    bool found = false;
    *h = (struct headers){0};
    if (!maps_open(&maps))
        return false;
    while (!(found && (h->programs || !h->elf)) && maps_next(&maps, &line)) {
        if (found && line.offset == 0 && line.inode)
            break; /* the next file's */
        see_mapping(h, &line);
        if (dynamic < line.start || dynamic >= line.end)
            continue;
        found = true;
        raw_append(out->path, sizeof out->path, 0, line.path);
        if (line.inode != h->inode || line.device != h->device)
            h->elf = NULL;
    }
    maps_close(&maps);
    return found;
}

static bool add_code(struct patch_target *place, const Elf64_Phdr *p)
{
    if (place->code_count == PATCH_SEGMENTS)
        return false;
    struct patch_segment *s = &place->code[place->code_count++];
    s->low = RAW_PAGE_DOWN(place->bias + p->p_vaddr);
    s->high = RAW_PAGE_UP(place->bias + p->p_vaddr + p->p_filesz);
    s->prot = (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) | PROT_EXEC;
    return true;
}

static bool read_segments(struct patch_target *place, const Elf64_Phdr *headers, uint32_t count)
{
    place->low = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const Elf64_Phdr *p = &headers[i];
        if (p->p_type != PT_LOAD || p->p_memsz == 0)
            continue;
        uint64_t low = RAW_PAGE_DOWN(place->bias + p->p_vaddr);
        uint64_t high = RAW_PAGE_UP(place->bias + p->p_vaddr + p->p_memsz);
        if (high <= low || p->p_filesz > p->p_memsz)
            return false;
        place->low = low < place->low ? low : place->low;
        place->high = high > place->high ? high : place->high;
        if ((p->p_flags & PF_X) && !add_code(place, p))
            return false;
    }
    return place->low < place->high;
}

static void read_build_id(struct elf_image *out, const Elf64_Phdr *p)
{
    uint64_t at = out->place.bias + p->p_vaddr, end = at + p->p_filesz;
    if (at < out->place.low || end > out->place.high || end < at)
        return;
    while (end - at >= sizeof(Elf64_Nhdr)) {
        const Elf64_Nhdr *note = (const void *)at;
        uint64_t name = at + sizeof *note, data = name + ((note->n_namesz + 3ull) & ~3ull);
        uint64_t next = data + ((note->n_descsz + 3ull) & ~3ull);
        if (next > end || next <= at)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && raw_equal((void *)name, "GNU", 4) &&
            note->n_descsz <= sizeof out->build_id) {
            out->build_id_size = note->n_descsz;
            raw_copy(out->build_id, (void *)data, note->n_descsz);
            return;
        }
        at = next;
    }
}

static bool has_relocated_code(uint64_t dynamic)
{
    for (const Elf64_Dyn *d = (const void *)dynamic; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && (d->d_un.d_val & DF_TEXTREL)))
            return true;
    return false;
}

const char *elf_image_read(struct elf_image *out, uint64_t bias, uint64_t dynamic)
{
    struct headers h;
    raw_fill(out, 0, sizeof *out);
    out->place.bias = bias;
    if (!find_headers(out, dynamic, &h))
        return "it is not in /proc/self/maps";
    if (out->path[0] != '/')
        return NULL;
    if (!h.elf || !h.programs)
        return "its program headers are not in memory";
    const Elf64_Ehdr *elf = h.elf;
    const Elf64_Phdr *headers = h.programs;
    uint64_t start = (uint64_t)(uintptr_t)elf;
    if (!read_segments(&out->place, headers, elf->e_phnum) || start < out->place.low ||
        start >= out->place.high)
        return "its segments are invalid";
    for (uint32_t i = 0; i < elf->e_phnum && out->build_id_size == 0; i++)
        if (headers[i].p_type == PT_NOTE)
            read_build_id(out, &headers[i]);
    out->relocated_code = has_relocated_code(dynamic);
    return NULL;
}
