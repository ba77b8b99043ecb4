/* mapped_name.c - see mapped_name.h. */
#include "image/mapped_name.h"

#include <string.h>

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

enum mapped_kind mapped_kind(const char *name)
{
    static const char *const no_files[] = {"//", "/SYSV", "/anon_hugepage", "/[aio]"};
    if (name[0] != '/' || (begins(name, "/dev/") && !begins(name, "/dev/shm/")))
        return MAPPED_NO_FILE;
    for (size_t i = 0; i < sizeof no_files / sizeof no_files[0]; i++)
        if (begins(name, no_files[i]))
            return MAPPED_NO_FILE;
    return begins(name, "/memfd:") ? MAPPED_MEMORY_FILE : MAPPED_FILE;
}

bool mapped_is_run_time(const char *name)
{
    static const char *const names[] = {"//anon",  "[anon",     "[heap]", "[stack",
                                        "/memfd:", "/dev/zero", "/SYSV"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(name, names[i]))
            return true;
    return *name == 0;
}

size_t mapped_path_length(const char *name)
{
    static const char deleted[] = " (deleted)";
    size_t length = strlen(name), tail = sizeof deleted - 1;
    return length > tail && strcmp(name + length - tail, deleted) == 0 ? length - tail : length;
}

bool mapped_is_deleted(const char *name)
{
    return name[mapped_path_length(name)] != 0;
}

bool mapped_is_program(const char *path)
{
    const char *at = strrchr(path, '/');
    size_t length = mapped_path_length(path);
    if (path[0] != '/')
        return false;
    while ((at = strstr(at, ".so"))) {
        at += strlen(".so");
        if (*at == '.' || (size_t)(at - path) == length)
            return false;
    }
    return true;
}
