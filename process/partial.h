/* partial.h - names for what is outside of the frames that unwinding proved, if it ended before the stack's root. */
#ifndef FATHOM_PROCESS_PARTIAL_H
#define FATHOM_PROCESS_PARTIAL_H

#include "process/unwind.h"

#define PARTIAL_TEXT     256 /* bytes of a name */
#define PARTIAL_CUT      "[deeper than was copied]"
#define PARTIAL_SIGNAL   "[signal on another stack]" /* what runs on an alternate signal stack */
#define PARTIAL_SWITCHED "[goroutine's stack]"
/* the return address was replaced by the kernel, for a probe of the return */
#define PARTIAL_UPROBE "[uprobe return]"

/* For a walk that ended like this after `count` frames, at least 1: "[run-time code]", "[no unwind table: libc.so]", ... May
 * contain text from the recording. */
void partial_text(const struct process *process, const struct sample *sample,
                  const struct unwind_frame *frames, size_t count, enum unwind_end end,
                  char text[PARTIAL_TEXT]);

#endif
