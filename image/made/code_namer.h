/*
 * code_namer.h - collects the names of code that programs made at run time, and writes them as code_names.h reads them.
 *
 * What a process says comes in an order, without times: of code that overlaps, the later stands. Where the earlier had another name, the
 * later one says that it is not certain (CODE_NOT_CERTAIN), as samples may be of the time before.
 */
#ifndef FATHOM_IMAGE_MADE_CODE_NAMER_H
#define FATHOM_IMAGE_MADE_CODE_NAMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_NOT_CERTAIN " [not certain]" /* behind a name */

/* Bounds of what is kept, for all processes together: 16 bytes each and the text, which the section of a recording has room for. Node's own
 * builtins are 2,000, a large Java server has 50,000. */
#define CODE_NAMES_ENTRIES (1u << 20)
#define CODE_NAMES_TEXT    (32u << 20) /* bytes of names */
#define CODE_NAME_MOST     1000u       /* bytes of one, which is cut there */

struct code_namer;

struct code_namer *code_namer_new(void);        /* NULL: out of memory */
void code_namer_free(struct code_namer *namer); /* NULL is allowed */

/* Begins what a process says; what was added since the last code_namer_end() is dropped. 0 or -ENOMEM. */
int code_namer_begin(struct code_namer *namer);
/* Code at an address, in bytes. The name need not end with a NUL, and may be hostile. What is empty, or beyond the address space's end or
 * 4 GiB, is passed over. 0; -ENOSPC: a bound is reached, and it was not added; -ENOMEM. */
int code_namer_add(struct code_namer *namer, uint64_t address, uint64_t size, const char *name,
                   size_t length);
/* The code at an address is now at another. What has not begun there is passed over. Returns as code_namer_add(). */
int code_namer_move(struct code_namer *namer, uint64_t from, uint64_t to, uint64_t size);
/* Ends it: it holds for the process that had the PID before `until` (ns of the recording's clock; UINT64_MAX: to the end). To be called in the
 * order of times for each PID. 0 or -ENOMEM. */
int code_namer_end(struct code_namer *namer, uint32_t pid, uint64_t until);

/* *data: malloc'ed, the caller's; NULL: nothing has a name. 0 or -ENOMEM. */
int code_namer_write(const struct code_namer *namer, uint8_t **data, size_t *size);

#endif
