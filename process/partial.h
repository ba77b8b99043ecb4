/*
 * partial.h - how to name what lies outside of the frames that an unwinding proved, where it ended before the stack's root.
 */
#ifndef FATHOM_PROCESS_PARTIAL_H
#define FATHOM_PROCESS_PARTIAL_H

#include "process/unwind.h"

#define PARTIAL_TEXT     256 /* bytes of a name */
#define PARTIAL_CUT      "[deeper than was copied]"
#define PARTIAL_SIGNAL   "[signal on another stack]" /* of what runs on an alternate signal stack */
#define PARTIAL_SWITCHED "[goroutine's stack]"
#define PARTIAL_UPROBE                                                                                       \
    "[uprobe return]" /* the return address is the kernel's, while a probe of the return is set */

/* Of a walk that ended so after `count` frames, at least 1: "[run-time code]", "[no unwind table: libc.so]", ... Text from the
 * recording may be in it. */
void partial_text(const struct process *process, const struct sample *sample,
                  const struct unwind_frame *frames, size_t count, enum unwind_end end,
                  char text[PARTIAL_TEXT]);

#endif
