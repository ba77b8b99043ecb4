/*
 * mapped.h - the files that recorded processes map: their build-ids, and copies of those that nobody will
 * find at their path when the report is made (image_store.h).
 *
 * A file is looked at once, when its first mapping is met: as the process sees it (/proc/PID/map_files,
 * /proc/PID/root), which may be in another mount namespace, where it may be deleted, or only memory. What the
 * path does not give here is kept at once. What it gives now is kept open, so that what is replaced or
 * deleted while the recording goes on can be kept at its end. The vDSO, which no path gives, is kept too:
 * another kernel has another.
 */
#ifndef FATHOM_CLI_MAPPED_H
#define FATHOM_CLI_MAPPED_H

#include "base/log.h"
#include "image/image.h"
#include "perfdata/record.h"

struct mapped;

struct mapped_file {
    const char *path;
    struct build_id id; /* size 0: it has none, or could not be read */
};

struct mapped *mapped_new(const struct log *log); /* borrowed. NULL: out of memory */
void mapped_free(struct mapped *mapped);
/* A RECORD_MMAP. *id: the file's build-id, as recorded or as found; size 0: none is known. 0 or -ENOMEM. */
int mapped_note(struct mapped *mapped, const struct record *record, struct build_id *id);
/* The end of the recording: keeps what its path no longer gives. */
void mapped_finish(struct mapped *mapped);
/* The files that were noted. Those of one path stand there once for each build. */
size_t mapped_files(const struct mapped *mapped, const struct mapped_file **out);

#endif
