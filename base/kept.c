/* kept.c - see kept.h. */
#include "base/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEMPORARY  ".new." /* how the name of a file begins that is being written */
#define OLD_SECOND 3600    /* a file that is being written for so long was given up by its writer */
#define NAME_SIZE  128

char *kept_directory(const char *name, bool make)
{
    const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    char *path = NULL;
    int n = -1;
    if (base && base[0] == '/')
        n = asprintf(&path, "%s/fathom/%s", base, name);
    else if (home && home[0] == '/')
        n = asprintf(&path, "%s/.cache/fathom/%s", home, name);
    if (n < 0)
        return NULL;
    for (char *at = path + 1; make && *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    if (make && mkdir(path, 0700) < 0 && errno != EEXIST) {
        free(path);
        return NULL;
    }
    return path;
}

bool kept_use(const char *path)
{
    return utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) == 0;
}

struct kept {
    char name[NAME_SIZE];
    uint64_t bytes;
    struct timespec used;
};

static int by_age(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* Notes one name of the directory. false: out of memory. */
static bool note_kept(int directory, const char *name, time_t now, struct kept **list, size_t *count)
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
    struct kept *grown = reallocarray(*list, *count + 1, sizeof **list);
    if (!grown)
        return false;
    *list = grown;
    struct kept *k = &grown[(*count)++];
    *k = (struct kept){.bytes = (uint64_t)st.st_size, .used = st.st_mtim};
    strcpy(k->name, name);
    return true;
}

/* Makes room for so many bytes. */
static void make_room(const char *path, uint64_t bytes, uint64_t limit)
{
    DIR *directory = opendir(path);
    struct kept *list = NULL;
    size_t count = 0;
    uint64_t all = bytes;
    bool good = directory != NULL;
    for (struct dirent *d; good && (d = readdir(directory));)
        good = note_kept(dirfd(directory), d->d_name, time(NULL), &list, &count);
    for (size_t i = 0; i < count; i++)
        all += list[i].bytes;
    if (count)
        qsort(list, count, sizeof *list, by_age);
    for (size_t i = 0; i < count && all > limit; i++) {
        if (unlinkat(dirfd(directory), list[i].name, 0) == 0)
            all -= list[i].bytes;
    }
    free(list);
    if (directory)
        closedir(directory);
}

int kept_begin(const char *directory, uint64_t bytes, uint64_t limit, struct kept_file *out,
               struct fathom_error *err)
{
    struct kept_file file;
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

int kept_end(struct kept_file *file, const char *path, int written, struct fathom_error *err)
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
