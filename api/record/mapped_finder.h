/*
 * mapped_finder.h - finds the file of a recorded mapping, whose process may have ended before its record was read.
 *
 * It tries, in this order: the process's mapping (/proc/PID/map_files), the path in its root directory, its program; the path
 * as we see it; the path as its ancestors see it, which are usually in the same mount namespace. By now there may be another file
 * in any of these places. A file is accepted if it has the recorded build-id or, if none was recorded, the recorded inode number
 * and, except for the process's own mapping, device and generation.
 */
#ifndef FATHOM_API_RECORD_MAPPED_FINDER_H
#define FATHOM_API_RECORD_MAPPED_FINDER_H

#include <stdbool.h>
#include <sys/stat.h>

#include "image/elf/build_id.h"
#include "perfdata/record.h"

struct mapped_finder;

struct mapped_place {
    int fd; /* opened with O_PATH; the caller closes it */
    struct stat st;
};

struct mapped_finder *mapped_finder_new(void); /* NULL: out of memory */
void mapped_finder_free(struct mapped_finder *finder);
/* Takes a RECORD_FORK, to know who started a process. */
void mapped_finder_fork(struct mapped_finder *finder, const struct record *record);
/* Finds the regular file of a RECORD_MMAP. id: its build; size 0: not recorded. false: it is not accessible, or was changed so recently
 * that this may have been after it was mapped. */
bool mapped_finder_find(const struct mapped_finder *finder, const struct record *record,
                        const struct build_id *id, struct mapped_place *out);
/* Opens it for reading; -1: it cannot be read. */
int mapped_place_open(const struct mapped_place *place);
/* Its build-id; false: it has none, or cannot be read. */
bool mapped_place_build(const struct mapped_place *place, struct build_id *id);

/* A device number as in records of mappings. */
static inline uint64_t mapped_device(unsigned maj, unsigned min)
{
    return (uint64_t)maj << 32 | min;
}

#endif
