/* debuginfod.c - see debuginfod.h; the library's interface is elfutils/debuginfod/debuginfod.h. */
#include "image/debuginfod.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/library.h"
#include "base/vec.h"

typedef struct debuginfod_client debuginfod_client;
typedef debuginfod_client *begin_function(void);
/* Returns an open file, or a negative errno; *path is malloc'd. */
typedef int find_function(debuginfod_client *client, const unsigned char *build_id, int size, char **path);
typedef void end_function(debuginfod_client *client);

struct answer {
    enum debuginfod_kind kind;
    struct build_id id;
    char *path; /* NULL: not available */
};

struct debuginfod {
    const struct log *log;
    bool loaded;   /* loading was tried */
    bool silent;   /* make no more queries */
    bool reported; /* a failure was reported: only once, unless the log is verbose */
    begin_function *begin;
    find_function *find[2]; /* by kind */
    end_function *end;
    struct answer *answers;
    size_t count, capacity;
};

struct debuginfod *debuginfod_new(const struct log *log)
{
    const char *urls = secure_getenv("DEBUGINFOD_URLS");
    struct debuginfod *servers = urls && urls[strspn(urls, " \t")] ? calloc(1, sizeof *servers) : NULL;
    if (servers)
        servers->log = log;
    return servers;
}

void debuginfod_free(struct debuginfod *servers)
{
    if (!servers)
        return;
    for (size_t i = 0; i < servers->count; i++)
        free(servers->answers[i].path);
    free(servers->answers);
    free(servers);
}

static void load_library(struct debuginfod *servers)
{
    const struct library_function functions[] = {
        {"debuginfod_begin", &servers->begin},
        {"debuginfod_find_debuginfo", &servers->find[DEBUGINFOD_DEBUG_FILE]},
        {"debuginfod_find_executable", &servers->find[DEBUGINFOD_IMAGE]},
        {"debuginfod_end", &servers->end},
    };
    struct library library = {"libdebuginfod.so.1", functions, sizeof functions / sizeof *functions, false};
    struct fathom_error why = {0};
    servers->loaded = true;
    servers->silent = library_load(&library, &why) < 0;
    if (servers->silent)
        log_write(servers->log, LOG_NOTE,
                  "DEBUGINFOD_URLS is set, but %s: no server is queried for debug files", why.text);
}

/* NULL: not available. Makes a new client for each query, as one that is reused would be shared with forked
 * processes. */
static char *query_servers(struct debuginfod *servers, enum debuginfod_kind kind, const struct build_id *id)
{
    char hex[2 * BUILD_ID_MAX + 1], *path = NULL;
    build_id_format(id, hex);
    debuginfod_client *client = servers->begin();
    if (!client)
        return NULL;
    int fd = servers->find[kind](client, id->bytes, id->size, &path);
    servers->end(client);
    if (fd < 0) {
        servers->silent = fd == -ETIME;
        enum log_level level = servers->silent ? LOG_WARNING : servers->reported ? LOG_DEBUG : LOG_NOTE;
        if (fd != -ENOENT) {
            log_write(servers->log, level, "debuginfod: cannot get the file of build %s: %s%s", hex,
                      strerror(-fd), servers->silent ? "; no more files will be requested" : "");
            servers->reported = true;
        }
        return NULL; /* (*path is not set) */
    }
    close(fd);
    struct build_id found;
    if (path && build_id_read(path, &found, NULL) == 0 && build_id_equal(id, &found))
        return path;
    log_write(servers->log, LOG_WARNING, "debuginfod: the file received for build %s is not of that build",
              hex);
    free(path);
    return NULL;
}

static struct answer *find_answer(const struct debuginfod *servers, enum debuginfod_kind kind,
                                  const struct build_id *id)
{
    for (size_t i = 0; i < servers->count; i++) {
        if (servers->answers[i].kind == kind && build_id_equal(&servers->answers[i].id, id))
            return &servers->answers[i];
    }
    return NULL;
}

/* NULL: out of memory. */
static struct answer *add_answer(struct debuginfod *servers, enum debuginfod_kind kind,
                                 const struct build_id *id)
{
    struct answer answer = {.kind = kind, .id = *id};
    bool added = vec_push(servers->answers, servers->count, servers->capacity, answer);
    return added ? &servers->answers[servers->count - 1] : NULL;
}

char *debuginfod_find(struct debuginfod *servers, enum debuginfod_kind kind, const struct build_id *id)
{
    if (!servers || !id->size)
        return NULL;
    struct answer *answer = find_answer(servers, kind, id);
    if (!answer) {
        answer = add_answer(servers, kind, id);
        if (!servers->loaded)
            load_library(servers);
        if (answer && !servers->silent)
            answer->path = query_servers(servers, kind, id);
    }
    return answer && answer->path ? strdup(answer->path) : NULL;
}
