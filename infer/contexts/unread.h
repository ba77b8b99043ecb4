/*
 * unread.h - whether code that could not be read may be part of a sample's path.
 *
 * Inference assumes that there are no calls other than those found in the binaries and those observed. An image that
 * cannot be opened or is of another build than the recorded one, and code without a file, make other calls: to any
 * function that an image exports or whose address it takes, and from there to anything reachable. Only functions
 * reachable solely through calls within their own image (from main, say) cannot run below such code. So in a process
 * that has any:
 * - a sample in a function that cannot run below it is inferred like any other;
 * - for the others, a path counts if training or an unwound stack shows it, or if it is a root by its height; one pieced
 *   together from calls is not reported, and the sample is unknown (UNKNOWN_UNREAD);
 * - a sample without any path is unknown for the same reason, whichever its function is: to show that it cannot run below such
 *   code takes all code of its file.
 * `main` cannot run below it either, unless the image that calls main, the C library, was not read.
 */
#ifndef FATHOM_INFER_CONTEXTS_UNREAD_H
#define FATHOM_INFER_CONTEXTS_UNREAD_H

#include "image/cache.h"
#include "infer/samples/cid.h"
#include "infer/statics/image_calls.h"

struct unread;

/* images is borrowed. NULL: out of memory. */
struct unread *unread_new(struct image_cache *images);
void unread_free(struct unread *unread);
/* Notes the process's unreadable mappings and opens the others, as their calls matter. Does nothing if the mappings have not
 * changed since the last call. process may be NULL. 0 or -ENOMEM. */
int unread_note(struct unread *unread, const struct process *process);
/* Whether such code of a process can lead to a function: 1 (also if `calls` cannot read the code of its image), 0 or -ENOMEM. The
 * first time for an image it reads all its code. */
int unread_concerns(struct unread *unread, struct image_calls *calls, const struct place *place);
/* The unread files, each once, in order of their first sample; "code outside all files" is memory without a file. */
size_t unread_names(const struct unread *unread, const char *const **out);

#endif
