/* write_program.h - for tools that make new programs of old ones. */
#ifndef TESTS_REWRITE_WRITE_PROGRAM_H
#define TESTS_REWRITE_WRITE_PROGRAM_H

#include <stddef.h>

/* Writes a file that may be executed. 0; -1, and says why on standard error. */
int write_program(const char *path, const void *data, size_t size);

#endif
