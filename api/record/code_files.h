/*
 * code_files.h - finds the files in which recorded processes describe code that they make at run time: /tmp/perf-PID.map
 * (image/made/perf_map.h), and jitdumps (image/made/jitdump.h), which they map executable.
 *
 * For each process with executable memory without a file, files are searched as the process sees them: in its root directory, by its PID in
 * its own PID namespace. Its /tmp is held open, as the process may be gone when its end is known. A file is read if it is a regular file of
 * the process's user or of root, not a symbolic link, and written since the process started. That happens at the end of the process, its
 * program or the recording, and for a live view also meanwhile.
 */
#ifndef FATHOM_API_RECORD_CODE_FILES_H
#define FATHOM_API_RECORD_CODE_FILES_H

#include "base/log.h"
#include "perfdata/record.h"

#define CODE_FILES_MOST  128u        /* processes at a time, each with up to three open files */
#define CODE_FILES_BYTES (64u << 20) /* of a file to read, from its beginning */

struct code_files;

struct java_maps;
/* Both are borrowed. java: asks each HotSpot that is running at the end to write its map (java_maps.h); NULL: do not ask. Returns NULL: out
 * of memory. */
struct code_files *code_files_new(const struct log *log, struct java_maps *java);
void code_files_free(struct code_files *files); /* NULL is allowed */
/* Takes a record: a mapping, an exec, or the end of a process; others are ignored. 0 or -ENOMEM. */
int code_files_note(struct code_files *files, const struct record *record);
/* While recording: the names so far, as in code_files_finish(), of watched processes. *data: NULL: nothing new, or the last scan was a
 * moment ago. Excludes HotSpots, which would have to be asked. 0 or -ENOMEM. */
int code_files_look(struct code_files *files, uint8_t **data, size_t *size);
/* At the end: all names, for the recording (image/made/code_names.h). *data: malloc'ed, the caller frees it; NULL: none. 0 or -ENOMEM. */
int code_files_finish(struct code_files *files, uint8_t **data, size_t *size);

#endif
