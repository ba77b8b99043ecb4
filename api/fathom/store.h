/*
 * store.h - stores profiles of many machines, lists them, and selects them for reports and differences (report.h, diff.h).
 *
 * A store is named by a URL: "sqlite:FILE", or just FILE; "http://HOST:PORT/DATABASE", or https, is a ClickHouse server. A store consists
 * of batches: what one host sampled of one service and build of its program, with one event, in one slot of five minutes (UTC). Recordings
 * can also be sent to servers of other tools, by URLs like "otlp+http://HOST:PORT/": see fathom-store(1).
 */
#ifndef FATHOM_STORE_H
#define FATHOM_STORE_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Selects batches of a store. NULL texts match any. */
struct fathom_store_selection {
    const char *url;
    const char *credentials; /* for a server: a file with "USER:PASSWORD", unreadable for other users */
    const char *service, *host;
    const char *build; /* the beginning of the build ID */
    const char *since,
        *until; /* "90s", "30m", "6h", "2d", "4w": before now; "2026-11-28 10:00", "2026-11-28": UTC;
                                  "@1795946400": seconds since 1970; "now". Slots that contain these times are included, except
                                  a slot that begins exactly at `until` */
    FATHOM_RESERVED;
};

/* Checks the URL of a store or of another tool's server, and that the credentials, if any, can be read, without connecting. Errors: those
 * of the file; -EINVAL: the URL, or the file's contents; -EACCES: other users may read the file. */
FATHOM_API int fathom_store_check(const char *url, const char *credentials, struct fathom_error *error);
/* Creates the store if it does not exist, or upgrades it to this library's version. Errors: file errors; -ENOMSG: not a store; -ENOTSUP:
 * of a later version. */
FATHOM_API int fathom_store_init(const char *url, const char *credentials, struct fathom_error *error);

/* Recordings ------------------------------------------------------------------------------------------------------ */

/* Texts are borrowed until fathom_store_import_close(). */
struct fathom_store_import_options {
    const char *url, *credentials;
    const char *recording; /* a file, or an archive of `fathom archive` */
    const char *service;   /* NULL: each process's container, systemd service or else program */
    const char *host;      /* NULL: the recorded host's name */
    /* Time of the last sample, in the format of `until` above; NULL: as stated in the recording, or the file's modification time. If the
     * recording is already in the store, the time stated at first remains. */
    const char *ended;
    /* A file that remembers what a server has acknowledged, created if missing: that is not sent again for an hour; NULL: everything is
     * sent. Other stores ignore it. */
    const char *known;
    struct fathom_profile_options profile; /* only map, symfs, no_cache and inline_most are used */
    FATHOM_RESERVED;
};

struct fathom_store_import;

/* Result of an import. */
struct fathom_store_imported {
    uint64_t batches, added; /* added: those that were new */
    uint64_t samples;
    uint64_t sent; /* bytes sent to a server, in URLs and bodies */
};

/* Opens the store and the recording, as fathom_report_open() does. listener: may be NULL; borrowed until
 * fathom_store_import_close(). Errors: those of fathom_store_init() and fathom_report_open(); -EINVAL: not a time. */
FATHOM_API_MT_UNSAFE int fathom_store_import_open(const struct fathom_store_import_options *options,
                                                  const struct fathom_listener *listener,
                                                  struct fathom_store_import **out,
                                                  struct fathom_error *error);
FATHOM_API const struct fathom_writing *fathom_store_import_writing(const struct fathom_store_import *import);
/* Reads the recording, infers its contexts, and adds all of it to the store, or nothing. Call it once. A recording that is already in the
 * store changes nothing; another tool's server gets it again. Errors: those of fathom_report_run() and of the store. */
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

/* Prints a line for each service, host or build and each event: the first and last time, samples and weight. -ENOENT: there is none. */
FATHOM_API int fathom_store_list(const struct fathom_store_selection *selection, enum fathom_store_list list,
                                 FILE *out, struct fathom_error *error);
/* Removes all slots that ended before `keep`, a time as in a selection, with their roll-ups; on a server, whole days (UTC). *dropped: the
 * number of batches. -EINVAL: not a time. */
FATHOM_API int fathom_store_retain(const char *url, const char *credentials, const char *keep,
                                   uint64_t *dropped, struct fathom_error *error);

/* Number of roll-ups made, each for one service and event. */
struct fathom_store_rolled {
    uint64_t hours, days;
};

/* Adds up the batches of each hour and day (UTC) that ended at least 15 minutes ago, by host and build, unless that was done after its
 * last batch came. Reports and differences then read less, with the same result. since: a time as in a selection: only hours and days
 * that end later; NULL: all. It may be interrupted at any time. Errors: those of the store; -EINVAL: not a time. */
FATHOM_API int fathom_store_roll_up(const char *url, const char *credentials, const char *since,
                                    struct fathom_store_rolled *rolled, struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
