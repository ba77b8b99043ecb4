/*
 * found.h - the hot streams of a trace. Its references become symbols: an instruction with an object and an
 * offset in it, or an instruction alone; rules.h finds what repeats in them. To compare traces, streams of
 * instructions are found by place (scan.h), as a sampled trace has other rules than the whole one.
 */
#ifndef FATHOM_STREAMS_FOUND_H
#define FATHOM_STREAMS_FOUND_H

#include "streams/hot.h"
#include "streams/trace/trace.h"

enum found_of {
    FOUND_DATA, /* loads and stores */
    FOUND_CODE, /* functions entered, blocks executed */
};

enum found_kind {
    FOUND_HEAP,   /* an allocation */
    FOUND_SYMBOL, /* a named object of a file */
    FOUND_STACK,  /* a word of a stack: objects there cannot be distinguished */
    FOUND_OTHER,  /* a word of other memory */
};

#define FOUND_WORD 8u /* bytes */
#define FOUND_NONE UINT32_MAX

struct found_object {
    enum found_kind kind;
    uint64_t process;     /* distinguishes processes */
    uint64_t start, size; /* its address in the process; bytes */
    uint32_t path;     /* of its allocation: index in `paths` (names_text()); FOUND_NONE: unknown, or none */
    const char *name;  /* FOUND_SYMBOL: as in the file's symbol table */
    const char *image; /* FOUND_SYMBOL and FOUND_OTHER: the file's path; NULL: none */
};

#define FOUND_ARROW " > " /* between the functions of a path, the outermost first */

struct found_symbol {
    struct traced_image *image;
    const struct duplicate_site *site;
    uint32_t object; /* FOUND_NONE: it refers to none */
    uint64_t offset; /* in the object, bytes */
};

struct found {
    struct trace *trace;
    struct names *paths;          /* calling contexts as text: "main > run" */
    struct found_object *objects; /* the objects that are referred to */
    size_t object_count, object_capacity;
    struct found_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    struct hot_profile hot;
    struct table *object_index, *symbol_index, *path_index;
};

/* The caller clears it, also after an error. The cache must outlive it. */
int found_streams(const char *directory, enum found_of of, const struct hot_options *options,
                  struct image_cache *cache, const struct log *log, struct found *out,
                  struct fathom_error *err);
void found_clear(struct found *found);
/* Finds streams that can be compared with another trace's, however each was sampled (scan.h): their symbols are
 * names of instructions, as hot_overlap() needs; walks_find() does not work on them. Takes a twentieth of the
 * time, as it makes no grammar. Streams of 10 to 40 symbols are usual: those of 2 mean little. */
int found_by_place(const char *directory, enum found_of of, const struct hot_options *options,
                   struct image_cache *cache, const struct log *log, struct found *out,
                   struct fathom_error *err);

/* For reading the trace again: the symbol of a reference. -ENOMEM. */
int found_symbol(struct found *found, const struct trace_event *event, uint32_t *symbol);
/* The path of a process by its id; FOUND_NONE: unknown. -ENOMEM. */
int found_path(struct found *found, const struct trace_process *process, uint64_t id, uint32_t *path);
/* Whether an event is a reference of that kind. */
bool found_is_of(const struct trace_event *event, enum found_of of);

#endif
