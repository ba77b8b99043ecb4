/* program.c - see program.h. */
#include "image/elf/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"

#define HEADERS_MAX 64 /* program headers examined: real files have about 13 */

static bool is_executable(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int search_path(const char *name, char *path, size_t capacity, struct fathom_error *err)
{
    if (strchr(name, '/')) {
        if ((size_t)snprintf(path, capacity, "%s", name) >= capacity)
            return error_set(err, ENAMETOOLONG, "cannot run %.100s...: the name is too long", name);
        return 0;
    }
    const char *list = getenv("PATH");
    if (!list)
        list = "/bin:/usr/bin"; /* like execvp(3) */
    for (const char *at = list; *name; at++) {
        size_t length = strcspn(at, ":");
        int n = length ? snprintf(path, capacity, "%.*s/%s", (int)length, at, name)
                       : snprintf(path, capacity, "./%s", name);
        if (n > 0 && (size_t)n < capacity && is_executable(path))
            return 0;
        at += length;
        if (!*at)
            break;
    }
    return error_set(err, ENOENT, "cannot run %s: not found", text_name(name));
}

/* Whether executing the file gives privileges that this user does not have. */
static bool is_raised(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    return ((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
           ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getegid()) ||
           (geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

static enum program_kind kind_of(int fd, const char *head, size_t size, char *loader, size_t capacity)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return PROGRAM_FOREIGN;
    memcpy(&header, head, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_machine != EM_X86_64 || (header.e_type != ET_EXEC && header.e_type != ET_DYN))
        return PROGRAM_FOREIGN;
    for (uint16_t i = 0; i < header.e_phnum && i < HEADERS_MAX; i++) {
        Elf64_Phdr program;
        off_t at;
        if (__builtin_add_overflow(header.e_phoff, (uint64_t)i * sizeof program, &at) ||
            pread(fd, &program, sizeof program, at) != (ssize_t)sizeof program)
            return PROGRAM_FOREIGN;
        if (program.p_type == PT_INTERP) {
            ssize_t n = pread(fd, loader, capacity - 1, (off_t)program.p_offset);
            loader[n > 0 ? n : 0] = '\0';
            return PROGRAM_DYNAMIC;
        }
    }
    return PROGRAM_STATIC;
}

/* The interpreter of a script; false: not a script. */
static bool script_interpreter(const char *head, size_t size, char *path, size_t capacity)
{
    if (size < 3 || head[0] != '#' || head[1] != '!')
        return false;
    const char *at = head + 2, *end = head + size;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    size_t length = 0;
    while (at + length < end && !strchr(" \t\n\r", at[length])) /* a NUL also ends it */
        length++;
    if (length == 0 || length >= capacity)
        return false;
    memcpy(path, at, length);
    path[length] = '\0';
    return true;
}

int program_find(const char *name, struct program *out, struct fathom_error *err)
{
    struct program found = {.kind = PROGRAM_FOREIGN};
    int rc = search_path(name, found.path, sizeof found.path, err);
    for (int depth = 0; rc == 0; depth++) {
        char head[256];
        int fd = open(found.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has no writer yet */
        if (fd < 0 && errno == EACCES)
            break; /* it may still be executable */
        if (fd < 0)
            return error_system(err, errno, "cannot run %s", found.path);
        ssize_t size = pread(fd, head, sizeof head, 0);
        bool script = size > 0 && script_interpreter(head, (size_t)size, found.path, sizeof found.path);
        if (size > 0 && !script) {
            found.kind = kind_of(fd, head, (size_t)size, found.loader, sizeof found.loader);
            found.raised = is_raised(fd);
        }
        close(fd);
        if (!script)
            break;
        if (depth == PROGRAM_SCRIPTS_MAX)
            rc = error_set(err, ELOOP, "cannot run %s: too many nested script interpreters", name);
    }
    if (rc == 0)
        *out = found;
    return rc;
}
