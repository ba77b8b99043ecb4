/*
 * unpacked.c - see unpacked.h.
 *
 * The memory file begins like the original, with the bytes of the other sections at their places; the
 * decompressed sections follow, and a new table of names. elf(5), Elf64_Chdr; ".zdebug_" sections begin with
 * "ZLIB" and a size, big-endian.
 */
#include "image/lines/unpacked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/saturate.h"
#include "image/elf/elf_file.h"

#define UNPACKED_MOST                                                                                        \
    (UINT64_C(4) << 30) /* bytes of all sections of a file: half of what the process may use */
#define CHUNK (256u << 10)

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* gABI; older headers lack it */
#endif

struct unpacking {
    int from, to;
    const struct elf_file *file;
    uint64_t end;      /* of what has been written */
    uint64_t sections; /* offset of the table of section headers */
    bool all;          /* include those that libdwarf decompresses */
};

static bool is_old(const struct elf_section *s)
{
    return strncmp(s->name, ".zdebug_", 8) == 0;
}

/* A section's uncompressed size, and the length of the header before its data. false: it is not compressed in
 * these ways. */
static bool is_packed(const struct unpacking *u, const struct elf_section *s, uint64_t *size,
                      uint64_t *header)
{
    uint8_t old[12];
    Elf64_Chdr h;
    if (is_old(s) && s->file_size > sizeof old &&
        pread(u->from, old, sizeof old, (off_t)s->offset) == sizeof old && memcmp(old, "ZLIB", 4) == 0) {
        *size = 0;
        for (size_t i = 4; i < sizeof old; i++)
            *size = *size << 8 | old[i];
        *header = sizeof old;
        return true;
    }
    if (!(s->flags & SHF_COMPRESSED) || s->file_size <= sizeof h ||
        pread(u->from, &h, sizeof h, (off_t)s->offset) != sizeof h ||
        (h.ch_type != ELFCOMPRESS_ZSTD && !(u->all && h.ch_type == ELFCOMPRESS_ZLIB)))
        return false;
    *size = h.ch_size;
    *header = sizeof h;
    return true;
}

static bool write_all(int fd, const uint8_t *data, uint64_t size, uint64_t at)
{
    while (size) {
        ssize_t n = pwrite(fd, data, size, (off_t)at);
        if (n <= 0)
            return false;
        data += n;
        at += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return true;
}

static bool copy_bytes(struct unpacking *u, uint64_t offset, uint64_t size)
{
    uint8_t buffer[CHUNK];
    while (size) {
        ssize_t n =
            pread(u->from, buffer, size < sizeof buffer ? (size_t)size : sizeof buffer, (off_t)offset);
        if (n <= 0 || !write_all(u->to, buffer, (uint64_t)n, offset))
            return false;
        offset += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return true;
}

static bool is_zlib(const struct unpacking *u, const struct elf_section *s)
{
    Elf64_Chdr h;
    return is_old(s) ||
           (pread(u->from, &h, sizeof h, (off_t)s->offset) == sizeof h && h.ch_type == ELFCOMPRESS_ZLIB);
}

/* Decompresses a section. false: damaged. */
static bool unpack_section(const struct unpacking *u, const struct elf_section *s, uint64_t header,
                           uint8_t *out, uint64_t size)
{
    uint64_t packed_size = s->file_size - header;
    uint8_t *in = malloc(packed_size);
    bool good = in && pread(u->from, in, packed_size, (off_t)(s->offset + header)) == (ssize_t)packed_size;
    if (good && is_zlib(u, s)) {
        uLongf got = (uLongf)size;
        good = uncompress(out, &got, in, (uLong)packed_size) == Z_OK && got == size;
    } else if (good) {
        good = ZSTD_decompress(out, size, in, packed_size) == size;
    }
    free(in);
    return good;
}

static bool move_section(struct unpacking *u, size_t index, uint64_t size, uint64_t header)
{
    const struct elf_section *s = &u->file->sections[index];
    Elf64_Shdr sh;
    uint64_t place = u->sections + index * sizeof sh;
    if (size > UNPACKED_MOST || u->end + size - u->file->size > UNPACKED_MOST)
        return false;
    uint8_t *out = malloc(size ? size : 1);
    bool good = out && unpack_section(u, s, header, out, size) && write_all(u->to, out, size, u->end) &&
                pread(u->from, &sh, sizeof sh, (off_t)place) == sizeof sh;
    free(out);
    if (!good)
        return false;
    sh.sh_offset = u->end;
    sh.sh_size = size;
    sh.sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
    u->end += size;
    return write_all(u->to, (const uint8_t *)&sh, sizeof sh, place);
}

/* Makes a table of names without the z of ".zdebug_". */
static bool rename_sections(struct unpacking *u, size_t names)
{
    const struct elf_section *table = &u->file->sections[names];
    Elf64_Shdr sh;
    uint64_t place = u->sections + names * sizeof sh;
    uint8_t *text = malloc(table->file_size + 1);
    bool good = text &&
                pread(u->from, text, table->file_size, (off_t)table->offset) == (ssize_t)table->file_size &&
                pread(u->from, &sh, sizeof sh, (off_t)place) == sizeof sh;
    static const char old[] = ".zdebug_";
    size_t length = sizeof old - 1;
    for (uint64_t i = 0; good && i + length < table->file_size; i++)
        if (memcmp(text + i, old, length) == 0) {
            /* the name stays at its offset, and becomes one shorter */
            size_t rest = strnlen((const char *)text + i, table->file_size - i);
            memmove(text + i + 1, text + i + 2, rest - 2);
            text[i + rest - 1] = 0;
        }
    good = good && write_all(u->to, text, table->file_size, u->end);
    free(text);
    if (!good)
        return false;
    sh.sh_offset = u->end;
    u->end += table->file_size;
    return write_all(u->to, (const uint8_t *)&sh, sizeof sh, place);
}

static bool write_unpacked(struct unpacking *u, const Elf64_Ehdr *header)
{
    const struct elf_file *file = u->file;
    bool good = ftruncate(u->to, (off_t)file->size) == 0 && copy_bytes(u, 0, sizeof *header) &&
                copy_bytes(u, u->sections, file->section_count * sizeof(Elf64_Shdr));
    bool old = false;
    u->end = file->size;
    for (size_t i = 0; good && i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        uint64_t size, skip;
        old |= is_old(s);
        if (is_packed(u, s, &size, &skip))
            good = move_section(u, i, size, skip);
        else if (s->file_size && !(s->flags & SHF_ALLOC))
            good = copy_bytes(u, s->offset, s->file_size);
    }
    return good &&
           (!old || (header->e_shstrndx < file->section_count && rename_sections(u, header->e_shstrndx)));
}

int unpacked_open(const char *path, bool all)
{
    struct elf_file file;
    if (elf_file_open(&file, path, ELF_HEADERS, NULL) < 0)
        return -1;
    Elf64_Ehdr header;
    struct unpacking u = {
        .from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .to = -1, .file = &file, .all = all};
    uint64_t size, skip;
    bool any = false;
    memcpy(&header, file.data, sizeof header);
    u.sections = header.e_shoff;
    for (size_t i = 0; u.from >= 0 && i < file.section_count; i++)
        any |= is_packed(&u, &file.sections[i], &size, &skip);
    if (any)
        u.to = memfd_create("debug information", MFD_CLOEXEC);
    if (u.to >= 0 && !write_unpacked(&u, &header)) {
        close(u.to);
        u.to = -1;
    }
    if (u.from >= 0)
        close(u.from);
    elf_file_close(&file);
    return u.to;
}

/* The sections that libdwarf reads whole; others (locations of variables, indexes of names) are not used. */
static bool is_read(const char *name)
{
    static const char *const kinds[] = {"info",        "abbrev", "line",   "str",     "line_str",
                                        "str_offsets", "addr",   "ranges", "rnglists"};
    bool old = strncmp(name, ".zdebug_", 8) == 0;
    if (!old && strncmp(name, ".debug_", 7) != 0)
        return false;
    name += old ? 8 : 7;
    size_t length = strcspn(name, "."); /* "info.dwo" */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(name, kinds[i], length) == 0 && !kinds[i][length])
            return true;
    return false;
}

uint64_t unpacked_size(const char *path)
{
    struct elf_file file;
    uint64_t sum = 0;
    if (elf_file_open(&file, path, ELF_HEADERS, NULL) < 0)
        return 0;
    struct unpacking u = {.from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .to = -1, .file = &file};
    for (size_t i = 0; u.from >= 0 && i < file.section_count; i++) {
        const struct elf_section *s = &file.sections[i];
        uint64_t size, skip;
        Elf64_Chdr h;
        if (!is_read(s->name))
            continue;
        if (!is_packed(&u, s, &size, &skip))
            size = s->flags & SHF_COMPRESSED && s->file_size > sizeof h &&
                           pread(u.from, &h, sizeof h, (off_t)s->offset) == sizeof h
                       ? h.ch_size
                       : s->file_size;
        sum = add_saturating(sum, size);
    }
    if (u.from >= 0)
        close(u.from);
    elf_file_close(&file);
    return sum;
}
