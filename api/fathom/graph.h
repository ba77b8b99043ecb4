/*
 * graph.h - the call graph of a binary's code, with the bytes of stack between the frames of caller and callee.
 */
#ifndef FATHOM_GRAPH_H
#define FATHOM_GRAPH_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_graph;

/* Reads the code of a program or library. Errors: system errors; -ENOEXEC, -EBADMSG, -ENOTSUP: not such a file, damaged, another
 * architecture. */
FATHOM_API int fathom_graph_open(const char *image, const struct fathom_listener *listener,
                                 struct fathom_graph **graph, struct fathom_error *error);
FATHOM_API void fathom_graph_close(struct fathom_graph *graph); /* NULL is allowed */

enum fathom_graph_format {
    FATHOM_GRAPH_TEXT, /* each function's calls: address, bytes or "tail" or "open", callee */
    FATHOM_GRAPH_DOT   /* for Graphviz */
};

struct fathom_graph_options {
    enum fathom_graph_format format;
    const char *function; /* list only this function's calls; NULL: all */
    FATHOM_RESERVED;
};

/* Writes the calls; after a failed write, ferror() is set. Names are made safe for a terminal. Errors: -ENOENT: no such function;
 * -ENOMEM. */
FATHOM_API int fathom_graph_write(const struct fathom_graph *graph,
                                  const struct fathom_graph_options *options, FILE *out,
                                  struct fathom_error *error);

#ifdef __cplusplus
}
#endif

#endif
