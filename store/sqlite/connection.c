/* connection.c - see connection.h. */
#include "store/sqlite/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 30000, LONGEST = 128 << 20 }; /* maximum bytes of a value or row */

static int errno_of(const struct connection *c)
{
    const int system = sqlite3_system_errno(c->db);
    switch (sqlite3_errcode(c->db) & 0xff) {
    case SQLITE_NOMEM:
        return ENOMEM;
    case SQLITE_FULL:
        return ENOSPC;
    case SQLITE_READONLY:
        return EROFS;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return EBUSY;
    case SQLITE_NOTADB:
        return ENOMSG;
    case SQLITE_CORRUPT:
        return EBADMSG;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return system ? system : EIO;
    default:
        return EBADMSG; /* the tables were not made by this program */
    }
}

int connection_error(const struct connection *c, struct fathom_error *err)
{
    const int code = c->db ? errno_of(c) : ENOMEM;
    if (code == ENOMEM)
        return error_memory(err);
    if (code == ENOMSG)
        return error_set(err, ENOMSG, "%s is no store: it is not a file of SQLite", c->file);
    if (code == EBUSY)
        return error_set(err, EBUSY, "%s is being written by another process", c->file);
    return error_set(err, code, "%s: %s", c->file,
                     code == ENOSPC || code == EACCES ? strerror(code) : sqlite3_errmsg(c->db));
}

int connection_damaged(const struct connection *c, const char *what, struct fathom_error *err)
{
    return error_set(err, EBADMSG, "%s is damaged: %s", c->file, what);
}

/* Makes a file that nobody else may read, unless it exists. */
static int make_file(const char *file, struct fathom_error *err)
{
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0)
        return error_system(err, errno, "%s", file);
    close(fd);
    return 0;
}

static int check_file(const char *file, struct fathom_error *err)
{
    struct stat st;
    if (stat(file, &st) < 0)
        return errno == ENOENT
                   ? error_set(err, ENOENT, "there is no store %s: make one with 'fathom store init %s'",
                               file, file)
                   : error_system(err, errno, "%s", file);
    return S_ISREG(st.st_mode) ? 0 : error_set(err, ENOMSG, "%s is no store: it is not a regular file", file);
}

/* Disables code in the file. */
static void distrust_file(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LONGEST);
    sqlite3_busy_timeout(db, BUSY_MS);
}

/* SQLite treats ":memory:" and "file:NAME?OPTIONS" specially; paths with a '/' in front are always files. */
static int open_file(struct connection *c, struct fathom_error *err)
{
    char *path = NULL;
    if (asprintf(&path, "%s%s", c->file[0] == '/' ? "" : "./", c->file) < 0)
        return error_memory(err);
    const int rc = sqlite3_open_v2(path, &c->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    free(path);
    return rc == SQLITE_OK ? 0 : connection_error(c, err);
}

int connection_open(struct connection *c, const char *file, bool create, struct fathom_error *err)
{
    int64_t ignored;
    *c = (struct connection){.file = strdup(file)};
    int rc = c->file ? 0 : error_memory(err);
    if (rc == 0 && create)
        rc = make_file(file, err);
    if (rc == 0)
        rc = check_file(file, err);
    if (rc == 0)
        rc = open_file(c, err);
    if (rc == 0) {
        distrust_file(c->db);
        rc = connection_run(c,
                            "pragma cell_size_check = on; pragma synchronous = full; pragma temp_store = "
                            "memory;pragma cache_size = -16384;",
                            err);
    }
    if (rc == 0) /* the first read rolls back what was not finished */
        rc = connection_number(c, "select count(*) from sqlite_schema", &ignored, err);
    if (rc < 0)
        connection_close(c);
    return rc;
}

void connection_close(struct connection *c)
{
    sqlite3_close_v2(c->db);
    free(c->file);
    *c = (struct connection){0};
}

int connection_run(const struct connection *c, const char *sql, struct fathom_error *err)
{
    return sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : connection_error(c, err);
}

int connection_prepare(const struct connection *c, const char *sql, sqlite3_stmt **out,
                       struct fathom_error *err)
{
    return sqlite3_prepare_v2(c->db, sql, -1, out, NULL) == SQLITE_OK ? 0 : connection_error(c, err);
}

int connection_step(const struct connection *c, sqlite3_stmt *statement, struct fathom_error *err)
{
    const int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        return 1;
    const int failed = rc == SQLITE_DONE ? 0 : connection_error(c, err);
    sqlite3_reset(statement);
    return failed;
}

int connection_number(const struct connection *c, const char *sql, int64_t *out, struct fathom_error *err)
{
    sqlite3_stmt *statement = NULL;
    int rc = connection_prepare(c, sql, &statement, err);
    if (rc == 0)
        rc = connection_step(c, statement, err);
    *out = rc == 1 ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return rc < 0 ? rc : 0;
}
