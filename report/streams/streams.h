/*
 * streams.h - hot streams for output: for each, the objects that it walks, in order, by which instructions, in which calling contexts, and
 * the number of cache lines. Texts are borrowed, and may be hostile.
 */
#ifndef FATHOM_REPORT_STREAMS_STREAMS_H
#define FATHOM_REPORT_STREAMS_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define STREAMS_LINE    64u /* bytes of a cache line */
#define SHOWN_NO_OBJECT UINT32_MAX

enum shown_kind { SHOWN_HEAP, SHOWN_SYMBOL, SHOWN_STACK, SHOWN_OTHER };

struct shown_object {
    enum shown_kind kind;
    uint64_t start, size; /* address in its process; bytes */
    const char *name;     /* of the symbol; NULL: not a symbol */
    const char *path;     /* of the allocation: "main > make"; NULL: unknown */
};

struct shown_step { /* a step of a stream */
    const char *function;
    const char *file; /* NULL: unknown; */
    uint32_t line;
    const char *image;
    uint64_t address; /* in the file */
    bool load, store; /* neither: it is executed code */
    uint16_t size;    /* bytes; 0: unknown */
    uint32_t object;  /* index in the stream's objects; SHOWN_NO_OBJECT */
    uint64_t offset;  /* in the object */
};

struct shown_path {
    const char *path; /* NULL: unknown */
    uint64_t count;   /* walks */
};

struct shown_lines { /* cache lines */
    uint64_t touched;
    uint64_t together; /* if the objects were adjacent, */
    uint64_t used;     /* or only their used parts */
};

struct shown_stream {
    uint64_t length, occurrences;
    struct shown_step *steps; /* `length`, or fewer */
    size_t step_count;
    struct shown_object *objects;
    size_t object_count;
    struct shown_path *paths; /* of its walks; the most frequent first */
    size_t path_count;
    struct shown_lines lines;
    /* Number of streams by the same instructions over objects of the same kinds, including this one. */
    size_t alike;
    uint64_t alike_heat;
    size_t alike_objects;
    struct shown_lines alike_lines;
};

struct shown_streams {
    struct shown_stream *list; /* the hottest stream of each of the hottest kinds */
    size_t count, kinds;       /* kinds: number of all */
    bool data;                 /* else calls or blocks */
    uint64_t references;       /* in the trace */
    uint64_t hot;              /* in hot streams */
    size_t streams;            /* hot ones */
    uint64_t bursts;
    uint64_t unknown; /* records of instructions that are in no list of sites */
    uint64_t lost;    /* records that did not fit into the log */
    size_t width;     /* columns; 0: any */
};

int streams_text_write(const struct shown_streams *streams, FILE *out, struct fathom_error *err);
int streams_json_write(const struct shown_streams *streams, FILE *out, struct fathom_error *err);
int streams_html_write(const struct shown_streams *streams, FILE *out, struct fathom_error *err);

#endif
