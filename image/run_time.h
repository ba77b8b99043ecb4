/*
 * run_time.h - code that a program generates while it runs, where a known runtime (V8, HotSpot) does so.
 *
 * Its bytes are not recorded, and it has no unwind tables. But these runtimes keep frame pointers in it: V8 in
 * all of it (src/execution/frames.h: each frame begins with the return address and the caller's BP), HotSpot in
 * its interpreter, its stubs and, with -XX:+PreserveFramePointer, in compiled code. So it has one row, CFA = BP +
 * 16, which counts as derived (cfi/cfi.h): a walk uses it only to reach a frame further out on the same stack
 * whose return address is behind a call or in such code. Where HotSpot's compiled code uses BP for something
 * else, the walk ends; where BP is still the caller's, only that frame is missing. Unwind rows in a jitdump take
 * precedence; they also count as derived, as the process wrote them.
 *
 * Code with a name in the recording (made/code_names.h) is one function per name, whatever its addresses in
 * processes, in which each line has an address; all other code is one function. Calls in either have no site.
 */
#ifndef FATHOM_IMAGE_RUN_TIME_H
#define FATHOM_IMAGE_RUN_TIME_H

#include "image/image.h"

#define RUN_TIME_NAME    "[run-time code]"
#define RUN_TIME_ADDRESS 1u /* of unnamed code in that image */

struct code_names;

/* Opens the image of such code, which has no bytes. names: borrowed while the image is open; NULL: none has a
 * name. The caller closes it with image_close(). -ENOMEM. */
int run_time_open(const struct code_names *names, struct image **out);
bool image_is_run_time(const struct image *image);
/* Whether the image is such a runtime, by what its file exports for debuggers; determined once. */
bool image_makes_code(const struct image *image);

#endif
