#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

#define NAME_MOST 200u /* bytes: leaves space for a suffix */

int spool_make(const char *directory, struct fathom_error *err)
{
    struct stat st;
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return error_system(err, errno, "cannot make the spool %s", directory);
    if (stat(directory, &st) != 0)
        return error_system(err, errno, "%s", directory);
    if (!S_ISDIR(st.st_mode))
        return error_set(err, ENOTDIR, "the spool %s is no directory", directory);
    if (st.st_uid != geteuid() || st.st_mode & 077)
        return error_set(err, EPERM, "the spool %s belongs to another user, or others have rights there",
                         directory);
    return 0;
}

int spool_lock(const char *directory, const char *name, int *out, struct fathom_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return error_system(err, errno, "%s", path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        const int failed = errno;
        close(fd);
        return failed == EWOULDBLOCK
                   ? error_set(err, EBUSY, "another agent uses the spool %s: give each a spool of its own",
                               directory)
                   : error_system(err, failed, "%s", path);
    }
    *out = fd;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct spool_file *)a)->name, ((const struct spool_file *)b)->name);
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), with = strlen(end);
    return length >= with && strcmp(name + length - with, end) == 0;
}

static int add_file(struct spool *s, int directory, const char *name)
{
    struct stat st;
    if (strncmp(name, SPOOL_PREFIX, strlen(SPOOL_PREFIX)) != 0 || strlen(name) > NAME_MOST ||
        fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return 0;
    struct spool_file file = {.name = strdup(name),
                              .bytes = (uint64_t)st.st_blocks * 512,
                              .device = st.st_dev,
                              .inode = st.st_ino,
                              .damaged = ends_with(name, SPOOL_DAMAGED)};
    s->bytes += file.bytes;
    if (!file.name || !vec_push(s->files, s->count, s->capacity, file)) {
        free(file.name);
        return -ENOMEM;
    }
    return 0;
}

int spool_list(const char *path, struct spool *out, struct fathom_error *err)
{
    const struct dirent *entry;
    int rc = 0;
    spool_clear(out);
    DIR *directory = opendir(path);
    if (!directory)
        return error_system(err, errno, "cannot read the spool %s", path);
    while (rc == 0 && (entry = readdir(directory)))
        rc = add_file(out, dirfd(directory), entry->d_name);
    closedir(directory);
    if (out->count)
        qsort(out->files, out->count, sizeof *out->files, by_name);
    return rc < 0 ? error_memory(err) : 0;
}

void spool_clear(struct spool *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->files[i].name);
    free(s->files);
    *s = (struct spool){0};
}

/* Returns whether the file is gone. */
static bool remove_file(const char *directory, struct spool *s, const struct spool_file *file)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", directory, file->name) >= (int)sizeof path ||
        (unlink(path) != 0 && errno != ENOENT))
        return false;
    s->bytes -= file->bytes;
    return true;
}

bool spool_find_growing(struct spool *s, pid_t pid)
{
    char path[64];
    const struct dirent *entry;
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *open = opendir(path);
    if (!open)
        return false;
    while ((entry = readdir(open))) {
        const bool told = fstatat(dirfd(open), entry->d_name, &st, 0) == 0;
        for (size_t i = 0; told && i < s->count; i++)
            s->files[i].growing |= s->files[i].device == st.st_dev && s->files[i].inode == st.st_ino;
    }
    closedir(open);
    return true;
}

unsigned spool_trim(const char *directory, struct spool *s, uint64_t most, const char *spared)
{
    unsigned dropped = 0;
    for (int damaged = 1; damaged >= 0; damaged--)
        for (size_t i = 0; i < s->count && s->bytes > most; i++) {
            const struct spool_file *file = &s->files[i];
            if (file->damaged == damaged && !file->growing && !(spared && strcmp(file->name, spared) == 0))
                dropped += remove_file(directory, s, file);
        }
    return dropped;
}
