/*
 * saved_tree.h - the file of a calling-context tree: contexts of functions, with their weights and what they may lack.
 *
 *     16 bytes   "FATHOM TREE\n", version, three zeros
 *     u64        bytes of the payload
 *     u64        its checksum (checksum.h)
 *     payload    unit and command, NUL-terminated; u64 bound; the number of functions, and of each the image's file name
 *                and the function's, NUL-terminated, and its address in the image; the number of nodes, and of each, parents
 *                first: how many levels up from the node before its parent is, its function, weight, and error
 *
 * Little-endian; numbers without a size are LEB128. The first node is the root: its level and function are 0, and its weight
 * is what is in no context of the file.
 */
#ifndef FATHOM_HCCT_SAVED_TREE_H
#define FATHOM_HCCT_SAVED_TREE_H

#include "base/error.h"
#include "hcct/cct.h"
#include "hcct/trace.h"

#define SAVED_TREE_MAGIC   "FATHOM TREE\n"
#define SAVED_TREE_VERSION 1
#define SAVED_TREE_HEAD    32u /* bytes before the payload */

struct saved_tree {
    struct cct *tree; /* has one metric; items are indices of functions */
    struct trace_function *functions;
    size_t function_count;
    const char *unit;    /* of weights: "calls", "ns", "ticks" */
    const char *command; /* what ran; "" if unknown */
    uint64_t bound;      /* weights, and those of missing contexts, may be too low by this much */
    struct arena *texts; /* owns what was read; NULL otherwise */
};

/* Writes to fd, which stays the caller's; path is for messages. -ENOMEM, or what file_write_all() does. */
int saved_tree_write(const struct saved_tree *tree, int fd, const char *path, struct fathom_error *err);
/* Errors: system errors; -ENOMSG: not a tree; -ENOTSUP: of another version; -EBADMSG: damaged or cut short. Texts have no
 * control characters. */
int saved_tree_read(const char *path, struct saved_tree *out, struct fathom_error *err);
/* The same of bytes in memory; name is for messages. */
int saved_tree_parse(const void *data, size_t size, const char *name, struct saved_tree *out,
                     struct fathom_error *err);
/* Frees what was read. */
void saved_tree_free(struct saved_tree *tree);

#endif
