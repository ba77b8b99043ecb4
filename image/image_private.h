/* image_private.h - the internals of an image. Private to image/ and rewrite/, which writes images. */
#ifndef FATHOM_IMAGE_IMAGE_PRIVATE_H
#define FATHOM_IMAGE_IMAGE_PRIVATE_H

#include "base/arena.h"
#include "image/cfi/frames.h"
#include "image/cfi/table.h"
#include "image/elf/elf_file.h"
#include "image/functions.h"
#include "image/go_table.h"
#include "image/image.h"

struct image {
    char *path;
    const char *name;      /* inside path */
    char *file_path;       /* the file read; NULL: memory */
    struct elf_file file;  /* the image itself */
    struct elf_file debug; /* debug file or embedded symbols (mini_debug.h), which own names; zeroed: none */
    char *debug_path;      /* NULL: none */
    struct arena *arena;
    struct cfi *cfi;
    struct deriving *deriving; /* derives rows of `cfi` on demand (derive.h); NULL: all are there */
    struct go_table go;        /* without data: it is not a Go program */
    struct functions functions;
    uint64_t thread_return;              /* 0: none */
    bool makes_code;                     /* run_time.h */
    const struct script_runtime *script; /* script.h; NULL: it has none */
    const struct code_names *code_names; /* of the image of run_time.h; NULL: no names, or another image */
};

int image_join_parts(
    struct image *image); /* joins the parts of an image opened with parts_apart. 0 or -ENOMEM */
bool run_time_is_runtime(const struct elf_file *file); /* for image_makes_code() */
int image_find_script(struct image *image);            /* for image_script(). 0 or -ENOMEM */

#endif
