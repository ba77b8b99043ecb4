/*
 * matching.h - which frames of two recordings are the same function, even if the programs were rebuilt.
 *
 * Frames are the same if their kind, name, and file are. A file that only one side has is matched with one that only the other
 * side has: the only one with the same name without versions ("libz.so.1.2" and "libz.so.1.3", "lua5.3" and "lua5.4"), or else
 * the one that shares the most names of functions, if these are at least half of those of one of the two files. Directories are
 * ignored. So is the number of paths of an ambiguous context: "[one of 3 paths]" is "[one of several paths]".
 */
#ifndef FATHOM_PROFILE_MATCHING_H
#define FATHOM_PROFILE_MATCHING_H

#include "profile/frames.h"

struct matching;

struct matching *matching_new(void); /* NULL: out of memory */
void matching_free(struct matching *matching);
/* Adds a frame that side 0 or 1 has; returns its number, which equal frames share. FRAMES_NONE: out of memory. */
uint32_t matching_add(struct matching *matching, const struct frame *frame, unsigned side);
/* When all are added: adds each frame to `frames`, with the name of side 1's file. items[]: by number. -ENOMEM. */
int matching_finish(struct matching *matching, struct frames *frames, uint32_t **items);

/* The file's name without its versions, truncated to `size` bytes. */
void matching_without_version(const char *image, char *out, size_t size);

#endif
