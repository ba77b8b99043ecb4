#include "api/resolve/followed.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/record/mapped_finder.h"
#include "collector/targets/stackbase.h"
#include "image/mapped_name.h"

struct followed {
    pid_t pid;
    struct processes *processes; /* borrowed */
    struct mapped_finder *finder;
    struct stackbases *bases;
};

/* Adds the mapped file's build-id to the record. If the file is not found, its name says so, as a file at its path would be another one. */
static void find_build(const struct followed *f, struct record *record, char name[static PATH_MAX])
{
    const struct build_id unknown = {0};
    struct mapped_place place;
    struct build_id id;
    if (mapped_kind(name) != MAPPED_FILE)
        return;
    if (!mapped_finder_find(f->finder, record, &unknown, &place)) {
        const size_t length = strlen(name);
        if (!mapped_is_gone(name))
            snprintf(name + length, PATH_MAX - length, "%s", MAPPED_NOT_FOUND);
        return;
    }
    if (mapped_place_build(&place, &id)) {
        record->mmap.build_id_size = id.size;
        memcpy(record->mmap.build_id, id.bytes, id.size);
    }
    close(place.fd);
}

static int add_mapping(const struct followed *f, const struct vma *vma, struct fathom_error *err)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s", vma->path[0] ? vma->path : "//anon");
    struct record record = {.kind = RECORD_MMAP,
                            .pid = (uint32_t)f->pid,
                            .mmap = {.address = vma->start,
                                     .length = vma->end - vma->start,
                                     .offset = vma->offset,
                                     .executable = true,
                                     .path = name,
                                     .device = mapped_device(vma->maj, vma->min),
                                     .inode = vma->inode}};
    find_build(f, &record, name);
    return processes_apply(f->processes, &record, err);
}

int followed_read(struct followed *f, struct fathom_error *err)
{
    struct maps maps;
    int rc = proc_maps(f->pid, &maps);
    if (rc == -ENOENT || rc == -ESRCH)
        return error_set(err, ESRCH, "process %d does not exist", (int)f->pid);
    if (rc < 0)
        return error_system(err, -rc, "cannot read /proc/%d/maps", (int)f->pid);
    const struct record anew = {
        .kind = RECORD_COMM, .pid = (uint32_t)f->pid, .tid = (uint32_t)f->pid, .comm.exec = true};
    rc = processes_apply(f->processes, &anew, err);
    for (size_t i = 0; rc == 0 && i < maps.count; i++)
        if (maps.list[i].prot & PROT_EXEC)
            rc = add_mapping(f, &maps.list[i], err);
    proc_maps_free(&maps);
    return rc;
}

int followed_new(pid_t pid, struct processes *processes, struct followed **out, struct fathom_error *err)
{
    struct followed *f = calloc(1, sizeof *f);
    if (!f)
        return error_memory(err);
    *f = (struct followed){.pid = pid, .processes = processes, .finder = mapped_finder_new()};
    int rc = f->finder ? stackbases_new(&f->bases, err) : error_memory(err);
    if (rc == 0)
        rc = followed_read(f, err);
    if (rc < 0)
        followed_free(f);
    else
        *out = f;
    return rc;
}

void followed_free(struct followed *f)
{
    if (!f)
        return;
    stackbases_free(f->bases);
    mapped_finder_free(f->finder);
    free(f);
}

pid_t followed_pid(const struct followed *f)
{
    return f->pid;
}

int followed_find_stack(struct followed *f, uint64_t pc, uint64_t sp, struct fathom_error *err)
{
    struct process *process = process_find(f->processes, (uint32_t)f->pid);
    uint64_t base = process ? stackbases_find(f->bases, f->pid, pc, sp) : 0;
    /* Only from the point's page upwards, as the mapping may also contain the stack of another thread. */
    int rc = base > sp ? process_set_shared_stack(process, sp & ~(uint64_t)4095, base, err) : 0;
    return rc < 0 ? rc : base > sp;
}
