/*
 * touch.h - makes the kernel dump stacks past pages that were never touched.
 *
 * The kernel copies a stack dump without taking page faults (perf_output_sample_ustack,
 * kernel/events/core.c): the first page that the program never touched, say in the middle of a large frame,
 * ends it early. Reading the page from outside maps it (to the shared zero page; the program's memory is
 * unchanged), and the next dump is complete.
 */
#ifndef FATHOM_COLLECTOR_TARGETS_TOUCH_H
#define FATHOM_COLLECTOR_TARGETS_TOUCH_H

#include <stdint.h>
#include <sys/types.h>

/* Reads one byte of each page in [from, to) of the process; at most 16 pages, as many as a dump can span.
 * Ignores unreadable pages. */
void stack_touch(pid_t pid, uint64_t from, uint64_t to);

#endif
