/*
 * script_chain.h - functions that an interpreter runs as frames of a call chain, for `fathom report --format perf`: names of a file
 * (symbol_file.h).
 */
#ifndef FATHOM_API_REPORT_SCRIPT_CHAIN_H
#define FATHOM_API_REPORT_SCRIPT_CHAIN_H

#include "perfdata/scripts.h"
#include "process/process.h"

struct script_chain;

struct script_chain *script_chain_new(void);          /* NULL: out of memory */
void script_chain_free(struct script_chain *scripts); /* NULL is allowed */

/* A chain of addresses of a process, from the sample's own on outwards, with PERF_CONTEXT_ markers. */
struct address_chain {
    const uint64_t *at;
    size_t count;
    bool rooted; /* it reaches a root */
};
/* Puts functions between its addresses, as profile/script_frames.h does. *out lives until the next call. 0 or -ENOMEM. */
int script_chain_join(struct script_chain *scripts, const struct process *process,
                      const struct script_frame *innermost, const struct address_chain *chain,
                      struct address_chain *out);
/* Writes the file with the names so far. */
int script_chain_write(const struct script_chain *scripts, const char *path, struct fathom_error *err);
/* Its mapping, as of symbol_file_mapping(). */
struct record script_chain_mapping(const char *path, uint32_t pid, uint64_t time);

#endif
