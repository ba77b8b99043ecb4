/*
 * touch.h - makes the kernel dump stacks past pages that were never touched.
 *
 * The kernel copies a stack dump without taking page faults (perf_output_sample_ustack,
 * kernel/events/core.c): the first page that the program never touched, in the middle of a large frame say,
 * ends it early. Reading the page from outside maps it (the shared page of zeros; the program's memory stays
 * as it is), and the next dump goes through.
 */
#ifndef FATHOM_COLLECTOR_TARGETS_TOUCH_H
#define FATHOM_COLLECTOR_TARGETS_TOUCH_H

#include <stdint.h>
#include <sys/types.h>

/* Reads one byte of each page in [from, to) of the process; at most 16 pages, as many as a dump can span.
 * What cannot be read is left. */
void stack_touch(pid_t pid, uint64_t from, uint64_t to);

#endif
