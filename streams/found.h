/*
 * found.h - the hot streams of a trace: its references become symbols, each an instruction with an object and an offset in it, or an
 * instruction alone; rules.h finds what repeats in them. To compare traces, streams of instructions are found by place (scan.h), as
 * the rules of a trace that was sampled are others than those of the whole.
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
    FOUND_STACK,  /* a word of some stack: objects there cannot be told apart */
    FOUND_OTHER,  /* a word of other memory */
};

#define FOUND_WORD 8u /* bytes */
#define FOUND_NONE UINT32_MAX

struct found_object {
    enum found_kind kind;
    uint64_t process;     /* tells processes apart */
    uint64_t start, size; /* its address in the process; bytes */
    uint32_t path;        /* of its allocation: names_text() of the paths; FOUND_NONE: unknown, or none */
    const char *name;     /* FOUND_SYMBOL: as in the file's symbol table */
    const char *image;    /* of FOUND_SYMBOL and FOUND_OTHER: the file's path; NULL: none */
};

#define FOUND_ARROW " > " /* between the functions of a path, the outermost first */

struct found_symbol {
    struct traced_image *image;
    const struct duplicate_site *site;
    uint32_t object; /* FOUND_NONE: it refers to none */
    uint64_t offset; /* in that, bytes */
};

struct found {
    struct trace *trace;
    struct names *paths;          /* calling contexts as text: "main > run" */
    struct found_object *objects; /* those that are referred to */
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
/* Finds streams that can be compared with another trace's, however each was sampled (scan.h): their symbols are names of instructions, as
 * hot_overlap() needs, and walks_find() is not for them. Without a grammar it takes a twentieth of the time. Streams of 10 to 40
 * are usual: those of 2 say little. */
int found_by_place(const char *directory, enum found_of of, const struct hot_options *options,
                   struct image_cache *cache, const struct log *log, struct found *out,
                   struct fathom_error *err);

/* For who reads the trace again: the symbol of a reference; -ENOMEM. */
int found_symbol(struct found *found, const struct trace_event *event, uint32_t *symbol);
/* The path of a process by its id; FOUND_NONE: unknown. -ENOMEM. */
int found_path(struct found *found, const struct trace_process *process, uint64_t id, uint32_t *path);
/* Whether a reference is one of those. */
bool found_is_of(const struct trace_event *event, enum found_of of);

#endif
