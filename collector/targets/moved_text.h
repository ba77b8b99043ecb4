/*
 * moved_text.h - finds code of a file that was moved to other memory at the same addresses: a program that wants huge pages
 * copies its text to anonymous memory (or a hugetlbfs file) and puts that in its place. The kernel then tells of memory
 * without a file; its code is still the file's.
 *
 * Taken for moved is only what lies where the headers of a file that is mapped beside it have code, and has its bytes.
 */
#ifndef FATHOM_COLLECTOR_TARGETS_MOVED_TEXT_H
#define FATHOM_COLLECTOR_TARGETS_MOVED_TEXT_H

#include "collector/targets/sideband.h"

/* Whether a mapping of a process has moved code; *as: what it was before (the path is that of another mapping). */
bool moved_text_find(pid_t pid, const struct maps *maps, size_t index, struct vma *as);

/* Those that come up while processes are recorded. */
struct moved_texts {
    struct table *looks;        /* process -> how often its mappings were read */
    struct moved_text *pending; /* processes to look at */
    size_t pending_count, pending_room;
};

/* A record of a mapping that may have moved code, at `time` (ns). false: out of memory. */
bool moved_texts_note(struct moved_texts *m, pid_t pid, uint64_t time);
/* At the end of a round of records: writes mappings of what was moved. */
int moved_texts_tell(struct moved_texts *m, const struct sideband *to, struct fathom_error *err);
void moved_texts_free(struct moved_texts *m);

#endif
