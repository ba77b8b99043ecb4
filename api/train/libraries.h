/* libraries.h - the shared objects that a program will load when it runs. */
#ifndef FATHOM_API_TRAIN_LIBRARIES_H
#define FATHOM_API_TRAIN_LIBRARIES_H

#include <stddef.h>

#include "base/error.h"

/* Asks the program's loader (ld.so --list, which runs none of the program's code). *paths: an array of *count
 * strings; the caller frees each and the array. -ENOEXEC: the loader cannot list them. */
int libraries_list(const char *loader, const char *program, char ***paths, size_t *count,
                   struct fathom_error *err);

#endif
