/*
 * real.c - see real.h.
 */
#include "pathmap/probe/real.h"

#include <dlfcn.h>
#include <stdbool.h>

static struct real table;
static bool resolved;

#define RESOLVE(member, name, type) *(void **)&table.member = dlsym(RTLD_NEXT, name);

const struct real *real_resolve(void)
{
    if (__atomic_load_n(&resolved, __ATOMIC_ACQUIRE))
        return &table;
    REAL_FUNCTIONS(RESOLVE)
    __atomic_store_n(&resolved, true, __ATOMIC_RELEASE);
    return &table;
}
