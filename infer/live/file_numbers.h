/*
 * file_numbers.h - numbers for files' code, by which stacks are known wherever the code is mapped (collector/verify/rule.h).
 *
 * One number is given to code at fixed distances from each other: that of one build at one path, as far as its addresses differ
 * from its offsets in the file by the same amount. The path matters because another file may only claim to be the same build.
 */
#ifndef FATHOM_INFER_LIVE_FILE_NUMBERS_H
#define FATHOM_INFER_LIVE_FILE_NUMBERS_H

#include "perfdata/known_stack.h"
#include "process/unwind.h"

struct file_numbers;

struct numbered_file {
    const char *path; /* borrowed: lives as long as its owner */
    struct build_id id;
    uint64_t adjust; /* addresses minus offsets in the file */
    uint64_t stamp;  /* numbered_file_stamp() when it was numbered */
};

/* Identifies the present content of the file at its path. 0: it is another file, or other users could have written it: it is
 * owned neither by root nor by this user, or others may write to it. 1: the kernel's. */
uint64_t numbered_file_stamp(const struct numbered_file *file);

struct file_numbers *file_numbers_new(void); /* NULL: out of memory */
void file_numbers_free(struct file_numbers *numbers);
/* The number of a file, at least 1; 0: out of memory. */
uint32_t file_numbers_put(struct file_numbers *numbers, const struct numbered_file *file);
/* Valid until the next file gets a number. */
const struct numbered_file *file_numbers_at(const struct file_numbers *numbers, uint32_t number);
/* Collects the places of the code of these frames, beginning with the first frame's, into out (STACK_PLACED_MAX). Returns their
 * number; 0: there are more, or one file has two places, or a frame has none; -ENOMEM. */
int file_numbers_places(struct file_numbers *numbers, const struct process *process,
                        const struct unwind_frame *frames, size_t count, struct stack_place *out);

#endif
