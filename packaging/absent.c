/*
 * absent.c - what the static program does without: linked before the libraries, it keeps out of the program what would need shared
 * libraries at run time, or archives that Debian does not have. Whoever asks for one of them is told so.
 */
#include <archive.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "store/http_client.h"

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

/* libcurl: the archive needs Kerberos', which Debian has none of. */
int http_client_new(const char *url, size_t base, const char *credentials, struct http_client **out,
                    struct fathom_error *err)
{
    (void)base, (void)credentials, (void)out;
    return error_set(
        err, ENOTSUP,
        "%s: the static fathom speaks to no server: keep profiles in a file of SQLite, or import them "
        "by an installed fathom",
        url);
}
void http_client_free(struct http_client *client)
{
    (void)client;
}
const char *http_client_url(const struct http_client *client)
{
    (void)client;
    return "";
}
char *http_client_escape(struct http_client *client, const char *text)
{
    (void)client, (void)text;
    return NULL;
}
void http_client_escaped(char *text)
{
    (void)text;
}
int http_client_post(struct http_client *client, const struct http_request *request,
                     struct http_answer *answer, struct fathom_error *err)
{
    (void)client, (void)request, (void)answer;
    return error_set(err, ENOTSUP, "the static fathom speaks to no server");
}
bool http_answer_is(const struct http_answer *answer, const char *type)
{
    (void)answer, (void)type;
    return false;
}
void http_client_compress(struct http_client *client)
{
    (void)client;
}
uint64_t http_client_sent(const struct http_client *client)
{
    (void)client;
    return 0;
}
void http_client_give(struct http_client *client)
{
    (void)client;
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
