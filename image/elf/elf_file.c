/* elf_file.c - reads and checks ELF headers (System V ABI, chapters 4 and 5); see elf_file.h. Not by libelf, which takes memory for
 * as many sections as a file claims. */
#include "image/elf/elf_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "image/elf/note.h"

/* Limit for the header tables, far above any real file's. */
#define MAX_SEGMENTS 4096
#define MAX_SECTIONS (1 << 18)

/* A sampled program runs little of a large library, so its code is read on demand: reading all of it would cost
 * more than all work on it. */
#define LATE_LEAST      ((uint64_t)1 << 20) /* bytes */
#define LATE_FILES_MOST 200u /* files open at once for that, of the 1,024 that a process may have */

static atomic_uint late_files;

static int damaged_file(struct fathom_error *err, const char *path, const char *what)
{
    return error_set(err, EBADMSG, "%s is a damaged ELF file: %s", path, what);
}

/* Ensures that these bytes are loaded, as far as the file goes. */
static int need_bytes(const struct elf_file *file, uint64_t offset, uint64_t size, struct fathom_error *err)
{
    if (!file->view || offset >= file->size)
        return 0;
    return file_view_need(file->view, offset, size < file->size - offset ? size : file->size - offset, err);
}

/* dwz's files are ET_REL: they have a build-id but are not images. */
static int check_header(struct elf_file *file, const char *path, enum elf_part part, struct fathom_error *err)
{
    const uint8_t *d = file->data;
    int rc = need_bytes(file, 0, sizeof(Elf64_Ehdr), err);
    if (rc < 0)
        return rc;
    if (file->size < SELFMAG || memcmp(d, ELFMAG, SELFMAG) != 0)
        return error_set(err, ENOEXEC, "%s is not an ELF file", path);
    if (file->size < sizeof(Elf64_Ehdr))
        return damaged_file(err, path, "its header is truncated");
    Elf64_Ehdr header;
    memcpy(&header, d, sizeof header);
    if (d[EI_CLASS] != ELFCLASS64 || d[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64)
        return error_set(err, ENOEXEC, "%s is not an x86-64 ELF file", path);
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN &&
        !(header.e_type == ET_REL && part == ELF_HEADERS))
        return error_set(err, ENOEXEC, "%s is neither an executable nor a shared object", path);
    return 0;
}

#define NOTES_MOST 65536u /* bytes searched in one section */

static void read_notes(struct elf_file *file, uint64_t offset, uint64_t size)
{
    if (offset > file->size || size > file->size - offset || file->build_id.size)
        return;
    if (size > NOTES_MOST)
        size = NOTES_MOST;
    if (need_bytes(file, offset, size, NULL) < 0)
        return;
    struct bytes b = bytes_of(file->data + offset, size);
    for (struct elf_note note; elf_note_next(&b, &note);)
        if (elf_note_is(&note, "GNU", NT_GNU_BUILD_ID) && note.size > 0) {
            file->build_id_at = (uint64_t)(note.data - file->data);
            file->build_id_bytes = note.size;
            file->build_id.size = (uint8_t)(note.size < BUILD_ID_MAX ? note.size : BUILD_ID_MAX);
            memcpy(file->build_id.bytes, note.data, file->build_id.size);
            return;
        }
}

static int add_segment(struct elf_file *file, const Elf64_Phdr *ph, const char *path,
                       struct fathom_error *err)
{
    struct elf_segment s = {ph->p_offset, ph->p_vaddr, ph->p_filesz, ph->p_memsz, ph->p_flags & PF_X};
    if (s.memory_size == 0)
        return 0;
    if (s.file_size > s.memory_size || s.address + s.memory_size < s.address)
        return damaged_file(err, path, "a segment has invalid sizes");
    if (s.file_size && (s.offset > file->size || s.file_size > file->size - s.offset)) {
        file->cut = true;
        s.file_size = s.offset > file->size ? 0 : file->size - s.offset;
    }
    if (file->segment_count) {
        const struct elf_segment *last = &file->segments[file->segment_count - 1];
        if (s.address < last->address + last->memory_size)
            return damaged_file(err, path, "its segments overlap");
    }
    file->segments[file->segment_count++] = s;
    if (s.executable) {
        uint64_t end = s.address + s.memory_size;
        if (file->code_high == 0)
            file->code_low = s.address;
        file->code_high = end;
        if (file->code_high - file->code_low > UINT32_MAX)
            return damaged_file(err, path, "its code spans more than 4 GiB");
    }
    return 0;
}

/* Where the header tables are. */
struct tables {
    uint64_t segments_at, segments, sections_at, sections;
    uint64_t names; /* the number of the section with the names of sections */
};

/* Whether a table's entries are inside of the file; they are loaded then. */
static bool load_table(const struct elf_file *file, uint64_t at, uint64_t count, size_t entry,
                       struct fathom_error *err, int *rc)
{
    if (at > file->size || count > (file->size - at) / entry)
        return false;
    *rc = need_bytes(file, at, count * entry, err);
    return *rc == 0;
}

/* The first section header has what is too large for the file's header. */
static int find_tables(const struct elf_file *file, struct tables *out, struct fathom_error *err)
{
    Elf64_Ehdr h;
    Elf64_Shdr first = {0};
    int rc = 0;
    memcpy(&h, file->data, sizeof h);
    if (h.e_shoff && load_table(file, h.e_shoff, 1, sizeof first, err, &rc))
        memcpy(&first, file->data + h.e_shoff, sizeof first);
    *out = (struct tables){.segments_at = h.e_phoff,
                           .segments = h.e_phnum == PN_XNUM ? first.sh_info : h.e_phnum,
                           .sections_at = h.e_shoff,
                           .sections = h.e_shnum ? h.e_shnum : first.sh_size,
                           .names = h.e_shstrndx == SHN_XINDEX ? first.sh_link : h.e_shstrndx};
    return rc;
}

static int read_segments(struct elf_file *file, const struct tables *t, const char *path,
                         struct fathom_error *err)
{
    int rc = 0;
    if (t->segments == 0)
        return 0;
    if (t->segments > MAX_SEGMENTS ||
        !load_table(file, t->segments_at, t->segments, sizeof(Elf64_Phdr), err, &rc))
        return rc ? rc : damaged_file(err, path, "its program headers cannot be read");
    file->segments = calloc(t->segments, sizeof *file->segments);
    if (!file->segments)
        return error_memory(err);
    for (size_t i = 0; rc == 0 && i < t->segments; i++) {
        Elf64_Phdr ph; /* in a damaged file it may be unaligned */
        memcpy(&ph, file->data + t->segments_at + i * sizeof ph, sizeof ph);
        if (ph.p_type == PT_LOAD)
            rc = add_segment(file, &ph, path, err);
        else if (ph.p_type == PT_NOTE)
            read_notes(file, ph.p_offset, ph.p_filesz);
        else if (ph.p_type == PT_GNU_EH_FRAME)
            file->eh_frame_header = ph.p_vaddr;
        else if (ph.p_type == PT_DYNAMIC) {
            file->dynamic_address = ph.p_vaddr;
            file->dynamic_size = ph.p_filesz;
        } else if (ph.p_type == PT_TLS) {
            file->thread_size = (ph.p_memsz + ph.p_align - 1) & -ph.p_align;
        }
    }
    return rc;
}

static Elf64_Shdr section_header(const struct elf_file *file, const struct tables *t, uint64_t number)
{
    Elf64_Shdr header;
    memcpy(&header, file->data + t->sections_at + number * sizeof header, sizeof header);
    return header;
}

/* Loads the names of the sections. *size 0: they cannot be read. */
static const char *load_names(const struct elf_file *file, const struct tables *t, uint64_t *size)
{
    const Elf64_Shdr h = t->names < t->sections ? section_header(file, t, t->names) : (Elf64_Shdr){0};
    int rc = 0;
    *size = 0;
    if (h.sh_type == SHT_NOBITS || !h.sh_size || !load_table(file, h.sh_offset, h.sh_size, 1, NULL, &rc) ||
        file->data[h.sh_offset + h.sh_size - 1] != '\0')
        return NULL;
    *size = h.sh_size;
    return (const char *)file->data + h.sh_offset;
}

/* Section headers may be missing or wrong: then only the segments are used. */
static int read_sections(struct elf_file *file, const struct tables *t, const char *path,
                         struct fathom_error *err)
{
    int rc = 0;
    if (t->sections > MAX_SECTIONS)
        return damaged_file(err, path, "it claims more than 262144 sections");
    if (!t->sections || !load_table(file, t->sections_at, t->sections, sizeof(Elf64_Shdr), err, &rc))
        return rc;
    uint64_t names_size;
    const char *names = load_names(file, t, &names_size);
    file->sections = calloc(t->sections, sizeof *file->sections);
    if (!file->sections)
        return error_memory(err);
    file->section_count = t->sections;
    for (size_t i = 0; i < t->sections; i++) {
        const Elf64_Shdr sh = section_header(file, t, i);
        const bool inside = sh.sh_offset <= file->size && sh.sh_size <= file->size - sh.sh_offset;
        struct elf_section *s = &file->sections[i];
        *s = (struct elf_section){.name = sh.sh_name < names_size ? names + sh.sh_name : "",
                                  .type = sh.sh_type,
                                  .link = sh.sh_link,
                                  .flags = sh.sh_flags,
                                  .address = sh.sh_addr,
                                  .offset = sh.sh_offset,
                                  .size = sh.sh_size,
                                  .file_size = sh.sh_type != SHT_NOBITS && inside ? sh.sh_size : 0};
        if (s->type == SHT_NOTE)
            read_notes(file, s->offset, s->file_size);
    }
    return 0;
}

static bool is_debug_information(const struct elf_section *section)
{
    return strncmp(section->name, ".debug_", 7) == 0 || strncmp(section->name, ".zdebug_", 8) == 0;
}

/* Loads bytes [from, to), except those that are read on demand. */
static int need_early(const struct elf_file *file, uint64_t from, uint64_t to, struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < file->late_count; i++) {
        const uint64_t before = to < file->late[i].from ? to : file->late[i].from;
        if (from < before)
            rc = need_bytes(file, from, before - from, err);
        from = from > file->late[i].to ? from : file->late[i].to;
    }
    return rc == 0 && from < to ? need_bytes(file, from, to - from, err) : rc;
}

/* Loads what an image needs, except what is read on demand. */
static int need_image(const struct elf_file *file, struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < file->segment_count; i++) {
        const struct elf_segment *s = &file->segments[i];
        rc = need_early(file, s->offset, s->offset + s->file_size, err);
    }
    for (size_t i = 0; rc == 0 && i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        if (!is_debug_information(s))
            rc = need_early(file, s->offset, s->offset + s->file_size, err);
    }
    return rc;
}

bool elf_file_is_late(const struct elf_file *file)
{
    return file->late_count && file->view->fd >= 0;
}

static void settle_late(const struct elf_file *file)
{
    if (elf_file_is_late(file))
        atomic_fetch_sub(&late_files, 1);
    file_view_settle(file->view);
}

/* Chooses the ranges to read on demand, for which the file is kept open. */
static void find_late(struct elf_file *file)
{
    uint64_t end = 0;
    for (size_t i = 0; i < file->section_count && file->late_count < 2; i++) {
        const struct elf_section *s = &file->sections[i];
        if ((strcmp(s->name, ".text") != 0 && strcmp(s->name, ".rodata") != 0) || s->file_size < LATE_LEAST ||
            s->offset < end)
            continue;
        end = s->offset + s->file_size;
        file->late[file->late_count++] = (struct elf_late){s->offset, end};
    }
    if (file->late_count && atomic_fetch_add(&late_files, 1) >= LATE_FILES_MOST) {
        atomic_fetch_sub(&late_files, 1);
        file->late_count = 0;
    }
}

int elf_file_need_code(const struct elf_file *file, struct fathom_error *err)
{
    if (!elf_file_is_late(file))
        return 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < file->late_count; i++)
        rc = file_view_need_same(file->view, file->late[i].from, file->late[i].to - file->late[i].from, err);
    if (rc == 0)
        settle_late(file);
    return rc;
}

static int load_part(struct elf_file *file, const char *path, enum elf_part part, struct fathom_error *err)
{
    struct tables tables = {0};
    Elf64_Ehdr header;
    int rc = check_header(file, path, part, err);
    rc = rc ? rc : find_tables(file, &tables, err);
    if (rc < 0)
        return rc;
    memcpy(&header, file->data, sizeof header);
    file->type = header.e_type;
    file->entry = header.e_entry;
    rc = read_segments(file, &tables, path, err);
    return rc ? rc : read_sections(file, &tables, path, err);
}

int elf_file_open(struct elf_file *out, const char *path, enum elf_part part, struct fathom_error *err)
{
    struct elf_file file = {0};
    file.view = calloc(1, sizeof *file.view);
    if (!file.view)
        return error_memory(err);
    int rc = file_view_open(path, file.view, err);
    if (rc == 0) {
        file.data = file.view->data;
        file.size = file.view->size;
        rc = load_part(&file, path, part, err);
    }
    if (rc == 0 && part == ELF_CODE) {
        find_late(&file);
        rc = need_image(&file, err);
    }
    if (!file.late_count)
        file_view_settle(file.view);
    if (rc < 0) {
        elf_file_close(&file);
        return rc;
    }
    *out = file;
    return 0;
}

int elf_file_open_memory(struct elf_file *out, const char *path, const void *data, size_t size,
                         struct fathom_error *err)
{
    struct elf_file file = {.size = size};
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return error_memory(err);
    if (size)
        memcpy(copy, data, size);
    file.data = copy;
    int rc = load_part(&file, path, ELF_CODE, err);
    if (rc < 0) {
        elf_file_close(&file);
        return rc;
    }
    *out = file;
    return 0;
}

void elf_file_close(struct elf_file *file)
{
    if (file->view) {
        settle_late(file);
        file_view_close(file->view);
        free(file->view);
    } else {
        free((void *)(uintptr_t)file->data);
    }
    free(file->segments);
    free(file->sections);
    *file = (struct elf_file){0};
}

const struct elf_section *elf_file_section(const struct elf_file *file, const char *name)
{
    for (size_t i = 0; i < file->section_count; i++)
        if (strcmp(file->sections[i].name, name) == 0)
            return &file->sections[i];
    return NULL;
}

bool elf_file_has_debug_info(const struct elf_file *file)
{
    return elf_file_section(file, ".debug_info") || elf_file_section(file, ".zdebug_info");
}

bool elf_file_names_more(const char *path, const struct elf_file *other)
{
    struct elf_file file;
    if (elf_file_open(&file, path, ELF_HEADERS, NULL) < 0)
        return false;
    const bool more = build_id_equal(&file.build_id, &other->build_id) &&
                      ((elf_file_section(&file, ".symtab") && !elf_file_section(other, ".symtab")) ||
                       (elf_file_has_debug_info(&file) && !elf_file_has_debug_info(other)));
    elf_file_close(&file);
    return more;
}

/* Reads bytes into their place or, if it is not NULL, into the buffer. Not if the file has changed, as the
 * image's tables would not fit it. false: it has changed (reported once), or another failure. */
static bool read_late(const struct elf_file *file, uint64_t offset, uint64_t size, uint8_t *buffer)
{
    struct fathom_error err;
    const bool lost = file->view->lost;
    int rc = buffer ? file_view_copy_same(file->view, offset, buffer, (size_t)size, &err)
                    : file_view_need_same(file->view, offset, size, &err);
    if (rc < 0 && !lost)
        log_write(file->log, LOG_WARNING, "%s; what its code tells is not known from here on", err.text);
    return rc == 0;
}

/* Whether the bytes are loaded, or could be loaded now. */
static bool has_bytes(const struct elf_file *file, uint64_t offset, uint64_t size)
{
    bool late = false;
    for (size_t i = 0; i < file->late_count; i++)
        late |= offset < file->late[i].to && offset + size > file->late[i].from;
    return !late || !elf_file_is_late(file) || read_late(file, offset, size, NULL);
}

const uint8_t *elf_section_bytes(const struct elf_file *file, const struct elf_section *section, size_t *size)
{
    *size = section && has_bytes(file, section->offset, section->file_size) ? section->file_size : 0;
    return *size ? file->data + section->offset : NULL;
}

const uint8_t *elf_file_bytes(const struct elf_file *file, uint64_t address, uint64_t most, size_t *size)
{
    *size = 0;
    for (size_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *s = &file->segments[i];
        const uint64_t at = address - s->address;
        if (at >= s->file_size)
            continue;
        const uint64_t offset = s->offset + at, left = s->file_size - at;
        uint64_t wanted = most < left ? most : left;
        for (size_t k = 0; most == ELF_REST && elf_file_is_late(file) && k < file->late_count; k++)
            if (offset < file->late[k].from && wanted > file->late[k].from - offset)
                wanted = file->late[k].from - offset;
        if (!has_bytes(file, offset, wanted))
            return NULL;
        *size = wanted;
        return file->data + s->offset + at;
    }
    return NULL;
}

int elf_file_see_code(const struct elf_file *file, size_t more, elf_see_code *see, void *context)
{
    int rc = 0;
    uint8_t *buffer = malloc(ELF_PIECE + more);
    for (size_t i = 0; buffer && i < file->segment_count; i++) {
        const struct elf_segment *s = &file->segments[i];
        for (uint64_t at = 0; s->executable && rc == 0 && at < s->file_size; at += ELF_PIECE) {
            const uint64_t left = s->file_size - at;
            const size_t size = left < ELF_PIECE + more ? left : ELF_PIECE + more;
            const bool late = elf_file_is_late(file);
            if (!late || read_late(file, s->offset + at, size, buffer))
                rc = see(context, late ? buffer : file->data + s->offset + at, size, s->address + at);
        }
    }
    free(buffer);
    return buffer ? rc : -ENOMEM;
}

void elf_file_see_words(const struct elf_file *file, elf_see_word *see, void *context)
{
    elf_file_need_code(file, NULL);
    for (size_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *s = &file->segments[i];
        for (uint64_t at = -s->address % 8; !s->executable && at + 8 <= s->file_size; at += 8) {
            uint64_t word;
            memcpy(&word, file->data + s->offset + at, sizeof word);
            see(context, s->address + at, word);
        }
    }
}

bool elf_file_is_code(const struct elf_file *file, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *s = &file->segments[i];
        if (s->executable && address - s->address < s->memory_size)
            return size <= s->memory_size - (address - s->address);
    }
    return false;
}

bool elf_file_dynamic_next(const struct elf_file *file, int64_t tag, size_t *at, uint64_t *value)
{
    size_t size;
    const uint8_t *p = elf_file_bytes(file, file->dynamic_address, ELF_REST, &size);
    if (size > file->dynamic_size)
        size = file->dynamic_size;
    while (size >= sizeof(Elf64_Dyn) && *at <= size - sizeof(Elf64_Dyn)) {
        Elf64_Dyn d;
        memcpy(&d, p + *at, sizeof d);
        if (d.d_tag == DT_NULL)
            return false;
        *at += sizeof d;
        if (d.d_tag == tag) {
            *value = d.d_un.d_val;
            return true;
        }
    }
    return false;
}

bool elf_file_dynamic(const struct elf_file *file, int64_t tag, uint64_t *value)
{
    size_t at = 0;
    return elf_file_dynamic_next(file, tag, &at, value);
}

const char *elf_file_dynamic_name(const struct elf_file *file, uint64_t at)
{
    uint64_t strings;
    size_t size;
    const uint8_t *name =
        elf_file_dynamic(file, DT_STRTAB, &strings) ? elf_file_bytes(file, strings, ELF_REST, &size) : NULL;
    return name && at < size && memchr(name + at, 0, size - at) ? (const char *)name + at : NULL;
}

bool elf_file_thread_variable(const struct elf_file *file, uint64_t value, int64_t *from_base)
{
    uint64_t flags;
    const bool is_program =
        file->type == ET_EXEC || (elf_file_dynamic(file, DT_FLAGS_1, &flags) && flags & DF_1_PIE);
    *from_base = (int64_t)(value - file->thread_size);
    return is_program && value < file->thread_size;
}
