/* moved_text.c - see moved_text.h. */
#include "collector/targets/moved_text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "image/elf/elf_file.h"
#include "image/mapped_name.h"

#define PAGE     4096u
#define COMPARED 8u /* pages of a mapping; one in four may differ, as code is patched */
#define LOOKS                                                                                                \
    64u /* at one process: each reads its list of mappings; just-in-time compilers map code all the time */
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

/* Whether memory has the bytes of the file from `offset` on, up to `end` in the file. */
static bool is_copy(pid_t pid, const struct vma *vma, int fd, uint64_t offset, uint64_t end)
{
    uint8_t memory[PAGE], file[PAGE];
    uint64_t pages = (vma->end - vma->start) / PAGE, step = pages > COMPARED ? pages / COMPARED : 1;
    unsigned compared = 0, same = 0;
    for (uint64_t i = 0; i < pages && compared < COMPARED; i += step) {
        uint64_t at = offset + i * PAGE;
        size_t size = end <= at ? 0 : end - at < PAGE ? (size_t)(end - at) : PAGE;
        if (!size)
            break;
        compared++;
        same += proc_read_memory(pid, vma->start + i * PAGE, memory, size) == size &&
                pread(fd, file, size, (off_t)at) == (ssize_t)size && memcmp(memory, file, size) == 0;
    }
    return same && same * 4 >= compared * 3;
}

/* Whether the mapping has the code of a segment, if the file's segment `known` is where `beside` says. */
static bool fits(pid_t pid, const struct vma *vma, int fd, const struct elf_segment *code, uint64_t bias,
                 uint64_t *offset)
{
    uint64_t skipped = code->address % PAGE, start = bias + code->address - skipped;
    uint64_t end = start + ((skipped + code->file_size + PAGE - 1) & ~(uint64_t)(PAGE - 1));
    if (!code->executable || vma->start < start || vma->end > end || code->offset < skipped)
        return false;
    *offset = code->offset - skipped + (vma->start - start);
    return is_copy(pid, vma, fd, *offset, code->offset + code->file_size);
}

static bool has_code_of(pid_t pid, const struct vma *vma, const struct vma *beside, int fd,
                        const struct elf_file *file, uint64_t *offset)
{
    for (size_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *known = &file->segments[i];
        if (beside->offset < known->offset - known->offset % PAGE ||
            beside->offset >= known->offset + known->file_size ||
            known->executable != ((beside->prot & PROT_EXEC) != 0))
            continue;
        uint64_t bias = beside->start - (known->address + (beside->offset - known->offset));
        for (size_t j = 0; j < file->segment_count; j++)
            if (fits(pid, vma, fd, &file->segments[j], bias, offset))
                return true;
    }
    return false;
}

/* As the process sees the file; its program also if it is deleted. */
static bool is_moved_from(pid_t pid, const struct vma *vma, const struct vma *beside, struct vma *as)
{
    char paths[2][PATH_MAX];
    uint64_t offset;
    int n = snprintf(paths[0], sizeof paths[0], "/proc/%d/root%s", (int)pid, beside->path);
    snprintf(paths[1], sizeof paths[1], "/proc/%d/exe", (int)pid);
    bool found = false;
    for (size_t i = n < (int)sizeof paths[0] ? 0 : 1; !found && i < 2; i++) {
        int fd = file_open_regular(paths[i], NULL);
        if (fd < 0)
            continue;
        struct elf_file file;
        if (elf_file_open(&file, paths[i], ELF_HEADERS, NULL) == 0) {
            found = has_code_of(pid, vma, beside, fd, &file, &offset);
            elf_file_close(&file);
        }
        close(fd);
    }
    if (found) {
        *as = *vma;
        as->offset = offset;
        as->inode = beside->inode;
        as->maj = beside->maj;
        as->min = beside->min;
        as->path = beside->path;
    }
    return found;
}

bool moved_text_find(pid_t pid, const struct maps *maps, size_t index, struct vma *as)
{
    const struct vma *vma = &maps->list[index], *beside[2] = {NULL, NULL};
    if (!(vma->prot & PROT_EXEC) || (vma->path[0] == '[' && strncmp(vma->path, "[anon", 5) != 0) ||
        (is_file(vma) && !mapped_is_deleted(vma->path)))
        return false;
    for (size_t i = index; i-- > 0 && !beside[0];)
        beside[0] = is_file(&maps->list[i]) ? &maps->list[i] : NULL;
    for (size_t i = index + 1; i < maps->count && !beside[1]; i++)
        beside[1] = is_file(&maps->list[i]) ? &maps->list[i] : NULL;
    for (size_t i = 0; i < 2; i++)
        if (beside[i] && !(beside[i]->inode == vma->inode && strcmp(beside[i]->path, vma->path) == 0) &&
            is_moved_from(pid, vma, beside[i], as))
            return true;
    return false;
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
    return vec_push(m->pending, m->pending_count, m->pending_room, (struct moved_text){pid, time, 0});
}

/* Writes what was moved in one process; *found: whether there was any. */
static int tell_process(const struct moved_text *of, const struct sideband *to, bool *found,
                        struct fathom_error *err)
{
    struct maps maps;
    if (proc_maps(of->pid, &maps) != 0)
        return 0;
    int rc = 0;
    for (size_t i = 0; i < maps.count && rc == 0; i++) {
        struct vma as;
        if (!moved_text_find(of->pid, &maps, i, &as))
            continue;
        *found = true;
        rc = sideband_mapping(to, of->pid, &as, of->time + 1, err);
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
