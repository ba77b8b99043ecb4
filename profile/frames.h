/*
 * frames.h - the table of what a calling-context tree's items are: functions with the names to show.
 *
 * Items are numbered from 0 in the order in which they were added; equal frames get the same item. Frames
 * never move or go away before frames_free(). All strings handed in are copied; control characters in them (a
 * symbol table may hold anything, a terminal obeys some of it) become '?'.
 */
#ifndef FATHOM_PROFILE_FRAMES_H
#define FATHOM_PROFILE_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"

#define FRAMES_NONE UINT32_MAX

struct frames;

enum frame_kind {
    FRAME_FUNCTION,
    FRAME_INLINED,         /* inlined into the frame before it */
    FRAME_UNKNOWN_CONTEXT, /* "[unknown context]" */
    FRAME_LABEL,           /* any other text: "[kernel]", "[jit]", a thread's or process's name */
};

struct frame {
    enum frame_kind kind;
    const char *name;   /* demangled, or "image+0xaddress" */
    const char *image;  /* the file's name; "" for labels */
    uint64_t address;   /* of the function in its image */
    const char *source; /* "file.c:12" or NULL */
};

struct frames *frames_new(void); /* NULL: out of memory */
void frames_free(struct frames *frames);
/* The item of any frame; NULL strings in it count as "" (source: as none). FRAMES_NONE: out of memory. */
uint32_t frames_add(struct frames *frames, const struct frame *frame);
/* Item of a function (a .cold part gives its owner's), remembered by image and index. The images must live as
 * long as calls are made; the table keeps no pointer that it follows. FRAMES_NONE: out of memory. */
uint32_t frames_function(struct frames *frames, const struct image *image, uint32_t function);
/* Item of a function that is known only by a map's words. */
uint32_t frames_named(struct frames *frames, const char *name, const char *image, uint64_t address);
uint32_t frames_label(struct frames *frames, enum frame_kind kind, const char *text);
/* NULL: no such item. */
const struct frame *frames_at(const struct frames *frames, uint32_t item);
uint32_t frames_count(const struct frames *frames);

#endif
