/*
 * store_file.h - reads a store of the probe runtime (pathmap/wire/store.h) with every number checked.
 *
 * The file is read, never mapped: the process that writes it may still be running, or truncate it. What was
 * read is a copy that does not change. Internal to pathmap/.
 */
#ifndef FATHOM_PATHMAP_TRAIN_STORE_FILE_H
#define FATHOM_PATHMAP_TRAIN_STORE_FILE_H

#include <stdbool.h>

#include "base/error.h"
#include "pathmap/wire/store.h"

struct store_file {
    int fd;
    struct store_header header;
    struct store_image *images; /* header.image_count of them; each path is NUL-terminated */
    struct store_function *functions;
    uint32_t node_first, node_end; /* range of node numbers within the file */
    uint32_t node_most;            /* upper bound of the number of nodes, by the file's disk space */
    struct store_node *buffer;     /* STORE_CHUNK_NODES nodes from buffer_first on */
    uint32_t buffer_first, buffer_count;
};

/* Errors: system errors; -ENOMSG: not a store; -ENOTSUP: another version's; -EBADMSG: damaged. */
int store_file_open(const char *path, struct store_file *out, struct fathom_error *err);
void store_file_close(struct store_file *store);

/* Advances to nodes that may be in use, skipping holes: reads up to a chunk of them, from `from` or above,
 * and returns its end; the numbers are [*first, end). Returns node_end, and *first equal to it, if there are
 * none left. */
uint32_t store_file_next(struct store_file *store, uint32_t from, uint32_t *first);
/* Reads a node: fast for those that store_file_next() has read. false: it does not exist (any number is
 * allowed), or is not in use. */
bool store_file_node(const struct store_file *store, uint32_t number, struct store_node *out);

/* Whether a return address, of which `site` is the low half, is in an image as it was loaded; *address: there. (Images are smaller than
 * 4 GiB.) */
bool store_image_has(const struct store_image *image, uint32_t site, uint64_t *address);
/* The first image that has it; NULL: none. */
const struct store_image *store_file_image(const struct store_file *store, uint32_t site, uint64_t *address);

/* All saved stacks (struct store_stack), malloc'ed: the caller frees. 0 or -ENOMEM. */
int store_file_stacks(const struct store_file *store, uint8_t **stacks, size_t *size);

#endif
