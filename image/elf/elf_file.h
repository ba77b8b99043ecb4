/*
 * elf_file.h - the checked headers of an ELF64 x86-64 file, and its bytes by section or by address.
 *
 * libelf reads the headers; every returned range lies inside the file. Private to image/.
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
    const char *name; /* "": unknown */
    uint32_t type, link;
    uint64_t flags, address, offset, entry_size;
    uint64_t size;      /* bytes in memory */
    uint64_t file_size; /* bytes in the file: 0 for SHT_NOBITS and for a range outside the file */
};

/* Of a large file's bytes: code, or constants. */
struct elf_late {
    uint64_t from, to;
};

struct elf_file {
    const uint8_t *data;
    size_t size;
    struct file_view *view; /* owns data; NULL: a private copy */
    void *elf;              /* Elf *: owns the section names */
    uint16_t type;          /* ET_EXEC or ET_DYN */
    uint64_t entry;
    struct elf_segment *segments; /* PT_LOADs, ascending, not overlapping */
    size_t segment_count;
    struct elf_section *sections;
    size_t section_count;
    uint64_t dynamic_address, dynamic_size; /* PT_DYNAMIC */
    uint64_t
        thread_size; /* of each thread's block (PT_TLS), with its alignment: in an executable, variables count back from the FS base by it */
    uint64_t eh_frame_header;     /* address of PT_GNU_EH_FRAME's segment, 0 for none */
    uint64_t code_low, code_high; /* span of the executable segments; less than 4 GiB */
    struct build_id build_id;
    uint64_t build_id_at;    /* in the file, bytes */
    uint32_t build_id_bytes; /* there: all of it; 0: it has none */
    bool cut;                /* some bytes of a segment are missing from the file */
    struct elf_late late[2]; /* what is read as it is asked for, ascending */
    size_t late_count;
    const struct log *log; /* told when that fails; borrowed; NULL: nobody is told */
};

#define ELF_CUT "%s is a damaged ELF file: its end is missing" /* what to say then */

/* How much of a file to read: */
enum elf_part {
    ELF_HEADERS, /* only headers and notes: the build-id and the list of sections */
    ELF_CODE, /* all but debug information: what an image needs. Much code, and many constants, are read as they are asked for */
};

/* Errors as image_open(); -EBADMSG also if the file is truncated while it is read. Unread parts of `data` are
 * 0. Close the file with elf_file_close(), which also accepts a zeroed one. */
int elf_file_open(struct elf_file *file, const char *path, enum elf_part part, struct fathom_error *err);
int elf_file_open_memory(struct elf_file *file, const char *path, const void *data, size_t size,
                         struct fathom_error *err);
void elf_file_close(struct elf_file *file);

/* NULL: no such section. */
const struct elf_section *elf_file_section(const struct elf_file *file, const char *name);
/* Whether it has debug information, packed or not. */
bool elf_file_has_debug_info(const struct elf_file *file);
/* Whether it has symbols, or debug information, and the other file has not. */
bool elf_file_names_more(const struct elf_file *file, const struct elf_file *other);
/* Likewise of the file at a path, which must be of the same build. */
bool elf_file_names_more_at(const char *path, const struct elf_file *other);
/* Whether some of it is read as it is asked for. */
bool elf_file_is_late(const struct elf_file *file);
/* Reads all that was not read yet. Errors as elf_file_open(); -ESTALE: it was changed. */
int elf_file_need_code(const struct elf_file *file, struct fathom_error *err);
/* The bytes of a section; empty (NULL, 0) if the file has none. */
const uint8_t *elf_section_bytes(const struct elf_file *file, const struct elf_section *section,
                                 size_t *size);
/* Where a program's thread-local variable is, from the FS base on; value: its symbol's, from the
 * beginning of the file's block on (TLS variant II). false: a library, or outside of the block. */
bool elf_file_thread_variable(const struct elf_file *file, uint64_t value, int64_t *from_base);
#define ELF_REST UINT64_MAX
/* The bytes from an address on, `most` or to its segment's end in the file; NULL: none there, or not any more. ELF_REST: to where
 * what is read late begins, as nobody wants all of that. */
const uint8_t *elf_file_bytes(const struct elf_file *file, uint64_t address, uint64_t most, size_t *size);
/* What looks at all code. A result other than 0 ends it. */
typedef int elf_see_code(void *context, const uint8_t *code, size_t size, uint64_t address);
/* Calls see() for the code of all executable segments, in pieces that each begin ELF_PIECE bytes behind the last one and have `more`
 * bytes of the next, without keeping what is read late. What see() returned last, or -ENOMEM. */
int elf_file_see_code(const struct elf_file *file, size_t more, elf_see_code *see, void *context);
#define ELF_PIECE 262144u
typedef void elf_see_word(void *context, uint64_t address, uint64_t word);
/* Calls see() for each aligned word of the segments without code, constants among them: of a file that is not relocated, it may be a
 * pointer. */
void elf_file_see_words(const struct elf_file *file, elf_see_word *see, void *context);
/* Whether all of [address, address + size) lies in one executable segment. */
bool elf_file_is_code(const struct elf_file *file, uint64_t address, uint64_t size);
/* Value of the first dynamic entry with this tag. */
bool elf_file_dynamic(const struct elf_file *file, int64_t tag, uint64_t *value);
/* Likewise, of the first one at *at (bytes, 0 at first) or behind, which is then behind it. */
bool elf_file_dynamic_next(const struct elf_file *file, int64_t tag, size_t *at, uint64_t *value);
/* The name that the value of such an entry tells; NULL: it tells none. */
const char *elf_file_dynamic_name(const struct elf_file *file, uint64_t at);

#endif
