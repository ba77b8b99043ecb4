/*
 * code_files.h - finds what recorded processes write of the code that they make at run time: /tmp/perf-PID.map (image/made/perf_map.h), and
 * jitdumps (image/made/jitdump.h), which they map executable.
 *
 * Each process with executable memory that is no file's is looked at as it sees itself: in its root directory, by its PID in its own PID
 * namespace, whose /tmp is held, as the process may be gone when its end is known. A file is read if it is a regular one of the process's own
 * user's or root's, not a symbolic link, and was written since the process started: at the end of the process, its program or the recording, and for a live view meanwhile.
 */
#ifndef FATHOM_API_RECORD_CODE_FILES_H
#define FATHOM_API_RECORD_CODE_FILES_H

#include "base/log.h"
#include "perfdata/record.h"

#define CODE_FILES_MOST  128u /* processes at a time, for each of which up to three files are held open */
#define CODE_FILES_BYTES (64u << 20) /* of a file that are read: of what is longer, the beginning */

struct code_files;

struct java_maps;
/* Borrowed. java: which asks each HotSpot that runs at the end to write its map (java_maps.h); NULL: none is asked. NULL: out of memory. */
struct code_files *code_files_new(const struct log *log, struct java_maps *java);
void code_files_free(struct code_files *files); /* NULL is allowed */
/* Takes a record: mappings, an exec, the end of a process; others say nothing. 0 or -ENOMEM. */
int code_files_note(struct code_files *files, const struct record *record);
/* While it goes on: what has a name by now, as of code_files_finish(), of processes that are watched. *data: NULL: nothing new, or it was looked for a moment
 * ago. Not of a HotSpot, which would have to be asked. 0 or -ENOMEM. */
int code_files_look(struct code_files *files, uint8_t **data, size_t *size);
/* Ends it: what has a name, for the recording (image/made/code_names.h): *data is malloc'ed, the caller's; NULL: nothing. 0 or -ENOMEM. */
int code_files_finish(struct code_files *files, uint8_t **data, size_t *size);

#endif
