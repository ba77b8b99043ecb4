/* build_id_cache.c - see build_id_cache.h. */
#include "image/build_id_cache.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/outfile.h"
#include "base/plain_path.h"

#define CONFIG_MOST ((off_t)1 << 20) /* bytes */

/* Whether only this user or root could have created the file. */
static bool is_trusted(const char *path, off_t most)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= most &&
           (st.st_uid == geteuid() || st.st_uid == 0);
}

/* Where it is ---------------------------------------------------------------------------------------------------- */

/* The value of a line "key = value"; NULL: it is another line. */
static char *value_of(char *line, const char *key)
{
    size_t length = strlen(key);
    line += strspn(line, " \t");
    if (strncmp(line, key, length) != 0)
        return NULL;
    line += length + strspn(line + length, " \t");
    if (*line != '=')
        return NULL;
    line += 1 + strspn(line + 1, " \t\"");
    line[strcspn(line, "\"\n#;")] = 0;
    size_t end = strlen(line);
    while (end > 0 && isspace((unsigned char)line[end - 1]))
        line[--end] = 0;
    return end ? line : NULL;
}

/* `dir` of the section [buildid]; malloc'd; NULL if it is not set. Like perf(1), ignores a file that another user
 * owns. */
static char *configured_directory(const char *path)
{
    FILE *in = path && is_trusted(path, CONFIG_MOST) ? fopen(path, "re") : NULL;
    char *line = NULL, *found = NULL;
    size_t capacity = 0;
    bool inside = false;
    while (in && !found && getline(&line, &capacity, in) > 0) {
        const char *at = line + strspn(line, " \t");
        if (*at == '[')
            inside = strncmp(at, "[buildid]", 9) == 0;
        const char *value = inside ? value_of(line, "dir") : NULL;
        found = value ? strdup(value) : NULL;
    }
    free(line);
    if (in)
        fclose(in);
    return found;
}

static char *in_home(const char *home, const char *name)
{
    char *path;
    return home && asprintf(&path, "%s/%s", home, name) >= 0 ? path : NULL;
}

char *build_id_cache_directory(void)
{
    const char *set = secure_getenv("PERF_BUILDID_DIR"), *home = secure_getenv("HOME");
    if (set && set[0] == '/')
        return strdup(set);
    home = home && home[0] == '/' ? home : NULL;
    char *own = in_home(home, ".perfconfig"), *directory = configured_directory(own);
    free(own);
    if (!directory)
        directory = configured_directory("/etc/perfconfig");
    if (directory && strncmp(directory, "~/", 2) == 0) {
        char *whole = in_home(home, directory + 2);
        free(directory);
        directory = whole;
    }
    if (directory && directory[0] == '/')
        return directory;
    free(directory);
    return in_home(home, ".debug");
}

char *build_id_cache_name(const struct build_id *id, const char *kind)
{
    char hex[2 * BUILD_ID_MAX + 1], *name;
    if (id->size < 2)
        return NULL;
    build_id_format(id, hex);
    return asprintf(&name, ".build-id/%.2s/%s/%s", hex, hex + 2, kind) < 0 ? NULL : name;
}

char *build_id_cache_find(const char *directory, const struct build_id *id, const char *kind)
{
    char *name = directory ? build_id_cache_name(id, kind) : NULL, *path = NULL;
    if (!name || asprintf(&path, "%s/%s", directory, name) < 0)
        path = NULL;
    free(name);
    if (!path || is_trusted(path, INT64_MAX))
        return path;
    *strrchr(path, '/') = 0; /* in older perf caches the link points to the program itself */
    if (strcmp(kind, "elf") == 0 && is_trusted(path, INT64_MAX))
        return path;
    free(path);
    return NULL;
}

/* Filling it ----------------------------------------------------------------------------------------------------- */

/* The directory and those above it. */
static int make_directories(char *path, struct fathom_error *err)
{
    for (char *at = path + 1;; at++) {
        at += strcspn(at, "/");
        char end = *at;
        *at = 0;
        int made = mkdir(path, 0755), code = errno;
        int rc = made < 0 && code != EEXIST ? error_system(err, code, "cannot create %s", path) : 0;
        *at = end;
        if (rc < 0 || !end)
            return rc;
    }
}

/* Refuses a directory, or a link to one, that another user could redirect. */
static int check_own(const char *directory, struct fathom_error *err)
{
    struct stat link, st;
    if (lstat(directory, &link) < 0 || stat(directory, &st) < 0)
        return error_system(err, errno, "cannot open %s", directory);
    return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && link.st_uid == geteuid()
               ? 0
               : error_set(err, EPERM,
                           "%s is not a directory of this user: name another one with PERF_BUILDID_DIR",
                           directory);
}

static int write_bytes(int fd, const struct build_id_cache_file *file, const char *path,
                       struct fathom_error *err)
{
    struct file_view view;
    if (!file->source)
        return file_write_all(fd, file->data, file->size, path, err);
    int rc = file_view_read(file->source, &view, err);
    if (rc < 0)
        return rc;
    rc = file_write_all(fd, view.data, view.size, path, err);
    file_view_close(&view);
    return rc;
}

static int write_file(const char *directory, const struct build_id_cache_file *file, struct fathom_error *err)
{
    struct outfile *output = NULL;
    char *path = NULL;
    int fd = -1;
    if (asprintf(&path, "%s/%s", directory, file->kind) < 0)
        return error_memory(err);
    int rc = outfile_open(path, &output, err);
    if (rc == 0)
        rc = outfile_begin(output, &fd, err);
    if (rc == 0)
        rc = write_bytes(fd, file, path, err);
    if (rc == 0 && fchmod(fd, 0644) < 0)
        rc = error_system(err, errno, "cannot write %s", path);
    if (rc == 0)
        rc = outfile_publish(output, false, err);
    outfile_close(output);
    free(path);
    return rc;
}

/* Creates the build's directory and the link to it. */
static int make_place(const char *cache, const struct build_id_cache_file *file, char *link,
                      struct fathom_error *err)
{
    char hex[2 * BUILD_ID_MAX + 1], *place = NULL, *target = NULL, *slash = strrchr(link, '/');
    const char *below = file->path + (file->path[0] == '/');
    if (!plain_path(below))
        return error_set(err, EINVAL, "%s cannot be kept: it is not the path of a file", file->path);
    build_id_format(file->id, hex);
    if (asprintf(&place, "%s/%s/%s", cache, below, hex) < 0 ||
        asprintf(&target, "../../%s/%s", below, hex) < 0) {
        free(place);
        return error_memory(err);
    }
    int rc = make_directories(place, err);
    *slash = 0;
    if (rc == 0)
        rc = make_directories(link, err);
    *slash = '/';
    if (rc == 0) {
        unlink(link); /* a dangling link */
        if (symlink(target, link) < 0 && errno != EEXIST)
            rc = error_system(err, errno, "cannot create %s", link);
    }
    free(target);
    free(place);
    return rc;
}

int build_id_cache_add(const char *cache, const struct build_id_cache_file *file, struct fathom_error *err)
{
    char *own = strdup(cache), *name = build_id_cache_name(file->id, file->kind), *link = NULL;
    struct stat st;
    int rc = own && (name || file->id->size < 2) ? 0 : error_memory(err);
    if (rc == 0 && !name)
        rc = error_set(err, EINVAL, "%s cannot be kept: it has no build-id", file->path);
    if (rc == 0)
        rc = make_directories(own, err);
    if (rc == 0)
        rc = check_own(cache, err);
    if (rc == 0 && asprintf(&link, "%s/%s", cache, name) < 0) {
        link = NULL;
        rc = error_memory(err);
    }
    if (rc == 0 && stat(link, &st) == 0) {
        free(link), free(name), free(own);
        return 0;
    }
    if (rc == 0) {
        *strrchr(link, '/') = 0;
        if (stat(link, &st) < 0)
            rc = make_place(cache, file, link, err);
        else if (!S_ISDIR(st.st_mode)) /* older perf's: the program; nothing can be added beside it */
            rc = 1;
    }
    if (rc == 0)
        rc = write_file(link, file, err);
    free(link), free(name), free(own);
    return rc < 0 ? rc : !rc;
}
