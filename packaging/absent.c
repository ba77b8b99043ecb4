/*
 * absent.c - what the static program does without: linked before the libraries, it keeps out of the program what would need shared
 * libraries at run time, or archives that Debian does not have. Whoever asks for one of them is told so.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "archive/libarchive.h"
#include "base/library.h"

/* In the place of dlopen(3): what is opened at run time would bring another C library with it. */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode)
{
    (void)file, (void)mode;
    return NULL;
}

/* Users of /etc/passwd alone: others are found by shared libraries. */
struct passwd *getpwnam(const char *name)
{
    FILE *users = fopen("/etc/passwd", "re");
    struct passwd *user = NULL;
    while (users && (user = fgetpwent(users)) && strcmp(user->pw_name, name) != 0)
        ;
    if (users)
        fclose(users);
    return user;
}

/* No library is loaded later: libcurl, whose archive needs Kerberos', which Debian has none of; libdebuginfod. */
int library_load(struct library *library, struct fathom_error *err)
{
    return error_set(err, ELIBACC,
                     "the static fathom cannot load %s, which this needs: use an installed fathom",
                     library->file);
}

#define ADDRESS(name) .name = name,
struct libarchive la = {LIBARCHIVE_EACH(ADDRESS)};
int libarchive_load(struct fathom_error *err)
{
    (void)err;
    return 0;
}

/* libarchive has one table of all the formats that it writes, of which some need XML, bzip2 or cryptography. Ours is tar. */
#define NO_FORMAT(name)                                                                                      \
    int archive_write_set_format_##name(struct archive *archive)                                             \
    {                                                                                                        \
        (void)archive;                                                                                       \
        return ARCHIVE_FATAL;                                                                                \
    }
NO_FORMAT(7zip)
NO_FORMAT(mtree)
NO_FORMAT(mtree_classic)
NO_FORMAT(xar)
NO_FORMAT(zip)

/* xxHash: the archive has no choice by processor, as the shared library does. */
XXH64_hash_t XXH3_64bits_dispatch(const void *data, size_t size);
XXH64_hash_t XXH3_64bits_dispatch(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}
XXH_errorcode XXH3_64bits_update_dispatch(XXH3_state_t *state, const void *data, size_t size);
XXH_errorcode XXH3_64bits_update_dispatch(XXH3_state_t *state, const void *data, size_t size)
{
    return XXH3_64bits_update(state, data, size);
}
