/*
 * known.h - remembers in a file which frames and contexts a server has acknowledged, so that they are not
 * sent again with each slot. Entries expire after an hour: a server that lost acknowledged data, for example
 * in a crash of its machine, gets all of it again. The file is for one server; a missing or damaged file, or
 * one of another server, counts as empty.
 */
#ifndef FATHOM_STORE_KNOWN_H
#define FATHOM_STORE_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct known;

/* url: the server's. Both texts are copied. -ENOMSG: the file is of another kind, and must not be
 * overwritten; errors of outfile_open(): it cannot be written. */
int known_open(const char *path, const char *url, struct known **out, struct fathom_error *err);
void known_free(struct known *known); /* NULL is allowed */
bool known_has(const struct known *known, uint64_t hash);
size_t known_count(const struct known *known);
/* Notes that it was sent; it is known from the next save on. Beyond a million entries nothing is added. */
void known_add(struct known *known, uint64_t hash);
/* Writes the file after the server has acknowledged what was added. Errors: those of outfile_put(); then the
 * file does not change. */
int known_save(struct known *known, struct fathom_error *err);
int known_forget(
    struct known *known,
    struct fathom_error *err); /* forgets everything: the server does not have it. 0 or -ENOMEM */

#endif
