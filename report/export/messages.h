/*
 * messages.h - what the formats made of protobuf-c's messages share (pprof.c, otlp.c): memory for messages, lists of them, the string
 * table, and the samples and paths to write. Private to report/export/.
 *
 * Anything that runs out of memory sets `failed`; then nothing is added any more.
 */
#ifndef FATHOM_REPORT_EXPORT_MESSAGES_H
#define FATHOM_REPORT_EXPORT_MESSAGES_H

#include "base/arena.h"
#include "report/export/placed.h"
#include "report/export/sites.h"

struct messages {
    const struct contexts *contexts;
    struct arena *arena; /* the messages */
    struct placed_samples placed;
    struct used_frames used;
    struct sites sites;
    struct names *texts;                /* numbered as in the string table, but from 1 */
    struct table *mappings, *functions; /* a key -> its number */
    bool failed;
};

/* Pointers to messages, as protobuf-c needs them. */
struct message_list {
    void **at;
    size_t count, capacity;
};

/* -ENOMEM; -ERANGE as branches_check(). Clear it even on failure. */
int messages_begin(struct messages *m, const struct contexts *contexts, struct fathom_error *err);
void messages_clear(struct messages *m);

/* Zeroed memory; NULL: it failed. */
void *message_memory(struct messages *m, size_t size);
/* Appends a new message to the list (NULL: to none); NULL: it failed. */
void *message_add(struct messages *m, struct message_list *list, size_t size);
#define MESSAGE(m, list, type, init)                                                                         \
    __extension__({                                                                                          \
        type *message_made = message_add(m, list, sizeof *message_made);                                     \
        if (message_made)                                                                                    \
            init(message_made);                                                                              \
        message_made;                                                                                        \
    })
/* The number of a text in the string table; 0: "". Protobuf requires UTF-8, which names of threads may violate, so they are made safe
 * here. */
int32_t message_text(struct messages *m, const char *words);
/* Adds the string table to an empty list. */
void message_strings(struct messages *m, struct message_list *strings);

#endif
