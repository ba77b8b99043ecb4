/*
 * frames.h - the table of a calling-context tree's items: functions with the names to show.
 *
 * Items are numbered from 0 in the order of addition; equal frames get the same item. Frames never move and live until
 * frames_free(). All strings are copied; control characters in them (symbol tables may contain terminal escapes) become '?'.
 */
#ifndef FATHOM_PROFILE_FRAMES_H
#define FATHOM_PROFILE_FRAMES_H

#include <stdint.h>

#include "image/image.h"

#define FRAMES_NONE UINT32_MAX

struct frames;

enum frame_kind {
    FRAME_FUNCTION,
    FRAME_INLINED,         /* inlined into the frame before it */
    FRAME_UNKNOWN_CONTEXT, /* "[unknown context]" */
    FRAME_DATA,            /* the memory that the sample accessed */
    FRAME_FOUND,           /* where the processor found it: "L3"; address: enum access_source */
    FRAME_UNSURE,          /* stands for uncertain callers: "[one of 3 paths]" */
    FRAME_KERNEL,          /* a function of the kernel, or an address in it */
    /* in the frame before it: "file.c:12", address: 12; or a text if it may be one of several */
    FRAME_LINE,
    FRAME_PARTIAL, /* the root of a partial path, which says why: "[run-time code]" (pathmap/map/partial.h) */
    FRAME_LABEL,   /* any other text: "[kernel]", "[jit]", a thread's or process's name */
    FRAME_LEVEL,   /* above the functions: who ran them, such as a cgroup or process; address: levels.h */
    /* a function that an interpreter runs; image: its file's name, address: its first line, source: the file's path */
    FRAME_SCRIPT,
    FRAME_PLACE, /* an instruction in the frame before it: the sampled one, or a call; image, address */
    /* "[woken by a timer]": the functions after it ended the wait before it, the innermost first */
    FRAME_WAKER,
};

struct frame {
    enum frame_kind kind;
    const char *name;  /* demangled, or "image+0xaddress" */
    const char *image; /* file name; "" for labels */
    uint64_t address;  /* of the function, in its image */
    /* FRAME_LINE, FRAME_SCRIPT: the whole path of the file, as the compiler wrote it; NULL: unknown */
    const char *source;
    uint8_t language; /* FRAME_SCRIPT: enum script_language; 0: unknown, as for contexts from a store */
};

/* A program or library, by its file's name. */
struct frame_image {
    const char *path; /* as recorded */
    struct build_id build_id;
};

struct frames *frames_new(void); /* NULL: out of memory */
void frames_free(struct frames *frames);
/* The item of any frame; NULL strings in it count as "" (source: none). FRAMES_NONE: out of memory. */
uint32_t frames_add(struct frames *frames, const struct frame *frame);
/* The item of a function (that of the owner for a .cold part), cached by image and index. The images must outlive the last
 * call; the table never dereferences the pointers that it stores. FRAMES_NONE: out of memory. */
uint32_t frames_function(struct frames *frames, const struct image *image, uint32_t function);
/* The item of a function of a file whose symbol (NULL: it has none) is known, e.g. from a map. The directories of `path` are
 * ignored. */
uint32_t frames_symbol(struct frames *frames, const char *path, const char *symbol, uint64_t address);
/* The item of a function by the name to show. */
uint32_t frames_named(struct frames *frames, const char *name, const char *image, uint64_t address);
uint32_t frames_label(struct frames *frames, enum frame_kind kind, const char *text);
/* What is known of the image with this name, as in a frame's `image` (the first one, if several have that name); NULL: nothing. */
const struct frame_image *frames_image(const struct frames *frames, const char *name);
/* NULL: no such item. */
const struct frame *frames_at(const struct frames *frames, uint32_t item);
uint32_t frames_count(const struct frames *frames);
/* Whether it is a function of the program: machine code, an inlined part of it, or a script's function. */
bool frame_is_function(const struct frame *frame);
/* Whether a function has a name that is more than that of its file, perhaps with a shorter version, and an address
 * ("libz.so.1+0x1234", of libz.so.1.2). */
bool frame_has_name(const struct frame *frame);
/* Whether it stands for something unknown: "[unknown context]", "[one of 3 paths]", a partial path's root. */
bool frame_is_unknown(const struct frame *frame);

#endif
