/*
 * known.h - which frames and contexts a server has acknowledged, kept in a file, so that they are not sent with each slot again.
 *
 * What the file says is forgotten after an hour: a server that lost what it had acknowledged, as by a crash of its machine, gets all of
 * it again. The file is of one server; a file of another one, a damaged one or none knows nothing.
 */
#ifndef FATHOM_STORE_KNOWN_H
#define FATHOM_STORE_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct known;

/* url: the server's. Both texts are copied. -ENOMSG: there is something else than such a file, whose bytes may be
 * wrong otherwise; those of outfile_open(): it cannot be written. */
int known_open(const char *path, const char *url, struct known **out, struct fathom_error *err);
void known_free(struct known *known); /* NULL is allowed */
bool known_has(const struct known *known, uint64_t hash);
size_t known_count(const struct known *known);
/* It was sent, and is known from the next save on. Beyond a million nothing is added. */
void known_add(struct known *known, uint64_t hash);
/* The server has acknowledged what was added: it is written to the file. Errors: those of outfile_put(); then the file stays. */
int known_save(struct known *known, struct fathom_error *err);
int known_forget(struct known *known,
                 struct fathom_error *err); /* all of it: the server does not have it. 0 or -ENOMEM */

#endif
