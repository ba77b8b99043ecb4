/* case_opens.c - "case_opens opens PLUGIN": a shared object is closed and opened again, also at another
 * place. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tests/probe/cases/cases.h"

KNOWN int answer(int x)
{
    witness();
    CALLED();
    return x + 1;
}

/* Where it was. */
KNOWN char *use(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW), *run = plugin ? dlsym(plugin, "plugin_run") : NULL;
    int (*function)(int (*)(int), int) = NULL;
    *(void **)&function = run;
    if (!run || function(answer, 2) != 3)
        return NULL;
    dlclose(plugin);
    return run;
}

int run_opens(const char *argument)
{
    char *first = use(argument), *second = use(argument);
    /* Somebody else takes its place. */
    char *page = (char *)((uintptr_t)first & ~UINT64_C(4095));
    void *taken =
        mmap(page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    char *third = use(argument);
    if (!first || !second || !third || taken == MAP_FAILED)
        return 1;
    if (third == first)
        return 2;
    CALLED();
    return 0;
}

const struct known_case cases[] = {{"opens", run_opens}, {0}};
