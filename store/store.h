/*
 * store.h - profiles of many machines, with one schema in one of two engines, which the URL names:
 *
 *     sqlite:FILE, FILE       a file of SQLite
 *     http://, https://       a server of ClickHouse
 *
 * A store has batches (batch.h), and the contexts and frames that these refer to. What is put twice counts once. What it holds may be
 * hostile: rows are checked when they are read.
 */
#ifndef FATHOM_STORE_STORE_H
#define FATHOM_STORE_STORE_H

#include <stdbool.h>

#include "base/error.h"
#include "store/batch.h"
#include "store/dictionary.h"

#define STORE_VERSION 2 /* of the schema: 2 has roll-ups */

struct store;

struct store_place {
    const char *url;
    const char *file;        /* of the URL; NULL: it names a server */
    const char *credentials; /* a file with "USER:PASSWORD"; NULL: none */
};

/* Which batches; NULL or 0: any. */
struct store_query {
    const char *service, *event, *host;
    const char *build; /* what the build-id begins with */
    uint64_t from, to; /* seconds since 1970: slots that begin at `from` or later, and before `to` */
    /* How much batches may be merged: an engine may add up those of one time slice, and of all hosts unless
     * they matter. */
    uint64_t slice; /* seconds; 0: all time is one */
    bool by_host;   /* grouped by host, */
    bool by_build;  /* then by build and unit; requires by_host */
};

enum store_list { STORE_SERVICES, STORE_EVENTS, STORE_HOSTS, STORE_BUILDS };

/* A service, event, host or build, and what there is of it of one event. */
struct store_row {
    const char *name, *event, *unit;
    const char *service;  /* of a build; "": of others */
    uint64_t first, last; /* slots */
    uint64_t samples, weight, batches;
};

/* Checks that a URL is valid and its credentials can be read (NULL: none), without connecting to it or
 * opening it. -EINVAL, or the error of reading. */
int store_check(const char *url, const char *credentials, struct fathom_error *err);
/* Opens an existing store. init: store_init() has made or will make it: a new file is created, with mode
 * 0600. Errors: those of files and connections; -ENOENT: there is no store; -ENOMSG: it is something else;
 * -ENOTSUP: it has a later version than STORE_VERSION, or an earlier one, which store_init() migrates. */
int store_open(const char *url, const char *credentials, bool init, struct store **out,
               struct fathom_error *err);
void store_close(struct store *store); /* NULL is allowed */
/* Makes the tables, or migrates those of earlier versions to STORE_VERSION. Does nothing if they are up to
 * date. */
int store_init(struct store *store, struct fathom_error *err);
/* For a server: remembers in this file, for an hour, which frames and contexts it has acknowledged, so as not
 * to send them again. Errors: those of known_open(). */
int store_know(struct store *store, const char *path, struct fathom_error *err);
uint64_t store_sent(const struct store *store); /* bytes to a server, of URLs and bodies */
/* The file that is written; NULL: a server. */
const char *store_file(const struct store *store);

/* Puts the dictionary's frames and contexts, and the batches, whose entries are sorted. *added: number of new
 * batches. A file gets everything or nothing; a server may have a part after an error, but no batch without
 * its contexts: putting everything again completes it. */
int store_put(struct store *store, const struct dictionary *dictionary, struct store_batch *batches,
              size_t count, uint64_t *added, struct fathom_error *err);
/* When a recording ended, in ns since 1970: the value of an earlier call for the same recording, or else
 * `*ended`, which is stored. So its samples always fall into the same slots. */
int store_recording(struct store *store, uint64_t recording, uint64_t *ended, struct fathom_error *err);

/* A batch and its texts are valid during the call. Negative: stops, and is returned. */
typedef int store_visit(void *context, const struct store_batch *batch, struct fathom_error *err);
/* Visits each batch, or sums of them, once, ordered by slice if the query has one service and event; the
 * store may be queried meanwhile. Sums come from roll-ups where these are clean, and have the same total;
 * they have neither sequence nor phase. For a server the query must have a service. */
int store_each(struct store *store, const struct store_query *query, store_visit *visit, void *context,
               struct fathom_error *err);
typedef int store_visit_row(void *context, const struct store_row *row, struct fathom_error *err);
/* Visits rows in the order of names, then of events. */
int store_rows(struct store *store, enum store_list list, const struct store_query *query,
               store_visit_row *visit, void *context, struct fathom_error *err);
/* The dictionary's number for an entry's context; adds it and its callers to the dictionary. -EBADMSG: a
 * caller or frame is missing, or the callers do not end. */
int store_context(struct store *store, uint64_t context, struct dictionary *dictionary, uint32_t *number,
                  struct fathom_error *err);
/* An hour or day (UTC) can be rolled up when it has been over for this time, in seconds: agents send within two slots after a slot's end. */
#define ROLL_UP_MARGIN 900u

struct store_rolled {
    uint64_t hours, days; /* of one service and event each */
};

/* Adds up the batches of each closed hour and day, by host and build, so that less has to be read; from: only
 * periods that end later. Batches that arrive afterwards are read from slots until the next call. It can be
 * interrupted at any time, and repeats nothing. */
int store_roll_up(struct store *store, uint64_t from, uint64_t now, struct store_rolled *rolled,
                  struct fathom_error *err);
/* Removes the batches of slots before a time, and their roll-ups; on a server, those of whole days (UTC). */
int store_drop(struct store *store, uint64_t before, uint64_t *dropped, struct fathom_error *err);

#endif
