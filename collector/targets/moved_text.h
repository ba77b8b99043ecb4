/*
 * moved_text.h - finds code of a file that was moved to other memory at the same addresses: a program that wants huge pages
 * copies its text to anonymous memory (or a hugetlbfs file) and puts that in its place. The kernel then tells of memory
 * without a file; its code is still the file's.
 *
 * Taken for moved is only what lies where the headers of a file that is mapped beside it, or of the program, have code, and
 * has its bytes. The kernel joins mappings alike: one may have more than code.
 */
#ifndef FATHOM_COLLECTOR_TARGETS_MOVED_TEXT_H
#define FATHOM_COLLECTOR_TARGETS_MOVED_TEXT_H

#include <limits.h>

#include "collector/targets/sideband.h"

#define MOVED_PIECES 4u /* of one mapping: files have one or two segments with code */

/* Moved code, as if it were still mapped from its file. */
struct moved_pieces {
    struct vma list[MOVED_PIECES]; /* paths: of other mappings, or the next */
    size_t count;
    char program[PATH_MAX];
};

/* Whether executable memory with this name may have moved code: that of no file, a deleted one, or one that is no program. */
bool moved_text_may_be(pid_t pid, const char *name);
/* The moved code in a mapping of a process. Returns how many pieces. */
size_t moved_text_find(pid_t pid, const struct maps *maps, size_t index, struct moved_pieces *out);
/* Whether the pieces are all of the mapping. */
bool moved_text_is_all(const struct moved_pieces *pieces, const struct vma *vma);

/* Those that come up while processes are recorded. */
struct moved_texts {
    struct table *looks;        /* process -> how often its mappings were read */
    struct moved_text *pending; /* processes to look at */
    size_t pending_count, pending_capacity;
};

/* A record of a mapping that may have moved code, at `time` (ns). false: out of memory. */
bool moved_texts_note(struct moved_texts *m, pid_t pid, uint64_t time);
/* A process or program starts, perhaps with the number of an earlier one. */
void moved_texts_start(struct moved_texts *m, pid_t pid);
/* At the end of a round of records: writes mappings of what was moved. */
int moved_texts_tell(struct moved_texts *m, const struct sideband *to, struct fathom_error *err);
void moved_texts_free(struct moved_texts *m);

#endif
