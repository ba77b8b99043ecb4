/*
 * symbol_file.h - gives names to frames that are not code, for readers of a recording with call chains: a file of symbols, recorded as
 * mapped where no process can have anything (below vm.mmap_min_addr).
 */
#ifndef FATHOM_API_REPORT_SYMBOL_FILE_H
#define FATHOM_API_REPORT_SYMBOL_FILE_H

#include <stddef.h>

#include "base/error.h"
#include "perfdata/record.h"

/* Address and size in bytes of the file's mapping, which starts at the beginning of the file. */
struct symbol_room {
    uint64_t at, size;
};

/* The largest number of names. */
size_t symbol_room_count(const struct symbol_room *room);
/* Writes the file, or replaces it. count: at most symbol_room_count(). */
int symbol_file_write(const char *path, const char *const *names, size_t count, struct fathom_error *err);
/* The record of its mapping in a process at a time. path: absolute, borrowed. */
struct record symbol_file_mapping(const struct symbol_room *room, const char *path, uint32_t pid,
                                  uint64_t time);
/* The address of a frame with the name of this number. Readers find the name by the address itself, and by the one before. */
uint64_t symbol_file_address(const struct symbol_room *room, size_t number);

#endif
