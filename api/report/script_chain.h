/*
 * script_chain.h - shows the functions that an interpreter runs as frames of a call chain, for `fathom report --format perf`: as
 * addresses in a file with their names (symbol_file.h).
 */
#ifndef FATHOM_API_REPORT_SCRIPT_CHAIN_H
#define FATHOM_API_REPORT_SCRIPT_CHAIN_H

#include "api/report/symbol_file.h"
#include "perfdata/scripts.h"
#include "process/process.h"

struct script_chain;

/* room: where the file will be mapped; borrowed. NULL: out of memory. */
struct script_chain *script_chain_new(const struct symbol_room *room);
void script_chain_free(struct script_chain *scripts); /* NULL is allowed */

/* A chain of addresses of a process, innermost first, with PERF_CONTEXT_ markers. */
struct address_chain {
    const uint64_t *at;
    size_t count;
    bool rooted; /* it reaches a root */
};
/* Puts functions between its addresses, as profile/script_frames.h does. *out lives until the next call. 0 or -ENOMEM. */
int script_chain_join(struct script_chain *scripts, const struct process *process,
                      const struct script_frame *innermost, const struct address_chain *chain,
                      struct address_chain *out);
/* The names so far, for the file; borrowed until the next call. Returns their number. */
size_t script_chain_names(const struct script_chain *scripts, const char *const **out);

#endif
