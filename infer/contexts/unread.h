/*
 * unread.h - what code that nobody could read may have to do with a sample's path.
 *
 * Inference takes the calls that the binaries show, and those that were seen, for all there are. An image
 * that cannot be opened, or is of another build than the recorded one, and code without a file make other
 * calls: of every function that an image exports or whose address it takes, and so of all that these lead to.
 * Only functions that nothing but calls within their own image leads to (from main, say) cannot run below
 * such code. So in a process that has any:
 *   - a sample in a function that cannot run below it is inferred like any other;
 *   - for the others a path counts that training or an unwound stack shows, or that is a root by its height;
 *     one that was put together from calls is not told, and the sample is unknown (UNKNOWN_UNREAD);
 *   - a sample for which there is no path at all is unknown for the same reason.
 * `main` cannot run below it either, unless the image that calls it, the C library, is not among those read.
 */
#ifndef FATHOM_INFER_CONTEXTS_UNREAD_H
#define FATHOM_INFER_CONTEXTS_UNREAD_H

#include "image/cache.h"
#include "infer/contexts/resolver.h"

struct unread;

struct unread *unread_new(struct image_cache *images); /* borrowed. NULL: out of memory */
void unread_free(struct unread *unread);
/* Notes the process's mappings that nobody can read, and opens the others: what they call counts. 0 or
 * -ENOMEM. Nothing is done twice while its mappings stay. process may be NULL. */
int unread_note(struct unread *unread, const struct process *process);
/* Whether the path of a sample that was resolved (to anything but "it is unknown") may run through such code
 * of its process at that time: 1, 0 or -ENOMEM. process may be NULL. */
int unread_concerns(struct unread *unread, const struct process *process, const struct resolved *resolved);
/* The files, "code outside all files" for memory without one, each once; in order of their first sample. */
size_t unread_names(const struct unread *unread, const char *const **out);

#endif
