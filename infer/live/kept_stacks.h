/*
 * kept_stacks.h - the stacks of one program that are known wherever its files are mapped (collector/verify/rule.h), with their
 * frames: what one recording leaves of them for the next (stack_cache.h).
 *
 * A place in code is a file and an offset in it; a place in a stack is its height: bytes below the stack's base. Stacks share
 * their outer frames and words as far as these are equal. At most KEPT_STACKS_MOST are stored, about 5 MB; further ones are
 * dropped.
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
/* Adds a stack that became known, unless it is there. frames: its own, innermost first; numbers: of its places' files. callee:
 * for a caller's stack, the index of its callee's stack. *index: its own index; KEPT_STACKS_MOST: it cannot be stored. 0 or
 * -ENOMEM. */
int kept_stacks_add(struct kept_stacks *kept, const struct file_numbers *numbers,
                    const struct known_stack *known, const struct unwind_frame *frames, size_t count,
                    size_t callee, size_t *index);
size_t kept_stacks_count(const struct kept_stacks *kept);
size_t kept_stacks_items(const struct kept_stacks *kept); /* stacks, words and frames: about 50 bytes each */
bool kept_stacks_changed(const struct kept_stacks *kept); /* one was added or used since it was read */

/* Numbers its files. 0 or -ENOMEM. */
int kept_stacks_number(struct kept_stacks *kept, struct file_numbers *numbers);
/* After that: the number of the only file with this path and build-id; 0: none. */
uint32_t kept_stacks_file(const struct kept_stacks *kept, const char *path, const struct build_id *id);
/* The stack as that of a process in which each file has an address of its own; the members number and inner, and what else
 * identifies its record, are not set. *callee: the index of its callee's stack; KEPT_STACKS_MOST: it is not a caller's. Valid
 * until the next call. false: out of memory. Number the files first. */
bool kept_stacks_at(struct kept_stacks *kept, size_t index, struct known_stack *out, size_t *callee);

/* A frame of a stack. */
struct kept_frame {
    const struct numbered_file *file;
    uint64_t offset; /* of the PC, in the file */
    int32_t height;  /* base - CFA */
    uint8_t marks;   /* enum walked_mark */
};
/* Stores the frames of a stack, innermost first, in out (UNWIND_MAX_FRAMES). Returns how many. */
size_t kept_stacks_frames(const struct kept_stacks *kept, size_t index, struct kept_frame *out);
/* Marks it as used by a sample: unused stacks are dropped before it. */
void kept_stacks_use(struct kept_stacks *kept, size_t index);

/* Identifies the present content of a file; 0: the file cannot be trusted. */
typedef uint64_t kept_stacks_stamp(const struct numbered_file *file);
/* Serialises the stacks whose files can all be trusted (malloc'ed); *stacks: their number. If there is little room for new
 * stacks, the oldest that were neither used nor added are dropped. 0 or -ENOMEM. */
int kept_stacks_write(const struct kept_stacks *kept, kept_stacks_stamp *stamp, void **data, size_t *size,
                      size_t *stacks);
/* Reads them back. 0; -EBADMSG: damaged, or of another version; -ESTALE: a file's stamp has changed; -ENOMEM. */
int kept_stacks_read(const void *data, size_t size, kept_stacks_stamp *stamp, struct kept_stacks **out);

#endif
