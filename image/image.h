/*
 * image.h - an ELF file as the profiler sees it: build-id, functions, names, CFI table.
 *
 * Addresses are ELF virtual addresses of the file (a function's "offset"), as addr2line, objdump and gdb use
 * them; image_address() converts a file offset, as a mapping has, into one.
 *
 * Functions come from .eh_frame FDEs, .symtab, .dynsym and the .symtab of a separate debug file (build-id,
 * .gnu_debuglink), so stripped binaries work. They are sorted and do not overlap. A .cold part is a separate
 * entry whose `owner` is the function that it was split from; image_function_at() returns the owner.
 *
 * Only image_cache_settle() changes an image after image_open(), so several threads can read it.
 */
#ifndef FATHOM_IMAGE_IMAGE_H
#define FATHOM_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "image/elf/build_id.h"

#define IMAGE_NO_FUNCTION UINT32_MAX

struct image;
struct cfi;
struct cfi_registers;

struct image_function {
    uint64_t address; /* of its first byte */
    uint32_t size;    /* bytes; never 0 */
    uint32_t owner; /* index of the function it belongs to: itself, or the one a .cold part was split from */
    const char *name; /* as in the symbol table (mangled), or NULL; owned by the image */
};

#define VDSO_NAME "[vdso]" /* name of the mapping created by the kernel */

struct debuginfod;
struct twins;

struct image_options {
    const char *debug_directory; /* root of separate debug files; NULL: /usr/lib/debug */
    const char *symfs;           /* root directory for recorded paths; NULL: / */
    /* Directory of an opened archive, which is searched first (image_find.h); NULL: none. */
    const char *archived;
    bool no_debug_files; /* do not search for separate debug files */
    /* Treat cold parts that only branches reveal as functions of their own: to find their owners, all code must
     * be read (image_cache_settle()). */
    bool parts_apart;
    bool live;             /* a file that cannot be opened may appear later (image_cache_get()) */
    const struct log *log; /* NULL: quiet */
    /* Queried last, for what no other place has; borrowed; NULL: no queries. */
    struct debuginfod *debuginfod;
    const struct twins *twins; /* other files of the same builds; borrowed; NULL: none are known */
};

/* Opens an ELF64 x86-64 executable or shared object. Errors: -ENOENT and other system errors; -ENOEXEC: not
 * such a file; -EBADMSG: damaged. options may be NULL. The caller closes it with image_close(). */
int image_open(const char *path, const struct image_options *options, struct image **out,
               struct fathom_error *err);
/* The same from a copy: `file` is read, `path` is the image's name. */
int image_open_as(const char *file, const char *path, const struct image_options *options, struct image **out,
                  struct fathom_error *err);
/* The same from bytes in memory (the vDSO, a fuzzer), which are copied. `path` is only its name. */
int image_open_memory(const char *path, const void *data, size_t size, const struct image_options *options,
                      struct image **out, struct fathom_error *err);
void image_close(struct image *image); /* NULL is allowed */

const char *image_path(const struct image *image);
const char *image_name(const struct image *image); /* the path's last part: "libsqlite3.so.0.8.6" */
const struct build_id *image_build_id(const struct image *image);

/* File offset to virtual address, by the PT_LOAD segments. false: in no segment. */
bool image_address(const struct image *image, uint64_t file_offset, uint64_t *address);
/* The reverse of image_address(). */
bool image_offset(const struct image *image, uint64_t address, uint64_t *file_offset);
/* The load bias: address in a process - address in the image, of an executable mapping at `start` of the file's
 * bytes from file_offset on. false: no executable segment has these bytes. */
bool image_bias(const struct image *image, uint64_t file_offset, uint64_t start, uint64_t *bias);
/* Whether the file has no symbols except dynamic and embedded ones, and no separate debug file with symbols was
 * found. */
bool image_is_stripped(const struct image *image);
/* Whether the image has memory at the address, including zeroed memory that is not in the file. */
bool image_covers(const struct image *image, uint64_t address);
/* The file's bytes from a virtual address on: to the end of its segment in the file or, at least, to IMAGE_AHEAD
 * bytes behind its function's end. NULL: none. Code of large programs is read on demand: also NULL, with a
 * warning, if the file has changed since. */
const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t *size);
#define IMAGE_AHEAD 16384u
/* How many bytes the file has from an address to the end of its segment. */
uint64_t image_extent(const struct image *image, uint64_t address);
/* Reads all code at once, for callers that look at all of it. Errors as image_open(). */
int image_need_code(const struct image *image, struct fathom_error *err);

/* Bytes of all functions: what reading all code costs. */
uint64_t image_code_size(const struct image *image);
uint32_t image_function_count(const struct image *image);
const struct image_function *image_function(const struct image *image, uint32_t index);
/* Whether the function was only found by its code (function_starts.h): it may be data, which must not be changed. */
bool image_function_is_found(const struct image *image, uint32_t index);
/* Index of the function that owns this address (never that of a .cold part), or IMAGE_NO_FUNCTION. Usually
 * constant time. */
uint32_t image_function_at(const struct image *image, uint64_t address);
/* Index of the function that starts exactly here (no function starts at a .cold part), or
 * IMAGE_NO_FUNCTION. */
uint32_t image_function_entry(const struct image *image, uint64_t address);

/* Whether the function is a stub of the procedure linkage table. */
bool image_function_is_stub(const struct image *image, uint32_t index);
/* Where a program starts (_start). false: a library. */
bool image_entry(const struct image *image, uint64_t *address);
/* Where the kernel starts a library that is a program's interpreter (ld.so). false: it has no entry, is not a
 * library, or needs other libraries, like libc.so.6, which can be executed, too. */
bool image_library_entry(const struct image *image, uint64_t *address);
/* The name by which programs ask for a library (DT_SONAME), in the image's memory; NULL: it has none. */
const char *image_soname(const struct image *image);
/* Whether the file runs at the addresses that it was linked for (ET_EXEC): only then can instructions have its
 * addresses as constants. */
bool image_is_fixed(const struct image *image);
/* Calls see() for every code address that may be reached other than by a branch or by falling through: symbols,
 * pointers in data (by the relocations; in a program at a fixed address, all words that look like one), landing
 * pads of exceptions. May report too many addresses, and an address several times. Does not search for tables of
 * 4-byte distances. 0 or -ENOMEM. */
int image_targets(const struct image *image, void (*see)(void *context, uint64_t address), void *context);

/* Name to show for a function: demangled, else the raw symbol, else "libsqlite3.so.0+0x1234" (file's name +
 * hex address). Writes at most size bytes with the NUL; returns the full length, like snprintf. */
int image_function_format(const struct image *image, uint32_t index, char *out, size_t size);

/* The CFI table; empty if the file has no .eh_frame. Owned by the image. */
const struct cfi *image_cfi(const struct image *image);

/* The rules of all registers at an address, by its FDE, or by a derived row with more than SP and BP
 * (registers.h). false: none, or damaged. */
bool image_registers(const struct image *image, uint64_t address, struct cfi_registers *out);
/* Whether a function calls nothing and does not change a register. number: DWARF's, of a general register. */
bool image_leaf_keeps(const struct image *image, uint32_t function, unsigned number);

/* The address in the image to which new threads' first frames return: the instruction after the indirect call in
 * glibc's clone3/clone (found by its code, as it is not in .dynsym). false: none in this image. */
bool image_thread_return(const struct image *image, uint64_t *address);

#endif
