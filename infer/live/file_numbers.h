/*
 * file_numbers.h - numbers of files' code, by which stacks are known wherever it is mapped (collector/verify/rule.h).
 *
 * What has one number lies at fixed distances: the code of one build at one path, as far as its addresses differ from its offsets in the
 * file by the same. Another path may have a file that only says that it is the same build.
 */
#ifndef FATHOM_INFER_LIVE_FILE_NUMBERS_H
#define FATHOM_INFER_LIVE_FILE_NUMBERS_H

#include "perfdata/known_stack.h"
#include "process/unwind.h"

struct file_numbers;

struct numbered_file {
    const char *path; /* borrowed: lives as long as what has it */
    struct build_id id;
    uint64_t adjust; /* its addresses - offsets in the file */
    uint64_t stamp;  /* numbered_file_stamp() when it was numbered first */
};

/* What tells the present content of the file at its path from others. 0: it is another one, or other users could have made it: it is neither
 * root's nor this user's, or others may write it. 1: the kernel's. */
uint64_t numbered_file_stamp(const struct numbered_file *file);

struct file_numbers *file_numbers_new(void); /* NULL: out of memory */
void file_numbers_free(struct file_numbers *numbers);
/* Whether two are the same, but for the stamp. */
bool numbered_file_equal(const struct numbered_file *a, const struct numbered_file *b);
/* The number of a file, at least 1; 0: out of memory. */
uint32_t file_numbers_put(struct file_numbers *numbers, const struct numbered_file *file);
/* Until the next file gets a number. */
const struct numbered_file *file_numbers_at(const struct file_numbers *numbers, uint32_t number);
/* Where the code of these frames lies, that of the first one first: out has STACK_PLACED_MAX. Returns how many; 0: there are more, or one
 * file lies in two places, or a frame is in none; -ENOMEM. */
int file_numbers_places(struct file_numbers *numbers, const struct process *process,
                        const struct unwind_frame *frames, size_t count, struct stack_place *out);

#endif
