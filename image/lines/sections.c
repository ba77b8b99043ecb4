/* sections.c - see sections.h. elf(5), Elf64_Chdr; ".zdebug_" sections begin with "ZLIB" and a size, big-endian. */
#include "image/lines/sections.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "image/elf/elf_file.h"

#define SECTION_MOST (UINT64_C(4) << 30) /* decompressed bytes: half of what the process may use */

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* gABI; older headers lack it */
#endif

/* Whether something reads the section, by its name without ".debug_": not the locations of variables, nor indexes of names. */
static bool is_read(const char *name)
{
    static const char *const kinds[] = {"info",        "abbrev", "line",   "str",      "line_str",
                                        "str_offsets", "addr",   "ranges", "rnglists", "cu_index"};
    const size_t length = strcspn(name, "."); /* "info.dwo" */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(name, kinds[i], length) == 0 && !kinds[i][length])
            return true;
    return false;
}

/* Reads the header of a compressed section. */
static void read_header(int fd, bool old, uint64_t flags, struct section *s)
{
    uint8_t size[12];
    Elf64_Chdr h;
    if (old && s->packed_size > sizeof size &&
        file_read_at(fd, size, sizeof size, s->offset) == sizeof size && memcmp(size, "ZLIB", 4) == 0) {
        s->size = 0;
        for (size_t i = 4; i < sizeof size; i++)
            s->size = s->size << 8 | size[i];
        s->offset += sizeof size;
        s->packed_size -= sizeof size;
        s->packed = SECTION_ZLIB;
    } else if (flags & SHF_COMPRESSED && s->packed_size > sizeof h &&
               file_read_at(fd, (uint8_t *)&h, sizeof h, s->offset) == sizeof h &&
               (h.ch_type == ELFCOMPRESS_ZLIB || h.ch_type == ELFCOMPRESS_ZSTD)) {
        s->size = h.ch_size;
        s->offset += sizeof h;
        s->packed_size -= sizeof h;
        s->packed = h.ch_type == ELFCOMPRESS_ZLIB ? SECTION_ZLIB : SECTION_ZSTD;
    }
}

static bool add_section(struct sections *all, const struct elf_section *from)
{
    const bool old = strncmp(from->name, ".zdebug_", 8) == 0;
    struct section s = {.size = from->file_size, .offset = from->offset, .packed_size = from->file_size};
    if ((!old && strncmp(from->name, ".debug_", 7) != 0) || !is_read(from->name + (old ? 8 : 7)) ||
        snprintf(s.name, sizeof s.name, ".debug_%s", from->name + (old ? 8 : 7)) >= (int)sizeof s.name)
        return true;
    read_header(all->fd, old, from->flags, &s);
    return vec_push(all->items, all->count, all->capacity, s);
}

struct sections *sections_new(void)
{
    struct sections *all = calloc(1, sizeof *all);
    if (all)
        all->fd = -1;
    return all;
}

struct sections *sections_open(const char *path)
{
    struct sections *all = sections_new();
    struct elf_file elf = {0};
    char name[40];
    if (!all || (all->fd = file_open_regular(path, NULL)) < 0) {
        sections_close(all);
        return NULL;
    }
    /* If the file has since been replaced by a pipe, its path would wait for a writer. */
    snprintf(name, sizeof name, "/proc/self/fd/%d", all->fd);
    bool good = elf_file_open(&elf, name, ELF_HEADERS, NULL) == 0;
    for (size_t i = 0; good && i < elf.section_count; i++)
        good = add_section(all, &elf.sections[i]);
    elf_file_close(&elf);
    if (good)
        return all;
    sections_close(all);
    return NULL;
}

bool sections_add(struct sections *all, const char *name, uint8_t *bytes, uint64_t size)
{
    struct section s = {.size = size, .bytes = bytes};
    snprintf(s.name, sizeof s.name, "%s", name);
    if (vec_push(all->items, all->count, all->capacity, s))
        return true;
    free(bytes);
    return false;
}

void sections_close(struct sections *all)
{
    if (!all)
        return;
    if (all->fd >= 0)
        close(all->fd);
    for (size_t i = 0; i < all->count; i++)
        free(all->items[i].bytes);
    free(all->items);
    free(all);
}

struct section *sections_find(const struct sections *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].name, name) == 0)
            return &all->items[i];
    return NULL;
}

static bool unpack_zlib(const uint8_t *in, size_t in_size, uint8_t *out, size_t size)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    const bool good = d && libdeflate_zlib_decompress(d, in, in_size, out, size, NULL) == LIBDEFLATE_SUCCESS;
    if (d)
        libdeflate_free_decompressor(d);
    return good;
}

static bool unpack(const struct sections *all, const struct section *s, uint8_t *out)
{
    if (s->packed == SECTION_PLAIN)
        return file_read_at(all->fd, out, s->size, s->offset) == s->size;
    uint8_t *in = malloc(s->packed_size);
    const bool good =
        in && file_read_at(all->fd, in, s->packed_size, s->offset) == s->packed_size &&
        (s->packed == SECTION_ZLIB ? unpack_zlib(in, s->packed_size, out, s->size)
                                   : ZSTD_decompress(out, s->size, in, s->packed_size) == s->size);
    free(in);
    return good;
}

uint8_t *sections_bytes(struct sections *all, struct section *s)
{
    if (s->bytes)
        return s->bytes;
    uint8_t *bytes = s->size <= SECTION_MOST ? malloc(s->size ? s->size : 1) : NULL;
    if (bytes && !unpack(all, s, bytes)) {
        free(bytes);
        return NULL;
    }
    return s->bytes = bytes;
}

uint8_t *sections_copy(struct sections *all, struct section *s, uint64_t from, uint64_t size, uint64_t most)
{
    if (from > s->size || size > s->size - from || size > most)
        return NULL;
    if (s->packed != SECTION_PLAIN && !sections_bytes(all, s))
        return NULL;
    uint8_t *bytes = malloc(size ? size : 1);
    if (bytes && s->bytes) {
        memcpy(bytes, s->bytes + from, size);
    } else if (bytes && file_read_at(all->fd, bytes, size, s->offset + from) < size) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

uint64_t sections_size(const char *path)
{
    struct sections *all = sections_open(path);
    uint64_t sum = 0;
    for (size_t i = 0; all && i < all->count; i++)
        sum = add_saturating(sum, all->items[i].size);
    sections_close(all);
    return sum;
}
