/*
 * kept_stacks.h - the stacks of one program that are known wherever its files are mapped (collector/verify/rule.h), with their frames:
 * what of them one recording leaves to the next (stack_cache.h).
 *
 * A place in code is a file and an offset in it, one in a stack its height: bytes below the stack's base. Stacks share what is the
 * same of them from a frame, or a word that is compared, outwards. At most KEPT_STACKS_MOST are held, 5 MB or so; further ones are
 * left out.
 */
#ifndef FATHOM_INFER_LIVE_KEPT_STACKS_H
#define FATHOM_INFER_LIVE_KEPT_STACKS_H

#include "infer/live/file_numbers.h"
#include "perfdata/known_stack.h"
#include "process/unwind.h"

#define KEPT_STACKS_MOST 4096u

struct kept_stacks;

struct kept_stacks *kept_stacks_new(void); /* NULL: out of memory */
void kept_stacks_free(struct kept_stacks *kept);
/* Adds a stack that became known, unless it is there. frames: its own, the innermost first; numbers: of its places. callee: of a caller's,
 * the index of its callee's stack. *index: its own; KEPT_STACKS_MOST: it cannot be kept. 0 or -ENOMEM. */
int kept_stacks_add(struct kept_stacks *kept, const struct file_numbers *numbers,
                    const struct known_stack *known, const struct unwind_frame *frames, size_t count,
                    size_t callee, size_t *index);
size_t kept_stacks_count(const struct kept_stacks *kept);
size_t kept_stacks_items(const struct kept_stacks *kept); /* stacks, words and frames: some 50 bytes each */
bool kept_stacks_changed(const struct kept_stacks *kept); /* one was added, or used, since it was read */

/* Gives its files their numbers. 0 or -ENOMEM. */
int kept_stacks_number(struct kept_stacks *kept, struct file_numbers *numbers);
/* Then: the number of the only one with this path and build-id; 0: none. */
uint32_t kept_stacks_file(const struct kept_stacks *kept, const char *path, const struct build_id *id);
/* A stack as one of a process in which each file lies at an address of its own; number, inner, and what else tells of its record is not
 * set. *callee: the index of its callee's stack, KEPT_STACKS_MOST: it is not a caller's. Valid until the next call. false: out of
 * memory. Call it when the files have numbers. */
bool kept_stacks_at(struct kept_stacks *kept, size_t index, struct known_stack *out, size_t *callee);

/* Of a stack's frames, the innermost first. */
struct kept_frame {
    const struct numbered_file *file;
    uint64_t offset; /* of the PC, in the file */
    int32_t height;  /* base - CFA */
    uint8_t marks;   /* enum walked_mark */
};
/* Returns how many frames it has; out: room for UNWIND_MAX_FRAMES. */
size_t kept_stacks_frames(const struct kept_stacks *kept, size_t index, struct kept_frame *out);
/* A sample had it: it is not left out as long as others can be. */
void kept_stacks_use(struct kept_stacks *kept, size_t index);

/* What tells the present content of a file from others; 0: it is not to be trusted. */
typedef uint64_t kept_stacks_stamp(const struct numbered_file *file);
/* As a file: malloc'ed; *stacks: how many. Of those in trusted files alone. Where there is little room for new ones, the oldest of those
 * that were neither used nor added are left out. 0 or -ENOMEM. */
int kept_stacks_write(const struct kept_stacks *kept, kept_stacks_stamp *stamp, void **data, size_t *size,
                      size_t *stacks);
/* 0; -EBADMSG: it is damaged, or of another version; -ESTALE: a file's stamp is another one now; -ENOMEM. */
int kept_stacks_read(const void *data, size_t size, kept_stacks_stamp *stamp, struct kept_stacks **out);

#endif
