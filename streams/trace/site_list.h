/*
 * site_list.h - describes the places in a duplicated file (rewrite/duplicate/): a file beside it with the
 * original's name, for each instruction that logs, which one it is in the original, and for the code, which
 * functions it belongs to.
 *
 * Little-endian: "FSIT", version (4 bytes each), the number of sites, of parts of functions, the length of the
 * name (8 bytes each), the name, the sites (24 bytes each), the parts (16 bytes each), and the checksum of all
 * that (base/checksum.h).
 */
#ifndef FATHOM_STREAMS_TRACE_SITE_LIST_H
#define FATHOM_STREAMS_TRACE_SITE_LIST_H

#include "base/outfile.h"
#include "rewrite/duplicate/duplicate.h"

#define SITE_LIST_SUFFIX ".sites" /* suffix to the duplicated file's name */

struct site_list {
    char *original;              /* path of the original */
    struct duplicate_site *list; /* by pc; several of one instruction in the order in which they log */
    size_t count;
    struct duplicate_part *parts; /* by start */
    size_t part_count;
};

int site_list_write(struct outfile *out, const struct site_list *list, struct fathom_error *err);
/* The caller clears it, also after an error. -EBADMSG: damaged, or not such a file. */
int site_list_read(const char *path, struct site_list *out, struct fathom_error *err);
void site_list_clear(struct site_list *sites); /* a zeroed one is allowed */
/* The sites of an instruction that logs, in the order in which they log; *count: their number. NULL: it logs
 * nothing. */
const struct duplicate_site *site_list_at(const struct site_list *sites, uint64_t pc, size_t *count);
/* The entry, in the original, of the function whose code is at an address of the duplicated file. false: the code
 * is not duplicated. */
bool site_list_function(const struct site_list *list, uint64_t address, uint64_t *entry);

#endif
