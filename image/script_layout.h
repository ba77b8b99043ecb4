/* script_layout.h - where an interpreter's structs have the running functions. Also compiled for the BPF target. */
#ifndef FATHOM_IMAGE_SCRIPT_LAYOUT_H
#define FATHOM_IMAGE_SCRIPT_LAYOUT_H

#include "base/script_language.h"
#include "image/php_layout.h"
#include "image/python_layout.h"
#include "image/ruby_layout.h"
#include "image/v8_layout.h"

struct script_layout {
    __u32 language; /* enum script_language */
    union {
        struct python_layout python;
        struct php_layout php;
        struct ruby_layout ruby;
        struct v8_layout v8;
    };
};

#endif
