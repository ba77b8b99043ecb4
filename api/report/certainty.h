/* certainty.h - frames that say how a path is known, for `fathom report --format perf --certainty frame`: names of a file (symbol_file.h). */
#ifndef FATHOM_API_REPORT_CERTAINTY_H
#define FATHOM_API_REPORT_CERTAINTY_H

#include "infer/contexts/certainty.h"
#include "perfdata/record.h"

/* Writes the file; replaces an existing one. */
int certainty_write(const char *path, struct fathom_error *err);
/* Its mapping in a process, from a time on; path: absolute, borrowed. */
struct record certainty_mapping(const char *path, uint32_t pid, uint64_t time);
/* The address of the frame; 0: CERTAINTY_PROVED, which has none. */
uint64_t certainty_address(enum certainty certainty);

#endif
