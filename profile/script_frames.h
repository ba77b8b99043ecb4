/*
 * script_frames.h - inserts what an interpreter runs (perfdata/scripts.h) between the frames of its machine code: each call of
 * its loop is followed by the functions that this call runs.
 */
#ifndef FATHOM_PROFILE_SCRIPT_FRAMES_H
#define FATHOM_PROFILE_SCRIPT_FRAMES_H

#include <stdbool.h>

#include "perfdata/scripts.h"
#include "profile/frames.h"

struct script_frames;

/* frames: the report's, borrowed. lines: each function is followed by the line that runs or calls. alone: machine code is
 * dropped. NULL: out of memory. */
struct script_frames *script_frames_new(struct frames *frames, bool lines, bool alone);
void script_frames_free(struct script_frames *scripts); /* NULL is allowed */
/* Joins a path of `count` frames, outermost first, with the script's innermost function and its callers. Functions inlined into
 * the interpreter's loop are dropped where the loop runs a function. *out is valid until the next call. 0 or -ENOMEM.
 *
 * Calls of the loop and functions with which it was entered are paired in order: from the root, or from the inside if the root
 * is unknown, or if the stack has more calls than functions (greenlets). If one side has more, as at the moment of a call, the
 * rest stays beside the last pair. */
int script_frames_join(struct script_frames *scripts, const struct script_frame *innermost,
                       const uint32_t *path, size_t count, const uint32_t **out, size_t *out_count);

#endif
