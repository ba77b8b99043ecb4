/*
 * moved_text.h - finds code of a file that was moved to other memory at the same addresses: a program that
 * wants huge pages copies its text to anonymous memory (or a hugetlbfs file) and maps that in its place. The
 * kernel then reports memory without a file, but the code is still the file's. Code counts as moved only if
 * it is where the headers of a neighbouring mapped file, or of the program, have code, and has the same
 * bytes. The kernel merges similar mappings: one may contain more than code.
 */
#ifndef FATHOM_COLLECTOR_TARGETS_MOVED_TEXT_H
#define FATHOM_COLLECTOR_TARGETS_MOVED_TEXT_H

#include <limits.h>

#include "collector/targets/sideband.h"

#define MOVED_PIECES 4u /* of one mapping: files have one or two segments with code */

/* Moved code, as if it were still mapped from its file. */
struct moved_pieces {
    struct vma list[MOVED_PIECES]; /* paths: owned by other mappings, or by the next member */
    size_t count;
    char program[PATH_MAX];
};

/* Whether executable memory with this name may contain moved code: it has no file, a deleted one, or one that
 * is not a program. */
bool moved_text_may_be(pid_t pid, const char *name);
/* The moved code in a mapping of a process. Returns how many pieces. */
size_t moved_text_find(pid_t pid, const struct maps *maps, size_t index, struct moved_pieces *out);
/* Whether the pieces are all of the mapping. */
bool moved_text_is_all(const struct moved_pieces *pieces, const struct vma *vma);

/* Processes with possibly moved code, found while recording. */
struct moved_texts {
    struct table *looks;        /* process -> how often its mappings were read */
    struct moved_text *pending; /* processes to look at */
    size_t pending_count, pending_capacity;
};

/* Notes a record of a mapping that may contain moved code, at `time` (ns). false: out of memory. */
bool moved_texts_note(struct moved_texts *m, pid_t pid, uint64_t time);
/* Call when a process or program starts, perhaps with the PID of an earlier one. */
void moved_texts_start(struct moved_texts *m, pid_t pid);
/* At the end of a round of records: writes mappings of moved code. */
int moved_texts_tell(struct moved_texts *m, const struct sideband *to, struct fathom_error *err);
void moved_texts_free(struct moved_texts *m);

#endif
