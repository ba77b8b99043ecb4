/*
 * code_namer.h - collects the names of code that programs made at run time, and writes them in the format of
 * code_names.h.
 *
 * A process's names are added in order: later code replaces earlier code at the same addresses. If times are
 * known, the earlier code's name still applies to earlier samples; if not, and the names differ, the later name
 * is marked as uncertain (CODE_NOT_CERTAIN).
 */
#ifndef FATHOM_IMAGE_MADE_CODE_NAMER_H
#define FATHOM_IMAGE_MADE_CODE_NAMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/cfi/cfi.h"

#define CODE_NOT_CERTAIN " [not certain]" /* suffix of a name */

/* Limits for all processes together, such that they fit the section in a recording: entries have 16 bytes, places
 * 24, replaced ones 32. Node's own builtins are 2,000, a large Java server has 50,000; of those with lines, each
 * has some ten. */
#define CODE_NAMES_ENTRIES (1u << 20)
#define CODE_NAMES_TEXT    (28u << 20) /* bytes of names */
#define CODE_NAMES_PLACES  (1u << 18)
#define CODE_NAMES_PAST    (1u << 17)
#define CODE_NAME_MOST     1000u /* bytes of a name; longer ones are cut */

struct code_namer;

struct code_namer *code_namer_new(void);        /* NULL: out of memory */
void code_namer_free(struct code_namer *namer); /* NULL is allowed */

/* Lines and unwind row of a part of some code, which ends where the next part begins. */
struct code_part {
    uint64_t from; /* bytes from the code's address */
    const char *file;
    uint32_t file_length; /* bytes; 0: the file is unknown */
    uint32_t line;        /* 0: unknown */
    struct cfi_row row;   /* CFI_NONE: unknown */
};

struct code_made {
    uint64_t address, size; /* bytes */
    uint64_t time;          /* from which it exists, ns of the recording's clock; 0: unknown */
    const char *name;       /* need not be NUL-terminated; hostile */
    size_t length;
    const struct code_part *parts; /* in order; code before the first part only has the name */
    size_t part_count;
};

/* Begins a process's names; drops what was added since the last code_namer_end(). 0 or -ENOMEM. */
int code_namer_begin(struct code_namer *namer);
/* Adds code at an address. Code that is empty, or extends beyond 4 GiB or the address space's end, is ignored,
 * and so are lines and rows beyond the limits. 0; -ENOSPC: a limit is reached, and it was not added; -ENOMEM. */
int code_namer_make(struct code_namer *namer, const struct code_made *made);
/* The same for code of which only the name is known. */
int code_namer_add(struct code_namer *namer, uint64_t address, uint64_t size, const char *name,
                   size_t length);
/* Code has moved to another address at that time. Code that does not begin in the range is ignored. Returns as
 * code_namer_add(). */
int code_namer_move(struct code_namer *namer, uint64_t from, uint64_t to, uint64_t size, uint64_t time);
/* Ends a process's names: they apply to the process that had the PID before `until` (ns of the recording's clock;
 * UINT64_MAX: to the end). For each PID, call it in the order of time. 0 or -ENOMEM. */
int code_namer_end(struct code_namer *namer, uint32_t pid, uint64_t until);

/* *data: malloc'ed, the caller's; NULL: there are no names. 0 or -ENOMEM. */
int code_namer_write(const struct code_namer *namer, uint8_t **data, size_t *size);

#endif
