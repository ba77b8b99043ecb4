/*
 * script.h - interpreters whose functions are read at run time: whether an image has one, its version, and where
 * its structs have the running functions (script_layout.h).
 */
#ifndef FATHOM_IMAGE_SCRIPT_H
#define FATHOM_IMAGE_SCRIPT_H

#include "image/image.h"
#include "image/script_layout.h"

struct script_runtime {
    uint64_t state; /* address in the image from which the functions are found: Python's _PyRuntime, PHP's
                * executor_globals, a slot of a Ruby library (script_layout.h), V8's isolate_key_; 0: none known */
    uint64_t loop;  /* address of the interpreting function, if its code revealed it; 0: a symbol names it */
    unsigned major, minor;       /* 0: unknown, as in Python's images before 3.11 */
    bool has_layout;             /* the version's layout is known */
    struct script_layout layout; /* its language is always set */
};

/* NULL: none. O(1). Owned by the image. */
const struct script_runtime *image_script(const struct image *image);

struct script_facts {
    const char *name;  /* of the interpreter */
    const char *known; /* the known versions, for a message */
    const char *loop;  /* the interpreting function, */
    const char *core;  /* and another function of the same file, which it calls; NULL: none */
    bool compiles;     /* its JIT's code runs instead of the loop */
    const char *file;  /* part of the names of files that have it */
    const char *type;  /* OpenTelemetry's profile.frame.type */
};
/* NULL: no such language. */
const struct script_facts *script_facts(unsigned language);

#endif
