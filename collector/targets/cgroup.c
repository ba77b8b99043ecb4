/* cgroup.c - see cgroup.h. proc_pid_mountinfo(5). */
#include "collector/targets/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/vec.h"

/* Decodes blanks, line ends and backslashes in a path, which are octal numbers. */
static void decode_octal(char *path)
{
    char *to = path;
    for (const char *from = path; *from; to++) {
        unsigned byte;
        if (*from == '\\' && sscanf(from + 1, "%3o", &byte) == 1 && strnlen(from, 4) == 4) {
            *to = (char)byte;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = 0;
}

/* Whether a word of a list with commas is `wanted`. */
static bool has_word(const char *list, const char *wanted)
{
    const size_t length = strlen(wanted);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, wanted, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    }
    return false;
}

/* The mount point of a line, in place, and what kind it is: 2, 1 (with perf_event), -1 (another of v1) or 0. */
static int read_mount(char *line, char **point)
{
    char *save, *separator = strstr(line, " - ");
    if (!separator)
        return 0;
    *separator = 0;
    char *type = strtok_r(separator + 3, " \n", &save);
    strtok_r(NULL, " \n", &save); /* source */
    char *options = strtok_r(NULL, " \n", &save);
    char *word = strtok_r(line, " ", &save);
    for (int i = 0; word && i < 4; i++)
        word = strtok_r(NULL, " ", &save);
    if (!type || !options || !word)
        return 0;
    decode_octal(word);
    *point = word;
    if (strcmp(type, "cgroup2") == 0)
        return 2;
    return strcmp(type, "cgroup") != 0 ? 0 : has_word(options, "perf_event") ? 1 : -1;
}

int cgroup_root(const char *mounts, char root[PATH_MAX], struct fathom_error *err)
{
    FILE *file = fopen(mounts, "re");
    char *line = NULL, *point;
    size_t room = 0;
    bool other = false;
    int found = 0;
    if (!file)
        return error_system(err, errno, "cannot read %s", mounts);
    while (found != 1 && getline(&line, &room, file) > 0) {
        int kind = read_mount(line, &point);
        other |= kind < 0;
        if (kind > 0 && (!found || kind == 1) && strlen(point) < PATH_MAX) {
            strcpy(root, point);
            found = kind;
        }
    }
    free(line);
    fclose(file);
    if (found)
        return 0;
    return other ? error_set(
                       err, ENOENT,
                       "only cgroup v1 is mounted here, without its controller perf_event: mount that, or "
                       "cgroup v2 ('mount -t cgroup2 none DIRECTORY')")
                 : error_set(err, ENOENT,
                             "no cgroups are mounted here ('mount -t cgroup2 none /sys/fs/cgroup' does)");
}

/* Resolves links, dots and repeated slashes in both paths. false: the group's path is not below the
 * root's. */
static bool resolve_paths(const char *root, struct cgroup *group)
{
    char path[PATH_MAX];
    if (!realpath(root, group->root) || !realpath(group->path, path))
        return false;
    const size_t length = strlen(group->root);
    strcpy(group->path, path);
    return strncmp(path, group->root, length) == 0 && (!path[length] || path[length] == '/');
}

int cgroup_open(const char *root, const char *path, struct cgroup *out, struct fathom_error *err)
{
    struct cgroup made = CGROUP_NONE;
    struct stat of_root, st;
    if (stat(root, &of_root) != 0)
        return error_system(err, errno, "cannot look at %s", root);
    const bool whole = path[0] == '/' && stat(path, &st) == 0 && st.st_dev == of_root.st_dev;
    path += whole ? 0 : strspn(path, "/");
    if (snprintf(made.path, sizeof made.path, "%s%s%s", whole ? "" : root, whole ? "" : "/", path) >=
        (int)sizeof made.path)
        return error_set(err, ENAMETOOLONG, "the path of the cgroup is longer than %d bytes", PATH_MAX);
    made.fd = open(made.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (made.fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENODEV))
        return error_set(err, ENOENT, "there is no cgroup %s", made.path);
    if (made.fd < 0)
        return error_system(err, errno, "cannot open cgroup %s", made.path);
    if (!resolve_paths(root, &made)) {
        cgroup_close(&made);
        return error_set(err, EINVAL, "%s is no cgroup of the hierarchy at %s", path, root);
    }
    *out = made;
    return 0;
}

void cgroup_close(struct cgroup *group)
{
    if (group->fd >= 0)
        close(group->fd);
    group->fd = -1;
}

bool cgroup_exists(const struct cgroup *group)
{
    return faccessat(group->fd, "cgroup.procs", F_OK, 0) == 0;
}

struct list {
    pid_t *pids;
    size_t count, capacity;
};

/* Adds the processes listed in a group's directory. false: out of memory. A removed group lists none; a
 * threaded one (cgroups(7), "Thread mode") lists those of its domain, above it. */
static bool list_group(const char *directory, struct list *list)
{
    char path[PATH_MAX + 16];
    int pid;
    snprintf(path, sizeof path, "%s/cgroup.procs", directory);
    FILE *file = fopen(path, "re");
    bool good = true;
    while (file && good && fscanf(file, "%d", &pid) == 1)
        if (pid > 0) /* 0: of another PID namespace */
            good = vec_push(list->pids, list->count, list->capacity, (pid_t)pid);
    if (file)
        fclose(file);
    return good;
}

int cgroup_processes(const struct cgroup *group, pid_t **pids, size_t *count, struct fathom_error *err)
{
    char *const paths[] = {(char *)(uintptr_t)group->path, NULL};
    struct list list = {0};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!tree)
        return error_system(err, errno, "cannot list the cgroups below %s", group->path);
    bool good = true;
    for (FTSENT *entry; good && (entry = fts_read(tree));)
        if (entry->fts_info == FTS_D)
            good = list_group(entry->fts_path, &list);
    fts_close(tree);
    if (!good) {
        free(list.pids);
        return error_memory(err);
    }
    *pids = list.pids;
    *count = list.count;
    return 0;
}

/* The id of a group, from its directory. false: it was removed, or the system call is forbidden here. */
static bool number_of(const char *directory, uint64_t *id)
{
    union {
        struct file_handle handle;
        char bytes[sizeof(struct file_handle) + sizeof *id];
    } of = {.handle.handle_bytes = sizeof *id};
    int mount;
    if (name_to_handle_at(AT_FDCWD, directory, &of.handle, &mount, 0) != 0)
        return false;
    memcpy(id, of.handle.f_handle, sizeof *id);
    return true;
}

int cgroup_each(const char *root, const char *directory,
                int (*use)(void *context, uint64_t id, const char *path, struct fathom_error *err),
                void *context, struct fathom_error *err)
{
    char *const paths[] = {(char *)(uintptr_t)directory, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!tree)
        return error_system(err, errno, "cannot list the cgroups below %s", directory);
    const size_t length = strlen(root);
    int rc = 0;
    uint64_t id;
    for (const FTSENT *entry; rc >= 0 && (entry = fts_read(tree));) {
        const char *path = entry->fts_path + length;
        if (entry->fts_info == FTS_D && entry->fts_pathlen < PATH_MAX && number_of(entry->fts_path, &id))
            rc = use(context, id, *path ? path : "/", err);
    }
    fts_close(tree);
    return rc;
}

#define FIRST_NAMESPACE 0xEFFFFFFBu /* PROC_CGROUP_INIT_INO of include/linux/proc_ns.h */
#define FIRST_GROUP     1 /* id of a hierarchy's root; in a container another group is mounted in its place */

bool cgroup_number(const struct cgroup *group, uint64_t *id, uint32_t *level)
{
    struct stat ns;
    struct statfs fs;
    uint64_t root;
    if (stat("/proc/self/ns/cgroup", &ns) != 0 || ns.st_ino != FIRST_NAMESPACE ||
        fstatfs(group->fd, &fs) != 0 || fs.f_type != CGROUP2_SUPER_MAGIC || !number_of(group->root, &root) ||
        root != FIRST_GROUP || !number_of(group->path, id))
        return false;
    *level = 0;
    for (const char *at = group->path + strlen(group->root); *at; at += strcspn(at, "/")) {
        at += strspn(at, "/");
        *level += *at != 0;
    }
    return true;
}
