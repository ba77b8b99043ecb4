/* directory.c - see directory.h. */
#include "streams/trace/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"
#include "base/vec.h"
#include "streams/trace/burst_file.h"

static char *join_path(const char *directory, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

int trace_directory_make(const char *path, struct fathom_error *err)
{
    char *images = join_path(path, TRACE_IMAGES);
    int rc = images ? 0 : error_memory(err);
    if (rc == 0 && (mkdir(path, 0700) < 0 || mkdir(images, 0700) < 0))
        rc = error_system(err, errno, "cannot make the directory %s", path);
    free(images);
    return rc;
}

static bool is_number(const char **at)
{
    const char *from = *at;
    while (**at >= '0' && **at <= '9')
        ++*at;
    return *at > from;
}

/* Whether it is PID-TID-N.burst, PID-N.process, PID-N.maps, or one of these that is still incomplete. */
static bool is_file_name(const char *name)
{
    static const char *const suffixes[] = {".process", ".maps", ".maps.new"};
    unsigned numbers = 0;
    while (is_number(&name) && ++numbers && *name == '-')
        name++;
    if (numbers == 3)
        return strcmp(name, TRACE_BURSTS) == 0;
    for (size_t i = 0; numbers == 2 && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(name, suffixes[i]) == 0)
            return true;
    return false;
}

/* Whether it is N-NAME, or a file written beside that until it is complete. */
static bool is_image_name(const char *name)
{
    name += *name == '.';
    return is_number(&name) && *name == '-';
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* NULL: it does not exist, is no directory, or is a link to one, which could lead anywhere. */
static DIR *open_directory(int at, const char *path)
{
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !directory)
        close(fd);
    return directory;
}

/* Whether it contains nothing but files with these names, and the directory of images. */
static bool has_only(DIR *directory, bool (*is_name)(const char *name))
{
    bool only = true;
    for (struct dirent *entry; directory && only && (entry = readdir(directory));)
        only = is_dots(entry->d_name) || is_name(entry->d_name) ||
               (is_name == is_file_name && strcmp(entry->d_name, TRACE_IMAGES) == 0);
    return directory && only;
}

bool trace_directory_is(const char *path)
{
    DIR *directory = open_directory(AT_FDCWD, path);
    DIR *images = directory ? open_directory(dirfd(directory), TRACE_IMAGES) : NULL;
    bool is = has_only(images, is_image_name) && has_only(directory, is_file_name);
    if (images)
        closedir(images);
    if (directory)
        closedir(directory);
    return is;
}

static void remove_files(DIR *directory, bool (*is_name)(const char *name))
{
    for (struct dirent *entry; (entry = readdir(directory));)
        if (is_name(entry->d_name))
            unlinkat(dirfd(directory), entry->d_name, 0);
}

int trace_directory_remove(const char *path, struct fathom_error *err)
{
    DIR *directory = open_directory(AT_FDCWD, path);
    if (!directory)
        return error_system(err, errno, "cannot read %s", path);
    DIR *images = open_directory(dirfd(directory), TRACE_IMAGES);
    if (images) {
        remove_files(images, is_image_name);
        closedir(images);
    }
    remove_files(directory, is_file_name);
    int failed = unlinkat(dirfd(directory), TRACE_IMAGES, AT_REMOVEDIR) < 0 && errno != ENOENT ? errno : 0;
    closedir(directory);
    failed = !failed && rmdir(path) < 0 ? errno : failed;
    return failed ? error_system(err, failed, "cannot remove %s", path) : 0;
}

static int by_number(const void *a, const void *b)
{
    const struct trace_thread_file *x = a, *y = b;
    return order_of(x->pid, y->pid) ?: order_of(x->header.process, y->header.process)
           ?: order_of(x->tid, y->tid) ?: order_of(x->number, y->number);
}

static bool is_of_thread(const char *name, struct trace_thread_file *out)
{
    int end = 0;
    return sscanf(name, "%u-%u-%u%n", &out->pid, &out->tid, &out->number, &end) == 3 &&
           strcmp(name + end, TRACE_BURSTS) == 0;
}

int trace_directory_list(const char *path, struct trace_thread_file **out, size_t *count,
                         struct fathom_error *err)
{
    size_t capacity = 0;
    int rc = 0;
    *out = NULL;
    *count = 0;
    DIR *directory = opendir(path);
    if (!directory)
        return error_system(err, errno, "cannot read the trace %s", path);
    for (struct dirent *entry; rc == 0 && (entry = readdir(directory));) {
        struct trace_thread_file file = {0};
        if (!is_of_thread(entry->d_name, &file))
            continue;
        file.path = join_path(path, entry->d_name);
        if (file.path)
            burst_file_totals(file.path, &file.header, NULL);
        if (!file.path || !vec_push(*out, *count, capacity, file)) {
            free(file.path);
            rc = error_memory(err);
        }
    }
    closedir(directory);
    if (rc < 0)
        trace_directory_free(*out, *count);
    else if (*count)
        qsort(*out, *count, sizeof **out, by_number);
    return rc;
}

void trace_directory_free(struct trace_thread_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(files[i].path);
    free(files);
}

static void add_totals(struct trace_totals *to, const struct stream_header *h)
{
    to->records += h->records;
    to->bursts += h->bursts;
    to->lost += h->lost;
    to->bytes += h->used;
    to->checks += h->checks;
    to->full += h->full != 0;
    to->disk |= h->full > 1;
}

int trace_directory_totals(const char *path, struct trace_totals *out, struct fathom_error *err)
{
    struct trace_thread_file *files;
    size_t count;
    *out = (struct trace_totals){0};
    int rc = trace_directory_list(path, &files, &count, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++) {
        add_totals(out, &files[i].header);
        out->threads++;
        out->processes +=
            !i || files[i].pid != files[i - 1].pid || files[i].header.process != files[i - 1].header.process;
    }
    trace_directory_free(files, count);
    return 0;
}
