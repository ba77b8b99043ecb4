/*
 * store.h - profiles of many machines: kept, listed, and chosen for reports and differences (report.h, diff.h).
 *
 * A store is named by a URL: "sqlite:FILE", or FILE alone; "http://HOST:PORT/DATABASE", or https, is a server of ClickHouse. It has batches: what one host sampled of one service, with one event, in
 * one slot of five minutes (UTC), and the build of the program. Recordings can also be sent to servers of other tools, by URLs such as
 * "otlp+http://HOST:PORT/": fathom-store(1) has them.
 */
#ifndef FATHOM_STORE_H
#define FATHOM_STORE_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which of a store's batches. Texts are NULL: any. */
struct fathom_store_selection {
    const char *url;
    const char *credentials; /* of a server: a file that others may not read, with "USER:PASSWORD" */
    const char *service, *host;
    const char *build; /* what its build-id begins with */
    const char *since,
        *until; /* "90s", "30m", "6h", "2d", "4w": before now; "2026-11-28 10:00", "2026-11-28": UTC;
                                  "@1795946400": seconds since 1970; "now". The slots that these are in count, that of `until` does not
                                  if it is the first moment of it */
    FATHOM_RESERVED;
};

/* What can be told of a store, or of a server of another tool, without asking it: whether there is such a kind, and the credentials, if there are some, can be
 * read. Errors: those of the file; -EINVAL: the URL, or what the file has; -EACCES: others may read the file. */
FATHOM_API int fathom_store_check(const char *url, const char *credentials, struct fathom_error *error);
/* Makes the store, if it is not there, or brings it to the version that this library knows. Errors: those of files; -ENOMSG: it is
 * something else; -ENOTSUP: of a later version. */
FATHOM_API int fathom_store_init(const char *url, const char *credentials, struct fathom_error *error);

/* Recordings ------------------------------------------------------------------------------------------------------ */

/* Texts are borrowed until fathom_store_import_close(). */
struct fathom_store_import_options {
    const char *url, *credentials;
    const char *recording; /* a file, or an archive of `fathom archive` */
    const char *service;   /* NULL: each process's container, service of systemd or else program */
    const char *host;      /* NULL: the recorded host's name */
    /* When its last sample was taken, as `until` above; NULL: as it tells, or when the file was last written. Of a recording that is in the store already, what was taken then holds. */
    const char *ended;
    /* A file of what a server has acknowledged, which is made: what it says is not sent again for an hour; NULL: all is sent. Other stores leave it. */
    const char *known;
    struct fathom_profile_options profile; /* map, symfs, no_cache and inline_most */
    FATHOM_RESERVED;
};

struct fathom_store_import;

/* What became of it. */
struct fathom_store_imported {
    uint64_t batches, added; /* added: of them, those that were new */
    uint64_t samples;
    uint64_t sent; /* bytes to a server, of URLs and bodies */
};

/* Opens the store and the recording, as fathom_report_open() does. listener: may be NULL; borrowed until
 * fathom_store_import_close(). Errors: those of fathom_store_init() and fathom_report_open(); -EINVAL: a time that is none. */
FATHOM_API_MT_UNSAFE int fathom_store_import_open(const struct fathom_store_import_options *options,
                                                  const struct fathom_listener *listener,
                                                  struct fathom_store_import **out,
                                                  struct fathom_error *error);
FATHOM_API const struct fathom_writing *fathom_store_import_writing(const struct fathom_store_import *import);
/* Reads the recording, infers its contexts, and puts all of it into the store, or nothing; once. A recording that is there already
 * changes nothing; a server of another tool gets it again. Errors: those of fathom_report_run(), and of the store. */
FATHOM_API int fathom_store_import_run(struct fathom_store_import *import,
                                       struct fathom_store_imported *imported, struct fathom_error *error);
FATHOM_API void fathom_store_import_close(struct fathom_store_import *import); /* NULL is allowed */

/* What there is ---------------------------------------------------------------------------------------------------- */

enum fathom_store_list {
    FATHOM_STORE_SERVICES,
    FATHOM_STORE_EVENTS,
    FATHOM_STORE_HOSTS,
    FATHOM_STORE_BUILDS
};

/* Prints a line for each of them and each event: from when to when, its samples and weight. -ENOENT: there is none. */
FATHOM_API int fathom_store_list(const struct fathom_store_selection *selection, enum fathom_store_list list,
                                 FILE *out, struct fathom_error *error);
/* Removes all slots that ended before, with their roll-ups; of a server, whole days (UTC). keep: a time as in a selection. *dropped: batches. -EINVAL: it is no time. */
FATHOM_API int fathom_store_retain(const char *url, const char *credentials, const char *keep,
                                   uint64_t *dropped, struct fathom_error *error);

/* What was made: hours and days of one service and event each. */
struct fathom_store_rolled {
    uint64_t hours, days;
};

/* Adds up the batches of each hour and day (UTC) that has been over for 15 minutes, by host and build, where that was not done since the
 * last of its batches came: reports and differences of them then read less, and say the same. since: a time as in a selection; only what
 * ends later; NULL: all. It may be interrupted at any time. Errors: those of the store; -EINVAL: it is no time. */
FATHOM_API int fathom_store_roll_up(const char *url, const char *credentials, const char *since,
                                    struct fathom_store_rolled *rolled, struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
