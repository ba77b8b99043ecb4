/* probe_file.c - see probe_file.h. */
#include "collector/probes/probe_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/targets/proc.h"

static bool is_file(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

/* Checked for files found by name: "libc.so" is a linker script. */
static bool is_elf(const char *path)
{
    char magic[SELFMAG];
    const int fd = is_file(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const bool is = fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* Whether a file has this name, or that of a library with its number. */
static bool is_named(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    const size_t length = strlen(name);
    if (strncmp(last, name, length) != 0)
        return false;
    return !last[length] || strcmp(last + length, ".so") == 0 || strncmp(last + length, ".so.", 4) == 0;
}

/* Resolves a path as the process sees it, in its mount namespace. */
static bool is_file_of(pid_t pid, const char *path, char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "/proc/%d/root%s", (int)pid, path) < PATH_MAX && is_file(out);
}

static bool find_mapped(const char *name, pid_t pid, char out[PATH_MAX])
{
    struct maps maps;
    bool found = false;
    if (proc_maps(pid, &maps) != 0)
        return false;
    for (size_t i = 0; i < maps.count && !found; i++)
        found = maps.list[i].path[0] == '/' && is_named(maps.list[i].path, name) &&
                is_file_of(pid, maps.list[i].path, out);
    proc_maps_free(&maps);
    return found;
}

/* The first file of this name in a list of directories. */
static bool find_in(const char *directories, const char *name, const char *suffix, char out[PATH_MAX])
{
    for (const char *at = directories; *at; at += strcspn(at, ":"), at += *at == ':') {
        const int length = (int)strcspn(at, ":");
        char pattern[PATH_MAX];
        glob_t files;
        bool found = false;
        if (length == 0 ||
            snprintf(pattern, sizeof pattern, "%.*s/%s%s", length, at, name, suffix) >= PATH_MAX ||
            glob(pattern, 0, NULL, &files) != 0)
            continue;
        for (size_t i = 0; i < files.gl_pathc && !found; i++)
            found = is_elf(files.gl_pathv[i]) && snprintf(out, PATH_MAX, "%s", files.gl_pathv[i]) < PATH_MAX;
        globfree(&files);
        if (found)
            return true;
    }
    return false;
}

static bool find_installed(const char *name, char out[PATH_MAX])
{
    static const char libraries[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:"
                                    "/lib:/usr/lib:/usr/local/lib";
    static const char *const suffixes[] = {"", ".so", ".so.[0-9]*"};
    const char *programs = getenv("PATH");
    if (programs && find_in(programs, name, "", out))
        return true;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (find_in(libraries, name, suffixes[i], out))
            return true;
    return false;
}

int probe_file_find(const char *name, const pid_t *pids, size_t pid_count, char out[PATH_MAX])
{
    if (strchr(name, '/')) {
        const bool seen =
            *name == '/' && strncmp(name, "/proc/", 6) != 0; /* may be another file than for us */
        for (size_t i = 0; i < pid_count && seen; i++)
            if (is_file_of(pids[i], name, out))
                return 0;
        return is_file(name) && snprintf(out, PATH_MAX, "%s", name) < PATH_MAX ? 0 : -ENOENT;
    }
    for (size_t i = 0; i < pid_count; i++)
        if (find_mapped(name, pids[i], out))
            return 0;
    return find_installed(name, out) ? 0 : -ENOENT;
}
