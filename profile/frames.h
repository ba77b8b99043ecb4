/*
 * frames.h - the table of a calling-context tree's items: functions with the names to show.
 *
 * Items are numbered from 0 in the order of addition; equal frames get the same item. Frames never move and
 * live until frames_free(). All strings passed in are copied; control characters in them (symbol tables may
 * contain terminal escapes) become '?'.
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
    FRAME_DATA,            /* the memory that the sample accessed */
    FRAME_FOUND,           /* where the processor found it: "L3"; address: enum access_source */
    FRAME_UNSURE,          /* in place of callers that are not sure: "[one of 3 paths]" */
    FRAME_KERNEL,          /* a function of the kernel, or an address in it */
    FRAME_LINE,    /* in the frame before it: "file.c:12", address: 12; or a text if it is one of several */
    FRAME_PARTIAL, /* the root of a partial path, which says why: "[run-time code]" (pathmap/map/partial.h) */
    FRAME_LABEL,   /* any other text: "[kernel]", "[jit]", a thread's or process's name */
    FRAME_LEVEL,   /* above the functions: who ran them, as a cgroup or process; address: levels.h */
    FRAME_SCRIPT, /* a function that an interpreter runs; image: its file's name, address: its first line, source: the file's path */
    FRAME_PLACE,  /* an instruction in the frame before it: the sampled one, or of a call; image, address */
    FRAME_WAKER, /* "[woken by a timer]": behind it are those who ended the wait before it, the innermost first */
};

struct frame {
    enum frame_kind kind;
    const char *name;  /* demangled, or "image+0xaddress" */
    const char *image; /* the file's name; "" for labels */
    uint64_t address;  /* of the function in its image */
    const char *
        source; /* FRAME_LINE, FRAME_SCRIPT: the whole path of its file, as the compiler wrote it; NULL: none */
    uint8_t language; /* FRAME_SCRIPT: enum script_language; 0: not known, as of what a store kept */
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
/* Item of a function (a .cold part gives its owner's), cached by image and index. The images must outlive the
 * last call; the table never dereferences the pointers that it keeps. FRAMES_NONE: out of memory. */
uint32_t frames_function(struct frames *frames, const struct image *image, uint32_t function);
/* Item of a function of a file whose symbol (NULL: it has none) is known, as of a map. path: its directories do not count. */
uint32_t frames_symbol(struct frames *frames, const char *path, const char *symbol, uint64_t address);
/* Item of a function by the name to show. */
uint32_t frames_named(struct frames *frames, const char *name, const char *image, uint64_t address);
uint32_t frames_label(struct frames *frames, enum frame_kind kind, const char *text);
/* What is known of the image of a frame, whose `image` is given (of the first image, if several have that name); NULL: nothing. */
const struct frame_image *frames_image(const struct frames *frames, const char *name);
/* NULL: no such item. */
const struct frame *frames_at(const struct frames *frames, uint32_t item);
uint32_t frames_count(const struct frames *frames);
/* Whether it is a function of the program: machine code, a part of it that is inlined, or a script's. */
bool frame_is_function(const struct frame *frame);
/* Whether a function has a name, and not that of its file, perhaps without some of its version, and an address ("libz.so.1+0x1234", of libz.so.1.2). */
bool frame_has_name(const struct frame *frame);
/* Whether it stands for what is not known: "[unknown context]", "[one of 3 paths]", a partial path's root. */
bool frame_is_unknown(const struct frame *frame);

#endif
