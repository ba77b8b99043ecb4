/*
 * functions.h - builds an image's table of functions. Private to image/.
 *
 * The ranges of FDEs take precedence: a symbol inside one neither names nor splits it. So the function at an
 * address does not depend on whether symbols are available, and a path map trained on a stripped file is also
 * valid for the unstripped one. Symbols name the ranges, and define functions where there is no FDE. The
 * stubs of the PLT, which share one FDE, are distinguished by their relocations.
 */
#ifndef FATHOM_IMAGE_FUNCTIONS_H
#define FATHOM_IMAGE_FUNCTIONS_H

#include "base/arena.h"
#include "image/cfi/cfi.h"
#include "image/elf/address_index.h"
#include "image/elf/symbols.h"
#include "image/image.h"

enum function_start {
    START_NONE,    /* no function begins there */
    START_GUESSED, /* perhaps a case of a switch */
    START_POINTED, /* perhaps a label that a table points to */
    START_SURE,
};

struct guessed_start { /* a function that was found in code (function_starts.h) */
    uint64_t address;
    enum function_start start;
};

struct functions {
    struct image_function *items; /* ascending, not overlapping */
    uint32_t count, capacity;
    uint32_t *starts;              /* bytes from base, one for each item */
    struct guessed_start *guessed; /* by address */
    size_t guessed_count, guessed_capacity;
    uint64_t *branched; /* far branch targets in code that was searched for functions; ascending */
    size_t branched_count, branched_capacity;
    uint64_t base;
    struct address_index index;
};

/* names: arena for names that are not in a symbol table. symbols are sorted. 0 or -ENOMEM. */
int functions_build(const struct elf_file *file, const struct cfi *cfi, const struct symbols *symbols,
                    struct arena *names, struct functions *out);
void functions_free(struct functions *functions);
/* The item that contains the address, without following its owner; or IMAGE_NO_FUNCTION. */
uint32_t functions_find(const struct functions *functions, uint64_t address);
/* How certain it is that a function begins there. */
enum function_start functions_start(const struct functions *functions, uint64_t address);
/* Whether it is the target of a branch from far away. */
bool functions_branched(const struct functions *functions, uint64_t address);
/* The end of the chain of owners. */
uint32_t functions_owner(const struct functions *functions, uint32_t index);
/* Bytes of code in functions [first, last): a bound for work that is linear in it. */
uint64_t functions_bytes(const struct functions *functions, uint32_t first, uint32_t last);
void functions_sort(struct functions *functions);
int functions_add(struct functions *functions, uint64_t address, uint64_t size, const char *name);

/* plt.c: adds the stubs of the PLT sections, in no particular order. 0 or -ENOMEM. */
int plt_add(const struct elf_file *file, struct arena *names, struct functions *functions);
/* Whether the address is in one of the PLT sections. */
bool plt_holds(const struct elf_file *file, uint64_t address);

#endif
