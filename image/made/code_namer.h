/*
 * code_namer.h - collects the names of code that programs made at run time, and writes them as code_names.h reads them.
 *
 * What a process says comes in an order: of code that overlaps, the later stands. Where the times are known, the earlier one stays for samples of the
 * time before; where they are not, and the earlier had another name, the later one says that it is not certain (CODE_NOT_CERTAIN).
 */
#ifndef FATHOM_IMAGE_MADE_CODE_NAMER_H
#define FATHOM_IMAGE_MADE_CODE_NAMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/cfi/cfi.h"

#define CODE_NOT_CERTAIN " [not certain]" /* behind a name */

/* Bounds of what is kept, for all processes together, which the section of a recording has room for: entries of 16 bytes, the text, places of 24 and past
 * ones of 32. Node's own builtins are 2,000, a large Java server has 50,000; of those with lines, each has some ten. */
#define CODE_NAMES_ENTRIES (1u << 20)
#define CODE_NAMES_TEXT    (28u << 20) /* bytes of names */
#define CODE_NAMES_PLACES  (1u << 18)
#define CODE_NAMES_PAST    (1u << 17)
#define CODE_NAME_MOST     1000u /* bytes of one, which is cut there */

struct code_namer;

struct code_namer *code_namer_new(void);        /* NULL: out of memory */
void code_namer_free(struct code_namer *namer); /* NULL is allowed */

/* What is known of a part of some code: it ends where the next one begins. */
struct code_part {
    uint64_t from; /* bytes from the code's address */
    const char *file;
    uint32_t file_length; /* bytes; 0: the file is not known */
    uint32_t line;        /* 0: not known */
    struct cfi_row row;   /* CFI_NONE: not known */
};

struct code_made {
    uint64_t address, size; /* bytes */
    uint64_t time;          /* since when it is there, ns of the recording's clock; 0: that is not known */
    const char *name;       /* it need not end with a NUL, and may be hostile */
    size_t length;
    const struct code_part *parts; /* in order; what is before the first one has but the name */
    size_t part_count;
};

/* Begins what a process says; what was added since the last code_namer_end() is dropped. 0 or -ENOMEM. */
int code_namer_begin(struct code_namer *namer);
/* Code at an address. What is empty, or beyond the address space's end or 4 GiB, is passed over, and so are lines and rows for which there is no room. 0;
 * -ENOSPC: a bound is reached, and it was not added; -ENOMEM. */
int code_namer_make(struct code_namer *namer, const struct code_made *made);
/* Likewise, of which only the name is known. */
int code_namer_add(struct code_namer *namer, uint64_t address, uint64_t size, const char *name,
                   size_t length);
/* The code at an address is now, since that time, at another. What has not begun there is passed over. Returns as code_namer_add(). */
int code_namer_move(struct code_namer *namer, uint64_t from, uint64_t to, uint64_t size, uint64_t time);
/* Ends it: it holds for the process that had the PID before `until` (ns of the recording's clock; UINT64_MAX: to the end). To be called in the
 * order of times for each PID. 0 or -ENOMEM. */
int code_namer_end(struct code_namer *namer, uint32_t pid, uint64_t until);

/* *data: malloc'ed, the caller's; NULL: nothing has a name. 0 or -ENOMEM. */
int code_namer_write(const struct code_namer *namer, uint8_t **data, size_t *size);

#endif
