/* allocate.h - makes an object with its members, or nothing. */
#ifndef FATHOM_BASE_ALLOCATE_H
#define FATHOM_BASE_ALLOCATE_H

#include <stdlib.h>

/* A malloc'ed object with these members, the others 0. NULL: out of memory, and no initialiser was evaluated. Large structs
 * would need as much of the stack. */
#define allocate(TYPE, ...)                                                                                  \
    __extension__({                                                                                          \
        TYPE *allocated = malloc(sizeof *allocated);                                                         \
        if (allocated)                                                                                       \
            *allocated = (TYPE){__VA_ARGS__};                                                                \
        allocated;                                                                                           \
    })

/* The object if it is whole. If not, frees it: NULL; as for NULL. */
#define whole_or_free(OBJECT, IS_WHOLE, FREE)                                                                \
    __extension__({                                                                                          \
        if ((OBJECT) && !(IS_WHOLE)) {                                                                       \
            FREE(OBJECT);                                                                                    \
            (OBJECT) = NULL;                                                                                 \
        }                                                                                                    \
        (OBJECT);                                                                                            \
    })

#endif
