/*
 * calls.h - the static call graph of an image, with the stack depth of each call, from the binary alone.
 *
 * Every call instruction of every function, and every jump that leaves its function (a tail jump), with its
 * possible targets as far as the code, the relocations and the tables show them. The code is read once,
 * function by function, linearly; code without a symbol or FDE is not read.
 *
 * A callee's CFA lies `offset` bytes below its caller's: height of callee = height of caller + offset. A tail
 * jump's target runs at the height of the function that jumped.
 *
 * Built once, then read-only.
 */
#ifndef FATHOM_IMAGE_CALLS_CALLS_H
#define FATHOM_IMAGE_CALLS_CALLS_H

#include "image/image.h"

enum call_kind {
    CALL_DIRECT,   /* of `target`, a function of this image */
    CALL_IMPORT,   /* of whatever the loader resolves `symbol` to: through the PLT or a slot of the GOT */
    CALL_INDIRECT, /* through a register or memory */
    CALL_BINDER,   /* of the loader's lazy-binding function (calls_is_binder()), from the PLT's first entry */
};

#define CALL_NO_FIELD INT32_MIN

struct call_site {
    /* Address of the instruction; for a branch at the function's end that falls through, of its last byte. */
    uint64_t address;
    uint64_t next; /* the return address; 0 for tail jumps */
    /* DIRECT: address of the function's entry. IMPORT: of the PLT stub that the call goes through, which is a
     * function with its own tail jump; 0: none. INDIRECT: the initial contents of the slot if that is known,
     * else 0 */
    uint64_t target;
    const char *symbol; /* IMPORT: the dynamic symbol's name, owned by the image; else NULL */
    uint32_t function;  /* index of the owner: calls in a .cold part belong to its function */
    int32_t offset;     /* bytes, from the CFI row and the code; unset if `open` or `tail` */
    /* INDIRECT: distance from an unknown pointer to where the address was read, in bytes (call *24(%rax): 24;
     * in a vtable this is 8 times the function's index); CALL_NO_FIELD: unknown */
    int32_t field;
    uint8_t kind; /* enum call_kind */
    bool tail;    /* a jump: no return address is pushed */
    bool open;    /* the frame's size is not fixed there: alloca, a realigned frame */
    /* INDIRECT: `target` is a resolver (STT_GNU_IFUNC); its choices are those in calls_taken_by(). Usually the
     * tail jump of a stub, which a DIRECT call targets */
    bool resolver;
};

struct calls;

/* The image must outlive it. -ENOMEM. */
int calls_build(const struct image *image, struct calls **out, struct fathom_error *err);
void calls_free(struct calls *calls); /* NULL is allowed */

/* All sites by function, then address. Returned arrays live as long as `calls`. */
size_t calls_all(const struct calls *calls, const struct call_site **out);
/* Those of one function (of a .cold part: none, as they belong to its owner). */
size_t calls_of(const struct calls *calls, uint32_t function, const struct call_site **out);
/* Whether some path through the function's code returns, or jumps to another function. Functions that do not
 * run at most once (abort, exit), or for ever. */
bool calls_returns(const struct calls *calls, uint32_t function);
/* The call (not a tail jump) before this return address; NULL: none is known. */
const struct call_site *calls_before(const struct calls *calls, uint64_t return_address);

/* Functions whose address is taken, ascending: by data, by code, by the loader (main, initialisers). The
 * possible targets of indirect calls, in this image or in others. Not all exported functions are included:
 * see calls_export(). */
size_t calls_taken(const struct calls *calls, const uint32_t **out);
/* Whether this is a function of the loader that PLTs enter to resolve the callee, to which it then jumps
 * (_dl_runtime_resolve). The PLT stub identifies the callee. */
bool calls_is_binder(const struct calls *calls, uint32_t function);
/* All of them, ascending. */
size_t calls_binders(const struct calls *calls, const uint32_t **out);
/* Whether a function's address is taken only for the loader, which calls it to choose a function (STT_GNU_IFUNC). */
bool calls_is_resolver(const struct calls *calls, uint32_t function);
/* The functions whose address this function's own code takes, ascending. */
size_t calls_taken_by(const struct calls *calls, uint32_t function, const uint32_t **out);
/* Symbols of other images whose addresses this one takes, sorted by name. */
size_t calls_taken_symbols(const struct calls *calls, const char *const **out);

/* A C++ vtable: objects point to `address`, from which there is one function every 8 bytes.
 * IMAGE_NO_FUNCTION: a symbol of another image (__cxa_pure_virtual, or inherited from there). */
struct call_table {
    uint64_t address;
    const uint32_t *functions;
    uint32_t count;
};
/* By address. Each base class of an object has a table of its own. */
size_t calls_tables(const struct calls *calls, const struct call_table **out);

/* A function in an object of constant data: a vtable or a structure of function pointers. The starts of
 * objects are inferred from the pointers to them, so they are likely but not certain. */
struct call_field {
    int32_t field;      /* bytes from the object's start, as in struct call_site; below 4096 */
    uint32_t function;  /* IMAGE_NO_FUNCTION: `symbol` of another image */
    const char *symbol; /* NULL for functions of this image; owned by the image */
};
/* By field; each once. */
size_t calls_fields(const struct calls *calls, const struct call_field **out);

/* The function that the image defines for other images under this name. *resolver: it chooses the function
 * when called by the loader (STT_GNU_IFUNC). IMAGE_NO_FUNCTION: none. */
uint32_t calls_export(const struct calls *calls, const char *symbol, bool *resolver);
/* The functions reachable from code outside the image: exported and taken ones except `but`, and everything
 * that they directly call, transitively. *out has an element for each function; the caller frees it. 0 or
 * -ENOMEM. */
int calls_entered(const struct calls *calls, const uint32_t *but, size_t but_count, bool **out);
/* Whether the image exports a function of this name; needs no calls_build(). */
bool image_exports(const struct image *image, const char *symbol);

#endif
