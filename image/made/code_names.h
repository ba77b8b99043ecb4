/*
 * code_names.h - the names of code that programs made at run time, as stored in a recording:
 *
 *      struct code_names_head | the names, each with its NUL, padded to 8 bytes in all | struct code_names_place, those of one name together |
 *      struct code_names_past, by process and address | for each process, in the order of PIDs and, for one PID, of times: struct
 *      code_names_process and its entries, by address, which do not overlap
 *
 * All code of one name is one function, in any process and at any addresses. Its address in the image of run-time
 * code (image/run_time.h) is derived from a hash of the name, so that a path map of one recording fits another
 * one, too. Each of its places has an address of its own within the function.
 */
#ifndef FATHOM_IMAGE_MADE_CODE_NAMES_H
#define FATHOM_IMAGE_MADE_CODE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "image/cfi/cfi.h"

#define CODE_NAMES_VERSION 2u

struct code_names_head {
    uint32_t version;
    uint32_t names, processes;
    uint32_t text; /* bytes, including the padding */
    uint32_t places, past;
};

/* Code of which more than the name is known. */
struct code_names_place {
    uint32_t name;
    uint32_t file;   /* also the number of a name; CODE_NAMES_NO_FILE */
    uint32_t line;   /* 0: unknown */
    uint8_t cfa, bp; /* its unwind row, enum cfi_cfa and cfi_bp; CFI_NONE: unknown */
    uint16_t unused;
    int32_t cfa_offset, bp_offset;
};
#define CODE_NAMES_NO_FILE UINT32_MAX

/* Code that was replaced by other code. */
struct code_names_past {
    uint64_t address, until; /* ns of the recording's clock */
    uint32_t size, place;
    uint32_t process; /* index of the process */
    uint32_t unused;
};

struct code_names_process {
    uint32_t pid, entries;
    uint64_t until; /* as in code_namer_end() */
};

struct code_names_entry {
    uint64_t address; /* in the process */
    uint32_t size;    /* bytes */
    uint32_t place;   /* the number of a name or, from CODE_NAMES_PLACE on, of a place */
};
#define CODE_NAMES_PLACE UINT32_C(0x80000000)

struct code_names;
struct code_set; /* the code of one process */

/* Copies the bytes, which are hostile: reading stops at the first error. NULL: out of memory. */
struct code_names *code_names_new(const uint8_t *data, size_t size);
void code_names_free(struct code_names *names); /* NULL is allowed */

/* The code of the process that got the PID, or was executed in it, at time `birth`; 0: before the recording.
 * NULL: none. */
const struct code_set *code_names_of(const struct code_names *names, uint32_t pid, uint64_t birth);
/* The address in the image of run-time code for the code at a PC at a time; 0: it has no name. */
uint64_t code_set_address(const struct code_set *set, uint64_t pc, uint64_t time);
/* The next time at which code of the set gets another address; UINT64_MAX: never. */
uint64_t code_set_change(const struct code_set *set, uint64_t time);

/* All functions of that image, by address; the first one is at CODE_FUNCTION_SIZE or above, and sizes are
 * multiples of that. Behind its first byte, a function has an address for code of which only the name is known,
 * one for each of its places, and one more for the return address behind a call. */
#define CODE_FUNCTION_SIZE 16u
struct code_function {
    uint64_t address;
    const char *name; /* owned by the names */
    uint32_t size;    /* bytes */
    uint32_t places;
    const struct code_names_place *place; /* the first one, owned by the names */
};
size_t code_names_functions(const struct code_names *names, const struct code_function **out);

/* Function and line at an address of that image. */
struct code_place {
    const char *function; /* owned by the names, like `file`; NULL: none */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
};
struct code_place code_names_place_at(const struct code_names *names, uint64_t address);
/* The row of a place; CFI_NONE: unknown. */
struct cfi_row code_place_row(const struct code_names_place *place);

#endif
