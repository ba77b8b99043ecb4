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
#define ZLIB_MOST    1032u /* times as many bytes as compressed: 258 by a quarter of one, at most (RFC 1951) */

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

/* Reads the header of a compressed section. false: it is compressed otherwise, or cannot have that size. */
static bool read_header(int fd, bool old, uint64_t flags, struct section *s)
{
    uint8_t size[12];
    Elf64_Chdr h = {0};
    const uint64_t length = old ? sizeof size : flags & SHF_COMPRESSED ? sizeof h : 0;
    void *header = old ? (void *)size : (void *)&h;
    if (!length)
        return true;
    if (s->packed_size <= length || file_read_at(fd, header, length, s->offset) != length ||
        (old && memcmp(size, "ZLIB", 4) != 0))
        return false;
    s->packed = old || h.ch_type == ELFCOMPRESS_ZLIB ? SECTION_ZLIB : SECTION_ZSTD;
    s->size = old ? 0 : h.ch_size;
    for (size_t i = 4; old && i < sizeof size; i++)
        s->size = s->size << 8 | size[i];
    s->offset += length;
    s->packed_size -= length;
    return (s->packed == SECTION_ZLIB || h.ch_type == ELFCOMPRESS_ZSTD) && s->size <= SECTION_MOST &&
           (s->packed != SECTION_ZLIB || s->size / ZLIB_MOST <= s->packed_size);
}

/* Leaves out what nobody reads, and what cannot be read. */
static bool add_section(struct sections *all, const struct elf_section *from)
{
    const bool old = strncmp(from->name, ".zdebug_", 8) == 0;
    struct section s = {.size = from->file_size, .offset = from->offset, .packed_size = from->file_size};
    if ((!old && strncmp(from->name, ".debug_", 7) != 0) || !is_read(from->name + (old ? 8 : 7)) ||
        snprintf(s.name, sizeof s.name, ".debug_%s", from->name + (old ? 8 : 7)) >= (int)sizeof s.name)
        return true;
    if ((from->size && !from->file_size) || !read_header(all->fd, old, from->flags, &s)) {
        all->damaged |= from->type != SHT_NOBITS; /* which has its bytes in another file */
        return true;
    }
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
    if (s->bytes || s->damaged)
        return s->bytes;
    uint8_t *bytes = s->size <= SECTION_MOST ? malloc(s->size ? s->size : 1) : NULL;
    s->damaged = !bytes || !unpack(all, s, bytes);
    if (s->damaged) {
        all->damaged = true;
        free(bytes);
        bytes = NULL;
    }
    return s->bytes = bytes;
}

size_t sections_read(struct sections *all, struct section *s, uint64_t from, void *to, size_t size)
{
    const uint64_t left = from < s->size ? s->size - from : 0;
    size = size < left ? size : (size_t)left;
    if (s->packed == SECTION_PLAIN && !s->bytes)
        return file_read_at(all->fd, to, size, s->offset + from);
    if (!size || !sections_bytes(all, s))
        return 0;
    memcpy(to, s->bytes + from, size);
    return size;
}

uint8_t *sections_copy(struct sections *all, struct section *s, uint64_t from, uint64_t size, uint64_t most)
{
    if (from > s->size || size > s->size - from || size > most)
        return NULL;
    uint8_t *bytes = malloc(size ? size : 1);
    if (bytes && sections_read(all, s, from, bytes, size) < size) {
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
