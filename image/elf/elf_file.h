/*
 * elf_file.h - the checked headers of an ELF64 x86-64 file, and its bytes by section or by address.
 *
 * Every returned range lies inside the file. Private to image/.
 */
#ifndef FATHOM_IMAGE_ELF_ELF_FILE_H
#define FATHOM_IMAGE_ELF_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "image/elf/build_id.h"

struct elf_segment { /* a PT_LOAD */
    uint64_t offset, address;
    uint64_t file_size;   /* bytes of it in the file */
    uint64_t memory_size; /* never less than file_size; address + memory_size does not overflow */
    bool executable;
};

struct elf_section {
    const char *name; /* in `data`; "": unknown */
    uint32_t type, link;
    uint64_t flags, address, offset;
    uint64_t size;      /* bytes in memory */
    uint64_t file_size; /* bytes in the file: 0 for SHT_NOBITS and for a range outside the file */
};

/* A range of a large file's bytes that is read on demand: code, or constants. */
struct elf_late {
    uint64_t from, to;
};

struct elf_file {
    const uint8_t *data;
    size_t size;
    struct file_view *view; /* owns data; NULL: a private copy */
    uint16_t type;          /* ET_EXEC or ET_DYN */
    uint64_t entry;
    struct elf_segment *segments; /* PT_LOADs, ascending, not overlapping */
    size_t segment_count;
    struct elf_section *sections;
    size_t section_count;
    uint64_t dynamic_address, dynamic_size; /* PT_DYNAMIC */
    uint64_t
        thread_size; /* of each thread's block (PT_TLS), aligned: an executable's variables are at most this far below
                      * the FS base */
    uint64_t eh_frame_header;     /* address of PT_GNU_EH_FRAME's segment, 0 for none */
    uint64_t code_low, code_high; /* span of the executable segments; less than 4 GiB */
    struct build_id build_id;
    uint64_t build_id_at;    /* its offset in the file, bytes */
    uint32_t build_id_bytes; /* its size; 0: it has none */
    bool cut;                /* some bytes of a segment are missing from the file */
    struct elf_late late[2]; /* ranges that are read on demand, ascending */
    size_t late_count;
    const struct log *log; /* receives failures of that; borrowed; NULL: none are reported */
};

#define ELF_CUT "%s is a damaged ELF file: its end is missing" /* the message for such files */

/* How much of a file to read: */
enum elf_part {
    ELF_HEADERS, /* headers and notes only: the build-id and the list of sections */
    ELF_CODE, /* what an image needs, all but debug information; much code, and many constants, are read on demand */
};

/* Errors as image_open(); -EBADMSG also if the file is truncated while it is read. Unread parts of `data` are
 * 0. Close the file with elf_file_close(), which also accepts a zeroed one. */
int elf_file_open(struct elf_file *file, const char *path, enum elf_part part, struct fathom_error *err);
int elf_file_open_memory(struct elf_file *file, const char *path, const void *data, size_t size,
                         struct fathom_error *err);
void elf_file_close(struct elf_file *file);

/* NULL: no such section. */
const struct elf_section *elf_file_section(const struct elf_file *file, const char *name);
/* Whether it has debug information, compressed or not. */
bool elf_file_has_debug_info(const struct elf_file *file);
/* Whether the file at a path, of the same build, has symbols or debug information that the other one lacks. */
bool elf_file_names_more(const char *path, const struct elf_file *other);
/* Whether parts of it are read on demand. */
bool elf_file_is_late(const struct elf_file *file);
/* Reads all parts not read yet. Errors as elf_file_open(); -ESTALE: the file has changed. */
int elf_file_need_code(const struct elf_file *file, struct fathom_error *err);
/* The bytes of a section; empty (NULL, 0) if the file has none. */
const uint8_t *elf_section_bytes(const struct elf_file *file, const struct elf_section *section,
                                 size_t *size);
/* Where a program's thread-local variable is, relative to the FS base. value: its symbol's, relative to the
 * file's block (TLS variant II). false: a library, or outside of the block. */
bool elf_file_thread_variable(const struct elf_file *file, uint64_t value, int64_t *from_base);
#define ELF_REST UINT64_MAX
/* The bytes from an address, up to `most` or to the segment's end in the file; NULL: none there, or no longer.
 * ELF_REST: up to the next range that is read on demand, as no caller needs all of that. */
const uint8_t *elf_file_bytes(const struct elf_file *file, uint64_t address, uint64_t most, size_t *size);
/* Looks at a piece of code. A non-zero result stops the search. */
typedef int elf_see_code(void *context, const uint8_t *code, size_t size, uint64_t address);
/* Calls see() for the code of all executable segments, in pieces that begin ELF_PIECE bytes apart and include
 * `more` bytes of the next one. Ranges read on demand are not kept in memory. Returns see()'s last result, or
 * -ENOMEM. */
int elf_file_see_code(const struct elf_file *file, size_t more, elf_see_code *see, void *context);
#define ELF_PIECE 262144u
typedef void elf_see_word(void *context, uint64_t address, uint64_t word);
/* Calls see() for each aligned word of the segments without code, including constants: in a file that is not
 * relocated, each may be a pointer. */
void elf_file_see_words(const struct elf_file *file, elf_see_word *see, void *context);
/* Whether all of [address, address + size) lies in one executable segment. */
bool elf_file_is_code(const struct elf_file *file, uint64_t address, uint64_t size);
/* Value of the first dynamic entry with this tag. */
bool elf_file_dynamic(const struct elf_file *file, int64_t tag, uint64_t *value);
/* The same for the first such entry at *at (bytes, initially 0) or behind it; *at is set behind that entry. */
bool elf_file_dynamic_next(const struct elf_file *file, int64_t tag, size_t *at, uint64_t *value);
/* The string at this offset, the value of an entry that names something; NULL: none. */
const char *elf_file_dynamic_name(const struct elf_file *file, uint64_t at);

#endif
