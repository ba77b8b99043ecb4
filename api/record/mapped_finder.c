#include "api/record/mapped_finder.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* Number of the last started processes to remember, by the low bits of their PIDs, which are assigned in turn. */
#define PARENTS   65536u
#define ANCESTORS 4 /* e.g. make, sh, cc, cc1, which may end within one round of the collector */

/* Eight rounds of the collector: only on an overloaded machine are records of mappings read later. */
#define LATE_NS 200000000

struct parent {
    uint32_t pid, parent;
};

struct mapped_finder {
    struct parent parents[PARENTS];
};

struct mapped_finder *mapped_finder_new(void)
{
    return calloc(1, sizeof(struct mapped_finder));
}

void mapped_finder_free(struct mapped_finder *f)
{
    free(f);
}

void mapped_finder_fork(struct mapped_finder *f, const struct record *record)
{
    if (record->pid != record->fork.parent_pid)
        f->parents[record->pid % PARENTS] = (struct parent){record->pid, record->fork.parent_pid};
}

/* 0: unknown. */
static uint32_t parent_of(const struct mapped_finder *f, uint32_t pid)
{
    const struct parent *p = &f->parents[pid % PARENTS];
    return p->pid == pid ? p->parent : 0;
}

/* How a file was found, which determines what may differ from the recorded one. */
enum found_by {
    BY_MAPPING, /* the process may have executed another program */
    BY_PATH,    /* another file may be there now */
    BY_OTHERS,  /* and the process may have ended, so that its program may have been overwritten */
};

struct wanted {
    const struct record *record;
    const struct build_id *id;
};

static void path_of(const struct mapped_place *p, char out[static 64])
{
    snprintf(out, 64, "/proc/self/fd/%d", p->fd);
}

int mapped_place_open(const struct mapped_place *p)
{
    char path[64];
    path_of(p, path);
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

bool mapped_place_build(const struct mapped_place *p, struct build_id *id)
{
    char path[64];
    struct build_id found;
    path_of(p, path);
    if (build_id_read(path, &found, NULL) < 0 || !found.size)
        return false;
    *id = found;
    return true;
}

/* The device of a mount as a process sees it: that of the file system. 0: unknown. */
static uint64_t mount_device(uint32_t pid, uint64_t mount)
{
    char path[40], *line = NULL;
    size_t size = 0;
    uint64_t id, device = 0;
    unsigned maj, min;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/mountinfo", pid);
    FILE *mounts = fopen(path, "re");
    while (mounts && !device && getline(&line, &size, mounts) > 0)
        if (sscanf(line, "%" SCNu64 " %*d %u:%u", &id, &maj, &min) == 3 && id == mount)
            device = mapped_device(maj, min);
    free(line);
    if (mounts)
        fclose(mounts);
    return device;
}

/* Records have the file system's device, which is not always the file's: each subvolume of btrfs has one, and so have layers of an
 * overlay. viewer: a process in the mount namespace that the file was found in. */
static bool is_on_device(const struct mapped_place *p, uint64_t device, uint32_t viewer)
{
    struct statx st;
    if (mapped_device(major(p->st.st_dev), minor(p->st.st_dev)) == device)
        return true;
    return statx(p->fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) == 0 && st.stx_mask & STATX_MNT_ID &&
           mount_device(viewer, st.stx_mnt_id) == device;
}

/* Inode numbers are reused, but with another generation, which not all file systems report. */
static bool has_generation(const struct mapped_place *p, uint64_t generation)
{
    int own, fd = generation ? mapped_place_open(p) : -1;
    if (fd < 0)
        return true;
    bool same = ioctl(fd, FS_IOC_GETVERSION, &own) != 0 || (uint32_t)own == (uint32_t)generation;
    close(fd);
    return same;
}

static bool changed_lately(const struct mapped_place *p)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec - p->st.st_ctim.tv_sec) * INT64_C(1000000000) + now.tv_nsec - p->st.st_ctim.tv_nsec <
           LATE_NS;
}

static bool is_wanted(const struct mapped_place *p, const struct wanted *w, enum found_by by, uint32_t viewer)
{
    const struct record_mmap *m = &w->record->mmap;
    struct build_id id;
    if (w->id->size)
        return mapped_place_build(p, &id) && build_id_equal(w->id, &id);
    if (!m->inode) /* there is nothing to compare with */
        return true;
    if (p->st.st_ino != m->inode || by == BY_MAPPING)
        return p->st.st_ino == m->inode;
    return is_on_device(p, m->device, viewer) && has_generation(p, m->generation) &&
           !(by == BY_OTHERS && changed_lately(p));
}

/* Only regular files are opened, as opening a device may have effects. */
__attribute__((format(printf, 5, 6))) static bool try(const struct wanted *w, enum found_by by,
                                                      uint32_t viewer, struct mapped_place *out,
                                                      const char *format, ...)
{
    char path[4200];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    struct mapped_place p = {.fd = length < (int)sizeof path ? open(path, O_PATH | O_CLOEXEC) : -1};
    if (p.fd < 0)
        return false;
    if (fstat(p.fd, &p.st) == 0 && S_ISREG(p.st.st_mode) && is_wanted(&p, w, by, viewer)) {
        *out = p;
        return true;
    }
    close(p.fd);
    return false;
}

bool mapped_finder_find(const struct mapped_finder *f, const struct record *record, const struct build_id *id,
                        struct mapped_place *out)
{
    const struct wanted w = {record, id};
    const struct record_mmap *m = &record->mmap;
    uint32_t pid = record->pid;
    if (try(&w, BY_MAPPING, pid, out, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid, m->address,
            m->address + m->length) ||
        try(&w, BY_PATH, pid, out, "/proc/%" PRIu32 "/root%s", pid, m->path))
        return true;
    /* Finds the program itself even if it was deleted, without permission to read map_files. */
    if ((id->size || m->inode) && try(&w, BY_MAPPING, pid, out, "/proc/%" PRIu32 "/exe", pid))
        return true;
    if (try(&w, BY_OTHERS, (uint32_t)getpid(), out, "%s", m->path))
        return true;
    for (int i = 0; i < ANCESTORS && (pid = parent_of(f, pid)); i++)
        if (try(&w, BY_OTHERS, pid, out, "/proc/%" PRIu32 "/root%s", pid, m->path))
            return true;
    return false;
}
