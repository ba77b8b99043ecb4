/* cache.c - see cache.h. */
#include "base/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY  ".new." /* prefix of the names of files being written */
#define OLD_SECOND 3600    /* a file being written for longer was abandoned by its writer */

/* Whether nobody else can create files in the directory or replace it: it belongs to this user and is not
 * world-writable (files in a sticky directory cannot be replaced either). Root does not trust other users'
 * directories: HOME may be that of the user who called sudo. */
static bool is_own_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           (!(st.st_mode & S_IWOTH) || st.st_mode & S_ISVTX);
}

static void make_parents(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
}

/* Appends a component, which must be a directory that only this user can write, not a link. */
static bool enter_own(char **path, const char *part, bool make)
{
    struct stat st;
    char *inner;
    if (asprintf(&inner, "%s/%s", *path, part) < 0)
        return false;
    free(*path);
    *path = inner;
    if (make && mkdir(inner, 0700) < 0 && errno != EEXIST)
        return false;
    return lstat(inner, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* The directory of this user's caches; malloc'd. NULL: the user has none. */
static char *cache_home(bool make)
{
    const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    bool given = base && base[0] == '/';
    char *path;
    if (!given && (!home || home[0] != '/' || !is_own_directory(home)))
        return NULL;
    if (asprintf(&path, "%s%s", given ? base : home, given ? "/" : "/.cache/") < 0)
        return NULL;
    if (make)
        make_parents(path);
    path[strlen(path) - 1] = 0;
    if (is_own_directory(path))
        return path;
    free(path);
    return NULL;
}

char *cache_directory(const char *name, bool make)
{
    char *path = cache_home(make);
    if (path && enter_own(&path, "fathom", make) && enter_own(&path, name, make))
        return path;
    free(path);
    return NULL;
}

int cache_open(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        !(st.st_mode & (S_IWGRP | S_IWOTH)))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool cache_use(const char *path)
{
    int fd = cache_open(path);
    /* Its time of access: readers see by the other one whether it was written. */
    bool used =
        fd >= 0 && futimens(fd, (struct timespec[]){{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}}) == 0;
    if (fd >= 0)
        close(fd);
    return used;
}

/* The latest used first. */
static int by_age(const void *a, const void *b)
{
    const struct cache_entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec > y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec < y->used.tv_nsec) - (x->used.tv_nsec > y->used.tv_nsec);
}

/* Adds a file of the directory to the list. false: out of memory. */
static bool note_kept(int directory, const char *name, time_t now, struct cache_entry **list, size_t *count)
{
    struct stat st;
    if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
        return true;
    if (strncmp(name, TEMPORARY, strlen(TEMPORARY)) == 0) {
        if (st.st_mtim.tv_sec + OLD_SECOND < now)
            unlinkat(directory, name, 0);
        return true;
    }
    if (strlen(name) >= sizeof(*list)->name)
        return true;
    struct cache_entry *grown = reallocarray(*list, *count + 1, sizeof **list);
    if (!grown)
        return false;
    *list = grown;
    struct cache_entry *k = &grown[(*count)++];
    *k = (struct cache_entry){.bytes = (uint64_t)st.st_size, .used = st.st_atim};
    strcpy(k->name, name);
    return true;
}

int cache_list(const char *path, struct cache_entry **out, size_t *count, struct fathom_error *err)
{
    DIR *directory = opendir(path);
    *out = NULL;
    *count = 0;
    if (!directory)
        return errno == ENOENT ? 0 : error_system(err, errno, "cannot read %s", path);
    bool good = true;
    for (struct dirent *d; good && (d = readdir(directory));)
        good = note_kept(dirfd(directory), d->d_name, time(NULL), out, count);
    closedir(directory);
    if (!good) {
        free(*out);
        *out = NULL;
        return error_memory(err);
    }
    if (*count)
        qsort(*out, *count, sizeof **out, by_age);
    return 0;
}

/* Removes the oldest files to make room for so many bytes. */
static void make_room(const char *path, uint64_t bytes, uint64_t limit)
{
    struct cache_entry *list;
    size_t count;
    uint64_t all = bytes;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || cache_list(path, &list, &count, NULL) < 0) {
        if (directory >= 0)
            close(directory);
        return;
    }
    for (size_t i = 0; i < count; i++)
        all += list[i].bytes;
    while (count-- > 0 && all > limit) {
        if (unlinkat(directory, list[count].name, 0) == 0)
            all -= list[count].bytes;
    }
    free(list);
    close(directory);
}

int cache_begin(const char *directory, uint64_t bytes, uint64_t limit, struct cache_file *out,
                struct fathom_error *err)
{
    struct cache_file file;
    make_room(directory, bytes, limit);
    if (asprintf(&file.temporary, "%s/" TEMPORARY "XXXXXX", directory) < 0)
        return error_memory(err);
    file.fd = mkostemp(file.temporary, O_CLOEXEC); /* 0600 */
    if (file.fd < 0) {
        int rc = error_system(err, errno, "cannot create a file in %s", directory);
        free(file.temporary);
        return rc;
    }
    *out = file;
    return 0;
}

int cache_end(struct cache_file *file, const char *path, int written, struct fathom_error *err)
{
    int rc = written;
    if (close(file->fd) < 0 && rc == 0)
        rc = error_system(err, errno, "cannot write to %s", path);
    if (rc == 0 && rename(file->temporary, path) < 0)
        rc = error_system(err, errno, "cannot rename %s", file->temporary);
    if (rc < 0)
        unlink(file->temporary);
    free(file->temporary);
    return rc;
}
