/* connection.h - an open SQLite file, its statements, and its errors as those of Fathom. Private to
 * store/sqlite/. */
#ifndef FATHOM_STORE_SQLITE_CONNECTION_H
#define FATHOM_STORE_SQLITE_CONNECTION_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct connection {
    sqlite3 *db;
    char *file;
};

/* create: a missing file is made, with mode 0600. The file's own triggers, views and functions are disabled:
 * it may come from anyone. An unfinished transaction of a killed writer is rolled back. */
int connection_open(struct connection *connection, const char *file, bool create, struct fathom_error *err);
void connection_close(struct connection *connection); /* a zeroed one is allowed */

/* Sets the error of SQLite's last result; returns a negative errno: -ENOSPC, -EROFS, -EBUSY, -ENOMSG: not a
 * database, -EBADMSG, -EIO, ... */
int connection_error(const struct connection *connection, struct fathom_error *err);
/* -EBADMSG: the file has impossible contents. */
int connection_damaged(const struct connection *connection, const char *what, struct fathom_error *err);
/* Statements without results. */
int connection_run(const struct connection *connection, const char *sql, struct fathom_error *err);
int connection_prepare(const struct connection *connection, const char *sql, sqlite3_stmt **out,
                       struct fathom_error *err);
/* 1: there is a row; 0: no more, and the statement can be run again. */
int connection_step(const struct connection *connection, sqlite3_stmt *statement, struct fathom_error *err);
/* The first number in the first row, for example of "pragma user_version". */
int connection_number(const struct connection *connection, const char *sql, int64_t *out,
                      struct fathom_error *err);

/* Parameters and columns, from 1 and 0 on. Texts are borrowed until the statement is run. */
static inline void bind_text(sqlite3_stmt *statement, int number, const char *text)
{
    sqlite3_bind_text(statement, number, text, -1, SQLITE_STATIC);
}

static inline void bind_u64(sqlite3_stmt *statement, int number, uint64_t value)
{
    sqlite3_bind_int64(statement, number, (sqlite3_int64)value);
}

/* "" if it is not a text. */
static inline const char *column_text(sqlite3_stmt *statement, int number)
{
    const unsigned char *text = sqlite3_column_text(statement, number);
    return text ? (const char *)text : "";
}

/* SQLite's numbers are signed: larger sums saturate. */
static inline void bind_sum(sqlite3_stmt *statement, int number, uint64_t sum)
{
    bind_u64(statement, number, sum < INT64_MAX ? sum : INT64_MAX);
}

/* false: it is not an integer from 0 to `most`: columns have whatever values the file's writer stored. */
static inline bool column_take(sqlite3_stmt *statement, int number, uint64_t most, uint64_t *out)
{
    const sqlite3_int64 value = sqlite3_column_int64(statement, number);
    *out = (uint64_t)value;
    return sqlite3_column_type(statement, number) == SQLITE_INTEGER && value >= 0 && *out <= most;
}

static inline uint64_t column_u64(sqlite3_stmt *statement, int number)
{
    return (uint64_t)sqlite3_column_int64(statement, number);
}

#endif
