/*
 * matching.h - which frames of two recordings are the same function, though the programs were built anew.
 *
 * Frames are the same if their kind, name, and file are. Files of one side alone are taken for one of the other side alone:
 * the only one that has the same name without versions ("libz.so.1.2" and "libz.so.1.3", "lua5.3" and "lua5.4"), or else the one
 * that shares the most names of functions, if these are at least half of those that one of the two has. A file is its name
 * without directories. How many paths an ambiguous context has is of no account: "[one of 3 paths]" is "[one of several paths]".
 */
#ifndef FATHOM_PROFILE_MATCHING_H
#define FATHOM_PROFILE_MATCHING_H

#include "profile/frames.h"

struct matching;

struct matching *matching_new(void); /* NULL: out of memory */
void matching_free(struct matching *matching);
/* The number of a frame that side 0 or 1 has; equal frames have the same. FRAMES_NONE: out of memory. */
uint32_t matching_add(struct matching *matching, const struct frame *frame, unsigned side);
/* When all are added: the frame's item in `frames`, by the name of side 1's file. items[]: of each number. -ENOMEM. */
int matching_finish(struct matching *matching, struct frames *frames, uint32_t **items);

/* The file's name without its versions, in at most `size` bytes. */
void matching_without_version(const char *image, char *out, size_t size);

#endif
