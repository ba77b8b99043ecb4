/* moved_text.c - see moved_text.h. */
#include "collector/targets/moved_text.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "image/elf/elf_file.h"
#include "image/mapped_name.h"

#define PAGE     4096u
#define COMPARED 8u  /* pages of a mapping; one byte in four may differ, as code is patched */
#define LEAST    16u /* equal bytes required */
#define LOOKS                                                                                                \
    64u /* per process: each look reads its list of mappings; just-in-time compilers map code all the time */
#define TRIES 4u /* rounds in which a process may still be copying */

struct moved_text {
    pid_t pid;
    uint64_t time;
    unsigned tries;
};

/* Whether it is a file that may be a program or a library. */
static bool is_file(const struct vma *vma)
{
    return vma->inode && mapped_kind(vma->path) == MAPPED_FILE;
}

/* Whether a name is that of a file, as seen by the process, that is neither a program nor a library. */
static bool is_other_file(pid_t pid, const char *name)
{
    char path[PATH_MAX], magic[4];
    if (snprintf(path, sizeof path, "/proc/%d/root%s", (int)pid, name) >= (int)sizeof path)
        return false;
    int fd = file_open_regular(path, NULL);
    if (fd < 0)
        return false;
    bool other = pread(fd, magic, sizeof magic, 0) != sizeof magic || memcmp(magic, "\177ELF", 4) != 0;
    close(fd);
    return other;
}

bool moved_text_may_be(pid_t pid, const char *name)
{
    if (name[0] == '[' && strncmp(name, "[anon", 5) != 0)
        return false;
    return mapped_kind(name) != MAPPED_FILE || mapped_is_gone(name) || is_other_file(pid, name);
}

/* Number of code bytes, without zeros, which may be padding, and of those that are the same in memory. */
struct likeness {
    uint64_t all, same;
};

static void compare_page(const uint8_t *memory, size_t got, const uint8_t *file, size_t size,
                         struct likeness *out)
{
    for (size_t i = 0; i < size; i++) {
        out->all += file[i] != 0;
        out->same += file[i] != 0 && i < got && memory[i] == file[i];
    }
}

/* Whether memory from `start` on equals the file from `offset` to `end`, both in the file. */
static bool is_copy(pid_t pid, uint64_t start, int fd, uint64_t offset, uint64_t end)
{
    uint8_t memory[PAGE], file[PAGE];
    uint64_t pages = (end - offset + PAGE - 1) / PAGE, step = pages > COMPARED ? pages / COMPARED : 1;
    struct likeness like = {0};
    for (uint64_t i = 0, compared = 0; i < pages && compared < COMPARED; i += step, compared++) {
        uint64_t at = offset + i * PAGE;
        size_t size = end - at < PAGE ? (size_t)(end - at) : PAGE;
        if (pread(fd, file, size, (off_t)at) != (ssize_t)size)
            return false;
        compare_page(memory, proc_read_memory(pid, start + i * PAGE, memory, size), file, size, &like);
    }
    return like.same >= LEAST && like.same * 4 >= like.all * 3;
}

/* Adds the part of the mapping that contains the code of a segment, if any, of a file loaded at `bias`. */
static void add_code(pid_t pid, const struct vma *vma, int fd, const struct elf_segment *code, uint64_t bias,
                     const struct vma *file, struct moved_pieces *out)
{
    uint64_t skipped = code->address % PAGE, first = bias + code->address - skipped;
    uint64_t end = first + ((skipped + code->file_size + PAGE - 1) & ~(uint64_t)(PAGE - 1));
    struct vma as = *vma;
    if (as.start < first)
        as.start = first;
    if (as.end > end)
        as.end = end;
    if (!code->executable || as.start >= as.end || code->offset < skipped || out->count == MOVED_PIECES)
        return;
    as.offset = code->offset - skipped + (as.start - first);
    uint64_t file_end = code->offset + code->file_size;
    if (file_end > as.offset + (as.end - as.start))
        file_end = as.offset + (as.end - as.start);
    if (as.offset >= file_end || !is_copy(pid, as.start, fd, as.offset, file_end))
        return;
    as.inode = file->inode;
    as.maj = file->maj;
    as.min = file->min;
    as.path = file->path;
    out->list[out->count++] = as;
}

static void add_file(pid_t pid, const struct vma *vma, int fd, const struct elf_file *elf, uint64_t bias,
                     const struct vma *file, struct moved_pieces *out)
{
    for (size_t i = 0; i < elf->segment_count; i++)
        add_code(pid, vma, fd, &elf->segments[i], bias, file, out);
}

/* Tries each load address of the file that follows if `beside` maps one of its segments. */
static void add_by_segments(pid_t pid, const struct vma *vma, int fd, const struct elf_file *elf,
                            const struct vma *beside, struct moved_pieces *out)
{
    for (size_t i = 0; i < elf->segment_count && !out->count; i++) {
        const struct elf_segment *known = &elf->segments[i];
        if (beside->offset >= known->offset - known->offset % PAGE &&
            beside->offset < known->offset + known->file_size &&
            known->executable == ((beside->prot & PROT_EXEC) != 0))
            add_file(pid, vma, fd, elf, beside->start - (known->address + (beside->offset - known->offset)),
                     beside, out);
    }
}

/* Opens the file as the process sees it; its program, and what root can open through the mapping, even if
 * deleted. */
static void find_beside(pid_t pid, const struct vma *vma, const struct vma *beside, struct moved_pieces *out)
{
    char paths[3][PATH_MAX];
    int n = snprintf(paths[0], sizeof paths[0], "/proc/%d/root%s", (int)pid, beside->path);
    snprintf(paths[1], sizeof paths[1], "/proc/%d/exe", (int)pid);
    snprintf(paths[2], sizeof paths[2], "/proc/%d/map_files/%llx-%llx", (int)pid,
             (unsigned long long)beside->start, (unsigned long long)beside->end);
    bool same = false; /* the file that is mapped */
    for (size_t i = n < (int)sizeof paths[0] ? 0 : 1; !out->count && !same && i < 3; i++) {
        struct elf_file elf;
        struct stat st;
        int fd = file_open_regular(paths[i], NULL);
        if (fd < 0)
            continue;
        if (elf_file_open(&elf, paths[i], ELF_HEADERS, NULL) == 0) {
            add_by_segments(pid, vma, fd, &elf, beside, out);
            elf_file_close(&elf);
        }
        same = fstat(fd, &st) == 0 && st.st_ino == beside->inode && major(st.st_dev) == beside->maj &&
               minor(st.st_dev) == beside->min;
        close(fd);
    }
}

/* Address of the program's first instruction; 0: unknown. */
static uint64_t entry_of(pid_t pid)
{
    char path[40];
    uint64_t pair[2], entry = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    FILE *auxv = fopen(path, "re");
    while (auxv && !entry && fread(pair, sizeof pair, 1, auxv) == 1 && pair[0] != AT_NULL)
        entry = pair[0] == AT_ENTRY ? pair[1] : 0;
    if (auxv)
        fclose(auxv);
    return entry;
}

/* Finds code of a program of which nothing is mapped from its file any more. */
static void find_program(pid_t pid, const struct vma *vma, struct moved_pieces *out)
{
    char path[40];
    struct stat st;
    struct elf_file elf;
    uint64_t entry = entry_of(pid);
    if (entry < vma->start || entry >= vma->end)
        return;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, out->program, sizeof out->program - 1);
    int fd = length > 0 ? file_open_regular(path, NULL) : -1;
    if (fd < 0)
        return;
    out->program[length] = 0;
    if (fstat(fd, &st) == 0 && elf_file_open(&elf, path, ELF_HEADERS, NULL) == 0) {
        const struct vma file = {
            .inode = st.st_ino, .maj = major(st.st_dev), .min = minor(st.st_dev), .path = out->program};
        add_file(pid, vma, fd, &elf, entry - elf.entry, &file, out);
        elf_file_close(&elf);
    }
    close(fd);
}

size_t moved_text_find(pid_t pid, const struct maps *maps, size_t index, struct moved_pieces *out)
{
    const struct vma *vma = &maps->list[index], *beside[2] = {NULL, NULL};
    out->count = 0;
    if (!(vma->prot & PROT_EXEC) || !moved_text_may_be(pid, vma->path))
        return 0;
    for (size_t i = index; i-- > 0 && !beside[0];)
        beside[0] = is_file(&maps->list[i]) ? &maps->list[i] : NULL;
    for (size_t i = index + 1; i < maps->count && !beside[1]; i++)
        beside[1] = is_file(&maps->list[i]) ? &maps->list[i] : NULL;
    for (size_t i = 0; i < 2 && !out->count; i++)
        if (beside[i] && !(beside[i]->inode == vma->inode && strcmp(beside[i]->path, vma->path) == 0))
            find_beside(pid, vma, beside[i], out);
    if (!out->count)
        find_program(pid, vma, out);
    return out->count;
}

bool moved_text_is_all(const struct moved_pieces *pieces, const struct vma *vma)
{
    return pieces->count == 1 && pieces->list[0].start == vma->start && pieces->list[0].end == vma->end;
}

/* While processes are recorded ---------------------------------------------------------------------------- */

bool moved_texts_note(struct moved_texts *m, pid_t pid, uint64_t time)
{
    if (!m->looks && !(m->looks = table_new()))
        return false;
    for (size_t i = 0; i < m->pending_count; i++)
        if (m->pending[i].pid == pid) {
            if (m->pending[i].time < time)
                m->pending[i] = (struct moved_text){pid, time, 0};
            return true;
        }
    return vec_push(m->pending, m->pending_count, m->pending_capacity, (struct moved_text){pid, time, 0});
}

void moved_texts_start(struct moved_texts *m, pid_t pid)
{
    if (m->looks)
        table_remove(m->looks, (uint32_t)pid);
}

/* Writes mappings of code moved in one process; *found: whether there was any. */
static int tell_process(const struct moved_text *of, const struct sideband *to, bool *found,
                        struct fathom_error *err)
{
    struct maps maps;
    if (proc_maps(of->pid, &maps) != 0)
        return 0;
    int rc = 0;
    for (size_t i = 0; i < maps.count && rc == 0; i++) {
        struct moved_pieces pieces;
        size_t count = moved_text_find(of->pid, &maps, i, &pieces);
        *found |= count > 0;
        for (size_t j = 0; j < count && rc == 0; j++)
            rc = sideband_mapping(to, of->pid, &pieces.list[j], of->time + 1, err);
    }
    proc_maps_free(&maps);
    return rc;
}

int moved_texts_tell(struct moved_texts *m, const struct sideband *to, struct fathom_error *err)
{
    size_t left = 0;
    int rc = 0;
    for (size_t i = 0; i < m->pending_count && rc == 0; i++) {
        struct moved_text of = m->pending[i];
        bool found = false;
        uint64_t *looks = table_put(m->looks, (uint32_t)of.pid, NULL);
        if (!looks)
            return error_memory(err);
        if (++*looks > LOOKS)
            continue;
        rc = tell_process(&of, to, &found, err);
        if (!found && ++of.tries < TRIES)
            m->pending[left++] = of;
    }
    m->pending_count = left;
    return rc;
}

void moved_texts_free(struct moved_texts *m)
{
    table_free(m->looks);
    free(m->pending);
    *m = (struct moved_texts){0};
}
