/*
 * core_dump.h - what a core (core(5), an ELF file of type ET_CORE) has of its process: threads, mappings of files, memory, and where its first stack began.
 * Written by fs/binfmt_elf.c of the kernel.
 *
 * The file may be hostile: each read is bounded, and what does not fit is left out.
 */
#ifndef FATHOM_PROCESS_CORE_DUMP_H
#define FATHOM_PROCESS_CORE_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/elf/build_id.h"

struct core_thread {
    uint32_t tid;
    uint64_t pc, sp, bp;
};

struct core_mapping {
    uint64_t start, end; /* addresses */
    uint64_t offset;     /* in the file, bytes */
    const char *path;    /* as long as the core is open */
    bool executable;
};

struct core_dump;

/* Errors: system errors; -ENOMSG: no core of an x86-64 process; -EBADMSG: damaged. */
int core_dump_open(const char *path, struct core_dump **out, struct fathom_error *err);
void core_dump_close(struct core_dump *core); /* NULL is allowed */

/* The first one is that which crashed. */
size_t core_dump_threads(const struct core_dump *core, const struct core_thread **out);
size_t core_dump_mappings(const struct core_dump *core, const struct core_mapping **out);
/* Copies memory; returns the number of bytes that the core has of it from this address on. */
size_t core_dump_read(const struct core_dump *core, uint64_t address, void *to, size_t size);
/* The memory that has an address: [*start, *end). false: none. */
bool core_dump_segment(const struct core_dump *core, uint64_t address, uint64_t *start, uint64_t *end);
/* The build-id of the file of a mapping, which is one of the core's, by the headers in memory; size 0: these are not in the core, or have none. */
struct build_id core_dump_build_id(const struct core_dump *core, const struct core_mapping *mapping);
/* SP at the program's first instruction, where argc is; 0: not found. */
uint64_t core_dump_base(const struct core_dump *core);

#endif
