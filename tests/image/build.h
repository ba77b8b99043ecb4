/* build.h - what the tests of image/ share: programs built from source text in a directory of their own. */
#ifndef TESTS_IMAGE_BUILD_H
#define TESTS_IMAGE_BUILD_H

#include <stdbool.h>

#include "image/image.h"

/* Runs a shell command made by printf rules inside the directory of this test, where $CC and $CXX name the
 * compilers. Fails the test when the command fails. */
void build_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Writes a file into that directory. */
void build_source(const char *name, const char *text);
/* The path of a file in it; good until the next call but three. */
const char *build_path(const char *name);
/* Opens an image in it, with no debug files outside of it; fails the test on an error. */
struct image *build_open(const char *name);
/* Address of a function by the name in the symbol table; fails the test when there is none. */
uint64_t build_function(const struct image *image, const char *name);
/* A .fini function of a test: removes the directory. */
void build_clean(void);

#endif
