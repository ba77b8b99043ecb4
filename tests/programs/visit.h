/* visit.h - a function of a shared library that calls the program back. */
#ifndef FATHOM_TESTS_VISIT_H
#define FATHOM_TESTS_VISIT_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef void visitor(unsigned count, void (*see)(void *context, unsigned i), void *context);

visitor visit_each; /* libvisit.so */
visitor plugin_run; /* plugin.so */

/* That function of a library, which is loaded for it. */
static inline visitor *visit_load(const char *path, const char *name, void **library)
{
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    visitor *run = *library ? (visitor *)(uintptr_t)dlsym(*library, name) : NULL;
    if (!run)
        abort();
    return run;
}

#endif
