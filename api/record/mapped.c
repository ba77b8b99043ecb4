/* mapped.c - see mapped.h. */
#include "api/record/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/hash.h"
#include "base/vec.h"
#include "image/image_store.h"
#include "image/mapped_name.h"
#include "image/vdso.h"
#include "process/process.h"

#define MAX_OPEN  256u  /* open files; a process typically maps a few dozen libraries */
#define MAX_FILES 65536 /* recorded files */
#define CHECKED   8     /* files at a time: 40 times a second, so that all of them are within a second */

struct held {
    int fd;
    uint32_t file;
};

struct mapped {
    const struct log *log;
    struct table *seen; /* hash of path and identity -> index + 1 */
    uint32_t pid;       /* the process whose mount namespace was looked up last, and that */
    uint64_t namespace;
    struct names *paths;
    struct mapped_file *files;
    size_t count, capacity;
    struct held held[MAX_OPEN];
    size_t held_count, next_checked;
    struct build_id vdso; /* size 0: unknown */
    uint64_t vdso_size;   /* bytes of its mapping */
    bool vdso_seen;
};

struct mapped *mapped_new(const struct log *log)
{
    struct mapped *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->log = log;
    m->seen = table_new();
    m->paths = names_new();
    if (!m->seen || !m->paths) {
        mapped_free(m);
        m = NULL;
    }
    return m;
}

void mapped_free(struct mapped *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->held_count; i++)
        close(m->held[i].fd);
    table_free(m->seen);
    names_free(m->paths);
    free(m->files);
    free(m);
}

/* Opens the path only if it is a regular file, so that devices are not touched; -1 otherwise. */
static int open_regular(const char *path)
{
    struct stat st;
    char by_fd[64];
    int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
    if (place < 0)
        return -1;
    snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", place);
    if (fstat(place, &st) == 0 && S_ISREG(st.st_mode))
        fd = open(by_fd, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    close(place);
    return fd;
}

static bool read_id(int fd, struct build_id *id)
{
    char by_fd[64];
    snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", fd);
    return build_id_read(by_fd, id, NULL) == 0 && id->size;
}

/* Opens the candidate if its build-id matches the recorded one, or if none was recorded. */
static int open_build(const char *candidate, struct build_id *id)
{
    struct build_id found = {0};
    int fd = open_regular(candidate);
    if (fd < 0)
        return -1;
    bool has = read_id(fd, &found);
    if (id->size ? has && build_id_equal(id, &found) : true) {
        *id = found;
        return fd;
    }
    close(fd);
    return -1;
}

/* Opens the file behind a mapping as its process sees it, else as we do. -1: not accessible. */
static int open_mapped(const struct record *record, struct build_id *id)
{
    const struct record_mmap *m = &record->mmap;
    char candidate[4200];
    snprintf(candidate, sizeof candidate, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, record->pid,
             m->address, m->address + m->length);
    int fd = open_build(candidate, id);
    if (fd >= 0)
        return fd;
    int n = snprintf(candidate, sizeof candidate, "/proc/%" PRIu32 "/root%s", record->pid, m->path);
    if (n < (int)sizeof candidate && (fd = open_build(candidate, id)) >= 0)
        return fd;
    /* finds the program itself even if it was deleted, without permission to read map_files */
    snprintf(candidate, sizeof candidate, "/proc/%" PRIu32 "/exe", record->pid);
    if (id->size && (fd = open_build(candidate, id)) >= 0)
        return fd;
    return open_build(m->path, id);
}

/* Whether the path leads, for us, to the file open at fd. */
static bool is_at_path(int fd, const char *path)
{
    struct stat open_one, here;
    return fstat(fd, &open_one) == 0 && stat(path, &here) == 0 && open_one.st_dev == here.st_dev &&
           open_one.st_ino == here.st_ino;
}

static void keep_file(const struct mapped *m, int fd, const struct mapped_file *file)
{
    struct fathom_error err = {0};
    if (file->id.size && image_store_keep(fd, &file->id, &err) < 0)
        log_write(m->log, LOG_WARNING,
                  "cannot keep a copy of %s, and a report will not find it at its path: %s", file->path,
                  err.text);
}

static struct mapped_file *add_file(struct mapped *m, const char *path)
{
    if (!vec_reserve(m->files, m->count, m->capacity, 1))
        return NULL;
    uint32_t name = names_intern(m->paths, path);
    if (name == NAMES_NONE)
        return NULL;
    struct mapped_file *file = &m->files[m->count++];
    *file = (struct mapped_file){.path = names_text(m->paths, name)};
    return file;
}

/* Examines a file on its first mapping. */
static int look_at(struct mapped *m, const struct record *record, struct build_id id)
{
    struct mapped_file *file = add_file(m, record->mmap.path);
    if (!file)
        return -ENOMEM;
    int fd = open_mapped(record, &id);
    file->id = id;
    if (fd >= 0 && !is_at_path(fd, file->path))
        keep_file(m, fd, file);
    else if (fd >= 0 && m->held_count < MAX_OPEN)
        m->held[m->held_count++] = (struct held){fd, (uint32_t)m->count - 1}, fd = -1;
    if (fd >= 0)
        close(fd);
    return 0;
}

/* The vDSO, which has no path, is kept for reports on another kernel. A 64-bit process has the same one as we
 * do, far above the addresses of 32-bit ones. */
static int note_vdso(struct mapped *m, const struct record_mmap *mmap, struct build_id *id)
{
    if (mmap->address <= UINT32_MAX)
        return 0;
    if (!m->vdso_seen) {
        m->vdso_seen = true;
        int fd = vdso_copy(mmap->length, &m->vdso, NULL);
        struct mapped_file *file = fd >= 0 ? add_file(m, VDSO_NAME) : NULL;
        if (file) {
            file->id = m->vdso;
            keep_file(m, fd, file);
        }
        if (fd >= 0)
            close(fd);
        if (fd >= 0 && !file)
            return -ENOMEM;
        m->vdso_size = mmap->length;
    }
    if (mmap->length == m->vdso_size)
        *id = m->vdso;
    return 0;
}

/* The mount namespace that a process is in; 0: unknown. */
static uint64_t namespace_of(struct mapped *m, uint32_t pid)
{
    char path[40];
    struct stat st;
    if (m->pid == pid)
        return m->namespace;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/ns/mnt", pid);
    m->pid = pid;
    m->namespace = stat(path, &st) == 0 ? st.st_ino : 0;
    return m->namespace;
}

/* What tells files of one path apart: the build-id; else device and inode, which are of one file within a mount namespace (elsewhere
 * two subvolumes can have the same); else the process. */
static uint64_t identity_of(struct mapped *m, const struct record *record, const struct build_id *id)
{
    const struct record_mmap *mmap = &record->mmap;
    if (id->size)
        return checksum_of(id->bytes, id->size);
    const uint64_t namespace = mmap->inode ? namespace_of(m, record->pid) : 0;
    if (!namespace)
        return record->pid;
    const uint64_t identity[] = {namespace, mmap->device, mmap->inode};
    return checksum_of(identity, sizeof identity);
}

int mapped_note(struct mapped *m, const struct record *record, struct build_id *id)
{
    const struct record_mmap *mmap = &record->mmap;
    *id = process_build_id(mmap);
    if (!id->size && mmap->path && strcmp(mmap->path, VDSO_NAME) == 0)
        return note_vdso(m, mmap, id);
    if (!mmap->executable || !mmap->path || mapped_kind(mmap->path) == MAPPED_NO_FILE)
        return 0;
    uint64_t key = hash_u64(identity_of(m, record, id)) ^ checksum_of(mmap->path, strlen(mmap->path));
    uint64_t *number = table_put(m->seen, key, NULL);
    if (!number)
        return -ENOMEM;
    if (!*number && m->count < MAX_FILES) {
        if (look_at(m, record, *id) < 0)
            return -ENOMEM;
        *number = m->count;
    }
    if (*number)
        *id = m->files[*number - 1].id;
    return 0;
}

/* Copies a held file if it is no longer at its path; returns whether it is held still. */
static bool check_held(struct mapped *m, size_t i)
{
    const struct held *held = &m->held[i];
    const struct mapped_file *file = &m->files[held->file];
    if (is_at_path(held->fd, file->path))
        return true;
    keep_file(m, held->fd, file);
    close(held->fd);
    m->held[i] = m->held[--m->held_count];
    return false;
}

void mapped_check(struct mapped *m)
{
    for (size_t n = 0; n < CHECKED && n < m->held_count; n++) {
        m->next_checked = m->next_checked < m->held_count ? m->next_checked : 0;
        m->next_checked += check_held(m, m->next_checked);
    }
}

void mapped_finish(struct mapped *m)
{
    for (size_t i = 0; i < m->held_count;)
        i += check_held(m, i);
}

size_t mapped_files(const struct mapped *m, const struct mapped_file **out)
{
    *out = m->files;
    return m->count;
}
