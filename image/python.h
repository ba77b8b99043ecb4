/*
 * python.h - CPython: whether an image has it, of which version, and where its structs have what tells the functions that run
 * (python_layout.h).
 */
#ifndef FATHOM_IMAGE_PYTHON_H
#define FATHOM_IMAGE_PYTHON_H

#include "image/image.h"
#include "image/python_layout.h"

struct python {
    uint64_t runtime;      /* address of _PyRuntime in the image, */
    uint64_t code_type;    /* and of PyCode_Type; 0: it is not known */
    unsigned major, minor; /* 0: an image that does not tell, as before 3.11 */
    bool has_layout;       /* the version is one that is known */
    struct python_layout layout;
};

#define PYTHON_KNOWN "3.11, 3.12, or 3.13 with a GIL" /* the versions that are, for a message */
#define PYTHON_LOOP  "_PyEval_EvalFrameDefault"       /* the function that interprets */

/* NULL: there is none. O(1). The image's. */
const struct python *image_python(const struct image *image);

#endif
