/*
 * run_time.h - code that a program writes while it runs, where a known runtime (V8, HotSpot) does so.
 *
 * Its bytes are not recorded, and it has no unwind tables. But these runtimes keep frame pointers in it: V8 in all of it
 * (src/execution/frames.h: each frame begins with the return address and the caller's BP), HotSpot in its interpreter, its stubs and,
 * with -XX:+PreserveFramePointer, in what its compilers make. So it has one row, CFA = BP + 16, which counts as derived (cfi/cfi.h):
 * a walk goes on by it only to a frame further out on the same stack, whose return address is behind a call or in such code. Where
 * compiled code of HotSpot has something else in BP, the walk ends; where it still has its caller's, that frame alone is left out. Where a jitdump says
 * how code is unwound, that holds; it counts as derived, too, as it is the process's word.
 *
 * What a recording has a name of (made/code_names.h) is a function by that name, whatever its addresses in processes were, in which each line has an
 * address; all other code is one function. A call in either has no site.
 */
#ifndef FATHOM_IMAGE_RUN_TIME_H
#define FATHOM_IMAGE_RUN_TIME_H

#include "image/image.h"

#define RUN_TIME_NAME    "[run-time code]"
#define RUN_TIME_ADDRESS 1u /* of code without a name, in that image */

struct code_names;

/* The image of such code, which has no bytes. names: of it, borrowed as long as it is open; NULL: none has one. The caller closes it with image_close(). -ENOMEM. */
int run_time_open(const struct code_names *names, struct image **out);
bool image_is_run_time(const struct image *image);
/* Whether the image is such a runtime: by what its file exports for debuggers, which is looked for once. */
bool image_makes_code(const struct image *image);

#endif
