/* name.c - display names of functions: demangled by libiberty, or made from the file's name. */
#include "image/name.h"

#include "base/path.h"
#include "image/d_name.h"
#include "image/image_private.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer names are not demangled, which may take disproportionate time and memory. */
#define MAX_MANGLED 4096

/* Length of a library's name up to its first version number: "libsqlite3.so.0" of libsqlite3.so.0.8.6. */
static int short_length(const char *name)
{
    const char *so = strstr(name, ".so.");
    if (!so)
        return (int)strlen(name);
    const char *p = so + 4;
    while (isdigit((unsigned char)*p))
        p++;
    return p > so + 4 && *p == '.' ? (int)(p - name) : (int)strlen(name);
}

/* Demangles names of C++, Rust and D (which libiberty does not try by itself). NULL: none of these. */
static char *demangle_symbol(const char *symbol)
{
    char *text = cplus_demangle(symbol, DMGL_NO_OPTS);
    return text ? text : d_name_demangle(symbol);
}

int name_format(const char *file, const char *symbol, uint64_t address, char *out, size_t size)
{
    const char *slash = strrchr(file, '/');
    if (slash)
        file = slash + 1;
    if (!symbol)
        return snprintf(out, size, "%.*s+0x%llx", short_length(file), file, (unsigned long long)address);
    /* the suffix of a PLT stub is not part of the mangled name */
    size_t length = strlen(symbol);
    bool stub = length > 4 && strcmp(symbol + length - 4, "@plt") == 0;
    char *mangled = strndup(symbol, length - (stub ? 4 : 0));
    char *text = mangled && length < MAX_MANGLED ? demangle_symbol(mangled) : NULL;
    int n = snprintf(out, size, "%s%s", text ? text : mangled ? mangled : symbol, stub ? "@plt" : "");
    free(text);
    free(mangled);
    return n;
}

int image_function_format(const struct image *image, uint32_t index, char *out, size_t size)
{
    const struct image_function *f = image_function(image, index);
    if (!f)
        return snprintf(out, size, "%s", "");
    return name_format(image->name, f->name, f->address, out, size);
}

int name_at(const struct image *image, uint64_t address, char *out, size_t size)
{
    uint32_t function = image_function_at(image, address);
    return function != IMAGE_NO_FUNCTION ? image_function_format(image, function, out, size)
                                         : name_format(image_path(image), NULL, address, out, size);
}

bool name_begins(const char *path, const char *const *names, size_t count)
{
    const char *name = path_base(path);
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

bool name_is_c_library(const char *path)
{
    static const char *const names[] = {"libc.so.", "libc-2.", "ld-linux", "ld-musl", "ld-2.", "ld.so"};
    return name_begins(path, names, sizeof names / sizeof *names);
}
