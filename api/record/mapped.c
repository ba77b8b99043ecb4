#include "api/record/mapped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "api/record/mapped_finder.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"
#include "image/image_store.h"
#include "image/mapped_name.h"
#include "image/vdso.h"
#include "process/process.h"

#define MAX_OPEN  256u  /* open files; a process typically maps a few dozen libraries */
#define MAX_FILES 65536 /* recorded files */
#define NS        UINT64_C(1000000000)
#define CHECKED   8          /* files at a time, */
#define CHECK_NS  100000000u /* at most 10 times a second, so that all are checked every three seconds */

struct held {
    int fd;
    uint32_t file;
};

struct mapped {
    const struct log *log;
    struct mapped_finder *finder;
    struct table *seen; /* hash of a path and a build-id, a state or a recorded inode -> index + 1 */
    struct names *paths;
    struct mapped_file *files;
    size_t count, capacity;
    struct held held[MAX_OPEN];
    size_t held_count, next_checked;
    uint64_t checked;     /* time of the last check, ns */
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
    m->finder = mapped_finder_new();
    m->seen = table_new();
    m->paths = names_new();
    if (!m->finder || !m->seen || !m->paths) {
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
    mapped_finder_free(m->finder);
    table_free(m->seen);
    names_free(m->paths);
    free(m->files);
    free(m);
}

static struct file_state state_of(const struct stat *st)
{
    const struct timespec *changed = &st->st_ctim, *written = &st->st_mtim;
    return (struct file_state){.device = mapped_device(major(st->st_dev), minor(st->st_dev)),
                               .inode = st->st_ino,
                               .size = (uint64_t)st->st_size,
                               .changed = (uint64_t)changed->tv_sec * NS + (uint64_t)changed->tv_nsec,
                               .written = (uint64_t)written->tv_sec * NS + (uint64_t)written->tv_nsec};
}

/* Whether the path leads to this file in our view. */
static bool is_at_path(const struct stat *file, const char *path)
{
    struct stat here;
    return stat(path, &here) == 0 && file->st_dev == here.st_dev && file->st_ino == here.st_ino;
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

/* A key for a file: its path and what else is known of it. */
static uint64_t key_of(const char *path, const void *what, size_t size)
{
    return checksum_of(path, strlen(path)) ^ hash_u64(checksum_of(what, size));
}

/* The index for the key; -1: none. */
static int64_t find_file(const struct mapped *m, uint64_t key)
{
    const uint64_t *number = table_find(m->seen, key);
    return number ? (int64_t)*number - 1 : -1;
}

static int set_file(struct mapped *m, uint64_t key, int64_t file)
{
    return table_set(m->seen, key, (uint64_t)file + 1) ? 0 : -ENOMEM;
}

/* The file's index among held files; held_count: it is not held. */
static size_t held_at(const struct mapped *m, int64_t file)
{
    size_t i = 0;
    while (i < m->held_count && m->held[i].file != file)
        i++;
    return i;
}

/* Copies the file at once, or holds it open to detect changes. known: an earlier file was of the same build. */
static void keep_or_hold(struct mapped *m, int64_t file, const struct mapped_place *place, bool known)
{
    const bool here = is_at_path(&place->st, m->files[file].path);
    const size_t at = held_at(m, file);
    int fd = !here && known ? -1 : mapped_place_open(place);
    if (fd < 0)
        return;
    if (!here) {
        keep_file(m, fd, &m->files[file]);
    } else if (at < MAX_OPEN) {
        struct held *held = &m->held[at];
        if (at < m->held_count)
            close(held->fd);
        else
            m->held_count++;
        *held = (struct held){fd, (uint32_t)file};
        return;
    }
    close(fd);
}

/* Adds a build of the path. place: NULL: not found. *file: its index; -1: there are too many. 0 or -ENOMEM. */
static int enter_build(struct mapped *m, const char *path, const struct build_id *id,
                       const struct mapped_place *place, int64_t *file)
{
    const uint64_t key = key_of(path, id->bytes, id->size);
    const int64_t known = find_file(m, key);
    *file = known;
    if (known < 0 && m->count == MAX_FILES)
        return 0;
    if (known < 0) {
        struct mapped_file *added = add_file(m, path);
        *file = (int64_t)m->count - 1;
        if (!added || set_file(m, key, *file) < 0)
            return -ENOMEM;
        added->id = *id;
    }
    if (place) {
        m->files[*file].state = state_of(&place->st);
        keep_or_hold(m, *file, place, known >= 0);
    }
    return 0;
}

/* Copies the vDSO, which has no path, for reports on another kernel. A 64-bit process has the same one as we
 * do, far above the addresses of 32-bit processes. */
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

/* A mapping with a build-id, whose file is examined once. */
static int note_build(struct mapped *m, const struct record *record, const struct build_id *id)
{
    struct mapped_place place;
    int64_t file;
    if (find_file(m, key_of(record->mmap.path, id->bytes, id->size)) >= 0)
        return 0;
    const bool found = mapped_finder_find(m->finder, record, id, &place);
    int rc = enter_build(m, record->mmap.path, id, found ? &place : NULL, &file);
    if (found)
        close(place.fd);
    return rc;
}

/* Whether a held file is unchanged since its build-id was read. (While it is held, its inode is not reused.) */
static bool is_unchanged(const struct mapped *m, int64_t file, const struct record_mmap *mmap)
{
    const struct file_state *state = &m->files[file].state;
    const size_t at = held_at(m, file);
    struct stat st;
    if (state->device != mmap->device || state->inode != mmap->inode || at == m->held_count ||
        fstat(m->held[at].fd, &st) != 0)
        return false;
    const struct file_state now = state_of(&st);
    return memcmp(&now, state, sizeof now) == 0;
}

/* Reads the build-id of a file that was found, unless it was read in the same state. */
static int read_build(struct mapped *m, const char *path, const struct mapped_place *place,
                      struct build_id *id, int64_t *file)
{
    const struct file_state state = state_of(&place->st);
    const uint64_t key = key_of(path, &state, sizeof state);
    *file = find_file(m, key);
    if (*file >= 0) {
        *id = m->files[*file].id;
        return 0;
    }
    mapped_place_build(place, id);
    int rc = enter_build(m, path, id, place, file);
    return rc == 0 && *file >= 0 ? set_file(m, key, *file) : rc;
}

/* A mapping without a build-id. Its file may be written to at any time, and its process may have ended. */
static int note_file(struct mapped *m, const struct record *record, struct build_id *id, bool *found)
{
    const struct record_mmap *mmap = &record->mmap;
    const uint64_t inode[] = {mmap->device, mmap->inode, mmap->generation},
                   key = key_of(mmap->path, inode, sizeof inode);
    struct mapped_place place;
    int64_t file = find_file(m, key);
    if (file >= 0 && is_unchanged(m, file, mmap)) {
        *id = m->files[file].id;
        return 0;
    }
    *found = mapped_finder_find(m->finder, record, id, &place);
    if (!*found)
        return 0;
    int rc = read_build(m, mmap->path, &place, id, &file);
    if (rc == 0 && file >= 0)
        rc = set_file(m, key, file);
    *found = id->size || is_at_path(&place.st, mmap->path);
    close(place.fd);
    return rc;
}

void mapped_fork(struct mapped *m, const struct record *record)
{
    mapped_finder_fork(m->finder, record);
}

int mapped_note(struct mapped *m, const struct record *record, struct build_id *id, bool *found)
{
    const struct record_mmap *mmap = &record->mmap;
    *id = process_build_id(mmap);
    *found = true;
    if (!id->size && mmap->path && strcmp(mmap->path, VDSO_NAME) == 0)
        return note_vdso(m, mmap, id);
    if (!mmap->executable || !mmap->path || mapped_kind(mmap->path) == MAPPED_NO_FILE)
        return 0;
    return id->size ? note_build(m, record, id) : note_file(m, record, id, found);
}

/* Copies a held file if it is no longer at its path but still of its build; returns whether it is still held. Renaming or deleting it
 * changes its ctime, which is much faster to check than the path, but does not reveal changes or mounts of its directories.
 * at_last: check the path too. */
static bool check_held(struct mapped *m, size_t i, bool at_last)
{
    const struct held *held = &m->held[i];
    const struct mapped_file *file = &m->files[held->file];
    struct stat st;
    bool known = fstat(held->fd, &st) == 0;
    const bool unchanged = known && state_of(&st).changed == file->state.changed;
    if ((unchanged && !at_last) || (known && is_at_path(&st, file->path)))
        return true;
    if (known && state_of(&st).written == file->state.written && state_of(&st).size == file->state.size)
        keep_file(m, held->fd, file);
    close(held->fd);
    m->held[i] = m->held[--m->held_count];
    return false;
}

void mapped_check(struct mapped *m)
{
    const uint64_t now = clock_ns();
    if (now - m->checked < CHECK_NS)
        return;
    m->checked = now;
    for (size_t n = 0; n < CHECKED && n < m->held_count; n++) {
        m->next_checked = m->next_checked < m->held_count ? m->next_checked : 0;
        m->next_checked += check_held(m, m->next_checked, false);
    }
}

void mapped_finish(struct mapped *m)
{
    for (size_t i = 0; i < m->held_count;)
        i += check_held(m, i, true);
}

size_t mapped_files(const struct mapped *m, const struct mapped_file **out)
{
    *out = m->files;
    return m->count;
}
