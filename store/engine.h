/* engine.h - the interface of a store's engines: private to store/. Functions behave like those of store.h
 * with the same names. */
#ifndef FATHOM_STORE_ENGINE_H
#define FATHOM_STORE_ENGINE_H

#include "store/store.h"

/* A context as stored by an engine. */
struct stored_context {
    uint64_t caller; /* 0: none */
    uint64_t frame;
};

/* Texts are valid until the next call. */
struct stored_frame {
    uint64_t kind;
    const char *image, *name;
};

/* An hour or a day of one service and event. */
struct store_period {
    const char *service, *event;
    uint32_t length; /* seconds */
    uint64_t begin;
};
typedef int store_visit_period(void *context, const struct store_period *period, struct fathom_error *err);

struct store_engine {
    int (*open)(const struct store_place *place, bool init, void **engine, struct fathom_error *err);
    void (*close)(void *engine);
    /* 0: it has no tables yet. */
    int (*version)(void *engine, uint32_t *version, struct fathom_error *err);
    int (*init)(void *engine, uint32_t from, struct fathom_error *err);
    /* Keeps in a file what the server is known to have, so that it is not sent again. NULL: the engine is a
     * file itself. */
    int (*know)(void *engine, const char *path, struct fathom_error *err);
    uint64_t (*sent)(const void *engine); /* bytes sent so far; NULL: none */
    int (*put)(void *engine, const struct dictionary *dictionary, struct store_batch *batches, size_t count,
               uint64_t *added, struct fathom_error *err);
    int (*recording)(void *engine, uint64_t recording, uint64_t *ended, struct fathom_error *err);
    int (*each)(void *engine, const struct store_query *query, store_visit *visit, void *context,
                struct fathom_error *err);
    int (*rows)(void *engine, enum store_list list, const struct store_query *query, store_visit_row *visit,
                void *context, struct fathom_error *err);
    /* -ENODATA: there is none with this number. */
    int (*context)(void *engine, uint64_t number, struct stored_context *out, struct fathom_error *err);
    int (*frame)(void *engine, uint64_t number, struct stored_frame *out, struct fathom_error *err);
    int (*drop)(void *engine, uint64_t before, uint64_t *dropped, struct fathom_error *err);
    /* Visits periods of a length that begin at `from` or later, have ended at `before`, and have batches, but
     * no clean roll-up. */
    int (*unrolled)(void *engine, uint32_t length, uint64_t from, uint64_t before, store_visit_period *visit,
                    void *context, struct fathom_error *err);
    /* Makes the roll-up of a period: roll_add() for each host, build and unit, called by a visit of each().
     * roll_end() gets the result rc, and returns it or its own error. If anything fails, the period is as
     * before, or not clean. */
    int (*roll_begin)(void *engine, const struct store_period *period, struct fathom_error *err);
    int (*roll_add)(void *engine, const struct store_period *period, const struct store_batch *sum,
                    struct fathom_error *err);
    int (*roll_end)(void *engine, const struct store_period *period, int rc, struct fathom_error *err);
};

extern const struct store_engine sqlite_engine, clickhouse_engine;

#endif
