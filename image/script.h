/*
 * script.h - an interpreter whose functions are read while it runs: whether an image has one, of which version, and where its structs have what
 * tells the functions (script_layout.h).
 */
#ifndef FATHOM_IMAGE_SCRIPT_H
#define FATHOM_IMAGE_SCRIPT_H

#include "image/image.h"
#include "image/script_layout.h"

struct script_runtime {
    uint64_t
        state; /* address in the image of what leads to the functions: Python's _PyRuntime, PHP's executor_globals, a slot of a library of Ruby's (ruby_layout.h), V8's isolate_key_; 0: it has none that is known */
    uint64_t loop; /* likewise, of the function that interprets, where its code told it; 0: a symbol does */
    unsigned major, minor;       /* 0: an image that does not tell, as Python's before 3.11 */
    bool has_layout;             /* the version is one that is known */
    struct script_layout layout; /* its language stands there in any case */
};

/* NULL: there is none. O(1). The image's. */
const struct script_runtime *image_script(const struct image *image);

struct script_facts {
    const char *name;  /* of the interpreter */
    const char *known; /* the versions that are, for a message */
    const char *loop;  /* the function that interprets, */
    const char *core;  /* and another one of the same file, which it calls to do so; NULL: there is none */
    bool compiles;     /* its JIT makes code that runs in the place of the loop */
    const char *file;  /* part of the names of the files that have it */
    const char *type;  /* OpenTelemetry's profile.frame.type */
};
/* NULL: no such language. */
const struct script_facts *script_facts(unsigned language);

#endif
