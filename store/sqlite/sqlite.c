/* sqlite.c - a store in one file: its tables and their versions. */
#include "store/sqlite/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define APPLICATION "1179931731" /* "FTHS" */

/* The statements that migrate the tables from one version to the next. */
static const char *const steps[STORE_VERSION] = {
    "create table frames(number integer primary key, hash integer not null unique, kind integer not null, "
    "image text not null, name text not null);create table contexts(number integer primary key, hash integer "
    "not null unique, caller integer not null, frame integer not null);create table batches(service text not "
    "null, event text not null, slot integer not null, host text not null, sequence integer not null, build "
    "text not null, phase integer not null, unit text not null, samples integer not null, weight integer not "
    "null, entries blob not null, primary key(service, event, slot, host, sequence, build, phase)) without "
    "rowid;create table recordings(recording integer primary key, ended integer not null);",
    "create table rollups(service text not null, event text not null, length integer not null, begin integer "
    "not null, host text not null, build text not null, unit text not null, first integer not null, last "
    "integer not null, batches integer not null, samples integer not null, weight integer not null, entries "
    "blob not null, primary key(service, event, length, begin, host, build, unit)) without rowid;create "
    "table rolled(service text not null, event text not null, begin integer not null, length integer not "
    "null, primary key(service, event, begin, length)) without rowid;",
};

static void sqlite_close(void *engine)
{
    struct sqlite *s = engine;
    sqlite3_finalize(s->context);
    sqlite3_finalize(s->frame);
    sqlite3_finalize(s->rollup);
    free(s->texts);
    payload_free(s->payload);
    connection_close(&s->connection);
    free(s);
}

static int sqlite_open(const struct store_place *place, bool init, void **engine, struct fathom_error *err)
{
    struct sqlite *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    s->payload = payload_new();
    int rc = s->payload ? connection_open(&s->connection, place->file, init, err) : error_memory(err);
    if (rc < 0)
        sqlite_close(s);
    else
        *engine = s;
    return rc;
}

/* In one transaction, as another process may be making the tables. */
static int sqlite_version(void *engine, uint32_t *version, struct fathom_error *err)
{
    const struct connection *c = &((struct sqlite *)engine)->connection;
    int64_t application, tables, number;
    int rc = connection_run(c, "savepoint version", err);
    if (rc < 0)
        return rc;
    rc = connection_number(c, "select " APPLICATION " = (select application_id from pragma_application_id)",
                           &application, err);
    if (rc == 0)
        rc = connection_number(c, "select count(*) from sqlite_schema", &tables, err);
    if (rc == 0)
        rc = connection_number(c, "pragma user_version", &number, err);
    connection_run(c, "release version", NULL);
    if (rc < 0)
        return rc;
    if (tables && (!application || number <= 0))
        return error_set(err, ENOMSG, "%s is no store, but a database of another program", c->file);
    *version = tables ? (uint32_t)number : 0;
    return 0;
}

static int sqlite_init(void *engine, uint32_t from, struct fathom_error *err)
{
    const struct connection *c = &((struct sqlite *)engine)->connection;
    char version[64];
    int rc = from == 0 ? connection_run(c, "pragma auto_vacuum = incremental", err) : 0;
    if (rc == 0)
        rc = sqlite_begin(c, err);
    if (rc < 0)
        return rc;
    rc = sqlite_version(engine, &from, err); /* another process may have made them since */
    for (uint32_t i = from; rc == 0 && i < STORE_VERSION; i++)
        rc = connection_run(c, steps[i], err);
    snprintf(version, sizeof version, "pragma application_id = " APPLICATION "; pragma user_version = %u",
             STORE_VERSION);
    if (rc == 0 && from < STORE_VERSION)
        rc = connection_run(c, version, err);
    return sqlite_end(c, rc, err);
}

const struct store_engine sqlite_engine = {
    .open = sqlite_open,
    .close = sqlite_close,
    .version = sqlite_version,
    .init = sqlite_init,
    .put = sqlite_put,
    .recording = sqlite_recording,
    .each = sqlite_each,
    .rows = sqlite_rows,
    .context = sqlite_context,
    .frame = sqlite_frame,
    .drop = sqlite_drop,
    .unrolled = sqlite_unrolled,
    .roll_begin = sqlite_roll_begin,
    .roll_add = sqlite_roll_add,
    .roll_end = sqlite_roll_end,
};
