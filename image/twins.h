/*
 * twins.h - other files that had the same build: a program can be installed stripped and exist unstripped where
 * it was built, with one build-id. The one with symbols names the functions of the other (debug_file.h). Private
 * to image/.
 */
#ifndef FATHOM_IMAGE_TWINS_H
#define FATHOM_IMAGE_TWINS_H

#include <stdbool.h>
#include <stddef.h>

#include "image/elf/build_id.h"

#define TWINS_MOST 8u /* paths of one build; each is a file to open */

struct twins;

struct twins *twins_new(void); /* NULL: out of memory */
void twins_free(struct twins *twins);
/* Notes a path of a build. A build-id of size 0 is not noted. false: out of memory. */
bool twins_add(struct twins *twins, const char *path, const struct build_id *id);
/* The paths of a build, in the order they were noted. */
size_t twins_find(const struct twins *twins, const struct build_id *id, const char *paths[TWINS_MOST]);

#endif
