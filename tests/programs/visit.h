/* visit.h - a function of a shared library that calls the program back. */
#ifndef FATHOM_TESTS_VISIT_H
#define FATHOM_TESTS_VISIT_H

typedef void visitor(unsigned count, void (*see)(void *context, unsigned i), void *context);

visitor visit_each; /* libvisit.so */
visitor plugin_run; /* plugin.so */

#endif
