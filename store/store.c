/* store.c - the engines behind one interface, and the checks that are the same for all of them; see store.h. */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "store/engine.h"
#include "store/http_client.h"
#include "store/roll_up.h"

#define DEEPEST (1u << 20) /* maximum callers of a context: more frames do not fit into a stack of 8 MB */

struct step {
    uint64_t context, frame; /* the engine's numbers */
};

struct store {
    const struct store_engine *engine;
    void *at;
    char *name; /* the URL, for messages */
    char *file; /* NULL: a server */
    uint32_t version;
    struct table *contexts, *frames; /* the engine's number -> the dictionary's + 1, of the dictionary `of` */
    struct dictionary *of;
    struct step *steps; /* contexts whose callers are looked up */
    size_t step_capacity;
};

static int find_engine(struct store *s, const char *url, struct store_place *place, struct fathom_error *err)
{
    const char *file = strncmp(url, "sqlite:", 7) == 0 ? url + 7 : url;
    place->url = url;
    s->engine = &clickhouse_engine;
    if (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0)
        return 0;
    if (!*file || (file == url && strstr(url, "://")))
        return error_set(err, EINVAL,
                         "%s%sa store is a file, 'sqlite:FILE', or 'http://HOST:PORT/DATABASE'; import and "
                         "agents can also send to 'pyroscope+http://HOST:PORT/', 'parca+...' and 'otlp+...'",
                         url, *url ? ": " : "");
    s->engine = &sqlite_engine;
    s->file = strdup(file);
    place->file = s->file;
    return s->file ? 0 : error_memory(err);
}

/* Credentials are also read for stores that do not use them: a given file should be valid. */
static int check_credentials(const char *file, struct fathom_error *err)
{
    struct http_client *client = NULL;
    int rc = file ? http_client_new("http://localhost/", 0, file, &client, err) : 0;
    http_client_free(client);
    return rc;
}

int store_check(const char *url, const char *credentials, struct fathom_error *err)
{
    struct store s = {0};
    struct store_place place = {.credentials = credentials};
    int rc = find_engine(&s, url, &place, err);
    if (rc == 0 && s.file)
        rc = check_credentials(credentials, err);
    else if (rc == 0 && (rc = s.engine->open(&place, false, &s.at, err)) == 0)
        s.engine->close(s.at); /* a server is not contacted before the first request */
    free(s.file);
    return rc;
}

static int check_version(struct store *s, bool init, struct fathom_error *err)
{
    int rc = s->engine->version(s->at, &s->version, err);
    if (rc < 0)
        return rc;
    if (s->version > STORE_VERSION)
        return error_set(err, ENOTSUP,
                         "%s is a store of version %u, and this program knows %u: use a newer one", s->name,
                         s->version, STORE_VERSION);
    if (init || s->version == STORE_VERSION)
        return 0;
    return s->version == 0
               ? error_set(err, ENOENT, "there is no store in %s: make one with 'fathom store init %s'",
                           s->name, s->name)
               : error_set(err, ENOTSUP,
                           "%s is a store of version %u: 'fathom store init %s' brings it to %u", s->name,
                           s->version, s->name, STORE_VERSION);
}

int store_open(const char *url, const char *credentials, bool init, struct store **out,
               struct fathom_error *err)
{
    struct store *s = calloc(1, sizeof *s);
    struct store_place place = {.credentials = credentials};
    if (!s)
        return error_memory(err);
    s->name = strdup(url);
    s->contexts = table_new();
    s->frames = table_new();
    int rc = s->name && s->contexts && s->frames ? find_engine(s, url, &place, err) : error_memory(err);
    if (rc == 0)
        rc = s->engine->open(&place, init, &s->at, err);
    if (rc == 0)
        rc = check_version(s, init, err);
    if (rc < 0)
        store_close(s);
    else
        *out = s;
    return rc;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    if (s->at)
        s->engine->close(s->at);
    table_free(s->contexts);
    table_free(s->frames);
    free(s->steps);
    free(s->name);
    free(s->file);
    free(s);
}

int store_know(struct store *s, const char *path, struct fathom_error *err)
{
    return s->engine->know ? s->engine->know(s->at, path, err) : 0;
}

uint64_t store_sent(const struct store *s)
{
    return s->engine->sent ? s->engine->sent(s->at) : 0;
}

const char *store_file(const struct store *s)
{
    return s->file;
}

int store_init(struct store *s, struct fathom_error *err)
{
    return s->version == STORE_VERSION ? 0 : s->engine->init(s->at, s->version, err);
}

int store_put(struct store *s, const struct dictionary *dictionary, struct store_batch *batches, size_t count,
              uint64_t *added, struct fathom_error *err)
{
    return s->engine->put(s->at, dictionary, batches, count, added, err);
}

int store_recording(struct store *s, uint64_t recording, uint64_t *ended, struct fathom_error *err)
{
    return s->engine->recording(s->at, recording, ended, err);
}

int store_each(struct store *s, const struct store_query *query, store_visit *visit, void *context,
               struct fathom_error *err)
{
    return s->engine->each(s->at, query, visit, context, err);
}

int store_rows(struct store *s, enum store_list list, const struct store_query *query, store_visit_row *visit,
               void *context, struct fathom_error *err)
{
    return s->engine->rows(s->at, list, query, visit, context, err);
}

int store_roll_up(struct store *s, uint64_t from, uint64_t now, struct store_rolled *rolled,
                  struct fathom_error *err)
{
    return roll_up(s->engine, s->at, from, now, rolled, err);
}

int store_drop(struct store *s, uint64_t before, uint64_t *dropped, struct fathom_error *err)
{
    return s->engine->drop(s->at, before, dropped, err);
}

/* Contexts ------------------------------------------------------------------------------------------------------- */

static int refuse_damaged(struct store *s, const char *what, uint64_t number, struct fathom_error *err)
{
    return error_set(err, EBADMSG, "%s is damaged: %s (%llu)", s->name, what, (unsigned long long)number);
}

static int find_frame(struct store *s, uint64_t number, uint32_t *out, struct fathom_error *err)
{
    struct stored_frame frame;
    uint64_t *place = table_put(s->frames, number, NULL);
    if (!place)
        return error_memory(err);
    if (!*place) {
        int rc = s->engine->frame(s->at, number, &frame, err);
        if (rc < 0)
            return rc == -ENODATA ? refuse_damaged(s, "a context has a frame that is missing", number, err)
                                  : rc;
        if (strlen(frame.image) > STORE_FRAME_MOST || strlen(frame.name) > STORE_FRAME_MOST)
            return refuse_damaged(s, "a frame's name is too long", number, err);
        uint8_t kind = frame.kind < UINT8_MAX ? (uint8_t)frame.kind : UINT8_MAX;
        uint32_t found = dictionary_frame(s->of, kind, frame.image, frame.name);
        if (found == DICTIONARY_NONE)
            return error_memory(err);
        *place = (uint64_t)found + 1;
    }
    *out = (uint32_t)(*place - 1);
    return 0;
}

/* Adds a context whose caller is known; it is the caller of the next one. */
static int add_context(struct store *s, const struct step *step, uint32_t *caller, struct fathom_error *err)
{
    uint32_t frame = 0;
    int rc = find_frame(s, step->frame, &frame, err);
    if (rc < 0)
        return rc;
    *caller = dictionary_context(s->of, *caller, frame);
    if (*caller == DICTIONARY_NONE || !table_set(s->contexts, step->context, (uint64_t)*caller + 1))
        return error_memory(err);
    return 0;
}

/* A new dictionary has nothing of this store yet. */
static bool use_dictionary(struct store *s, struct dictionary *dictionary)
{
    if (s->of == dictionary)
        return true;
    table_free(s->contexts);
    table_free(s->frames);
    s->contexts = table_new();
    s->frames = table_new();
    s->of = s->contexts && s->frames ? dictionary : NULL;
    return s->of;
}

int store_context(struct store *s, uint64_t context, struct dictionary *dictionary, uint32_t *number,
                  struct fathom_error *err)
{
    const uint64_t *known = NULL;
    uint32_t found = DICTIONARY_NONE;
    size_t count = 0;
    int rc = use_dictionary(s, dictionary) ? 0 : error_memory(err);
    for (uint64_t at = context; rc == 0 && at && !(known = table_find(s->contexts, at));) {
        struct stored_context c;
        if (count == DEEPEST)
            return refuse_damaged(s, "a context has no end of callers", context, err);
        rc = s->engine->context(s->at, at, &c, err);
        if (rc == -ENODATA)
            return refuse_damaged(s, "a context is missing", at, err);
        if (rc == 0 && !vec_push(s->steps, count, s->step_capacity, (struct step){at, c.frame}))
            rc = error_memory(err);
        at = c.caller;
    }
    if (known)
        found = (uint32_t)(*known - 1);
    while (rc == 0 && count)
        rc = add_context(s, &s->steps[--count], &found, err);
    if (rc == 0 && found == DICTIONARY_NONE)
        rc = refuse_damaged(s, "a batch has no context", context, err);
    if (rc == 0)
        *number = found;
    return rc;
}
