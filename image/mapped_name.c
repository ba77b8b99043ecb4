/* mapped_name.c - see mapped_name.h. */
#include "image/mapped_name.h"

#include <string.h>

static bool begins_with(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

enum mapped_kind mapped_kind(const char *name)
{
    static const char *const no_files[] = {"//", "/SYSV", "/anon_hugepage", "/[aio]"};
    if (name[0] != '/' || (begins_with(name, "/dev/") && !begins_with(name, "/dev/shm/")))
        return MAPPED_NO_FILE;
    for (size_t i = 0; i < sizeof no_files / sizeof no_files[0]; i++)
        if (begins_with(name, no_files[i]))
            return MAPPED_NO_FILE;
    return begins_with(name, "/memfd:") ? MAPPED_MEMORY_FILE : MAPPED_FILE;
}

bool mapped_is_run_time(const char *name)
{
    static const char *const names[] = {"//anon",  "[anon",     "[heap]", "[stack",
                                        "/memfd:", "/dev/zero", "/SYSV"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins_with(name, names[i]))
            return true;
    return *name == 0;
}

bool mapped_is_jitdump(const char *name)
{
    const char *base = strrchr(name, '/');
    if (name[0] != '/' || !begins_with(base, "/jit-"))
        return false;
    base += strlen("/jit-");
    const size_t digits = strspn(base, "0123456789");
    return digits && strcmp(base + digits, ".dump") == 0;
}

/* Length of the tail if the name ends with it and has something before it; else 0. */
static size_t has_tail(const char *name, const char *tail)
{
    const size_t length = strlen(name), bytes = strlen(tail);
    return length > bytes && strcmp(name + length - bytes, tail) == 0 ? bytes : 0;
}

size_t mapped_path_length(const char *name)
{
    return strlen(name) - has_tail(name, " (deleted)") - has_tail(name, MAPPED_NOT_FOUND);
}

bool mapped_is_not_found(const char *name)
{
    return has_tail(name, MAPPED_NOT_FOUND);
}

bool mapped_is_gone(const char *name)
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
