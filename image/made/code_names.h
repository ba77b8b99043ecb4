/*
 * code_names.h - the names of code that programs made at run time, as a recording has them:
 *
 *     struct code_names_head | the names, each with its NUL, padded to 8 bytes in all | for each process, in the order of PIDs and, of one, of
 *     times: struct code_names_process and its entries, by address, which do not overlap
 *
 * All code of one name is one function, whichever process has it at whichever addresses. Its address in the image of run-time code
 * (image/run_time.h) is found by a hash of the name, so that a path map of one recording holds for another, too.
 */
#ifndef FATHOM_IMAGE_MADE_CODE_NAMES_H
#define FATHOM_IMAGE_MADE_CODE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define CODE_NAMES_VERSION 1u

struct code_names_head {
    uint32_t version;
    uint32_t names, processes;
    uint32_t text; /* bytes, with what they are padded by */
};

struct code_names_process {
    uint32_t pid, entries;
    uint64_t until; /* as of code_namer_end() */
};

struct code_names_entry {
    uint64_t address; /* in the process */
    uint32_t size;    /* bytes */
    uint32_t name;    /* its number */
};

struct code_names;
struct code_set; /* what one process has */

/* The bytes are hostile: what is not as described ends what is read. They are copied. NULL: out of memory. */
struct code_names *code_names_new(const uint8_t *data, size_t size);
void code_names_free(struct code_names *names); /* NULL is allowed */

/* What the process has that got the PID, or was executed in it, at a time; 0: before the recording. NULL: nothing. */
const struct code_set *code_names_of(const struct code_names *names, uint32_t pid, uint64_t birth);
/* The address of the code's function in the image of run-time code; 0: it has no name. */
uint64_t code_set_function(const struct code_set *set, uint64_t pc);

/* All functions of that image, by address. CODE_FUNCTION_SIZE bytes each; the first is not below this. */
#define CODE_FUNCTION_SIZE 16u
struct code_function {
    uint64_t address;
    const char *name; /* the names' */
};
size_t code_names_functions(const struct code_names *names, const struct code_function **out);

#endif
