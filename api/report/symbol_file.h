/*
 * symbol_file.h - names of frames that are no code, for the readers of a recording with call chains: symbols of a file of their own, which is
 * mapped where no process can have anything (below vm.mmap_min_addr).
 */
#ifndef FATHOM_API_REPORT_SYMBOL_FILE_H
#define FATHOM_API_REPORT_SYMBOL_FILE_H

#include <stddef.h>

#include "base/error.h"
#include "perfdata/record.h"

/* Where it is mapped, in bytes, from the beginning of the file on. */
struct symbol_room {
    uint64_t at, size;
};

/* How many names there is room for. */
size_t symbol_room_count(const struct symbol_room *room);
/* Writes the file, or replaces it; as many names as there is room for at most. */
int symbol_file_write(const char *path, const char *const *names, size_t count, struct fathom_error *err);
/* Its mapping in a process, from a time on; path: absolute, borrowed. */
struct record symbol_file_mapping(const struct symbol_room *room, const char *path, uint32_t pid,
                                  uint64_t time);
/* The address of a frame with name number `number`. Readers find it by the address as it is, and by the one before. */
uint64_t symbol_file_address(const struct symbol_room *room, size_t number);

#endif
