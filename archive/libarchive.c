/* libarchive.c - see libarchive.h. */
#include "archive/libarchive.h"

#include "base/library.h"

struct libarchive la;

int libarchive_load(struct fathom_error *err)
{
#define ROW(name) {#name, &la.name},
    static const struct library_function functions[] = {LIBARCHIVE_EACH(ROW)};
    static struct library library = {"libarchive.so.13", functions, sizeof functions / sizeof *functions,
                                     false};
    return library_load(&library, err);
}
