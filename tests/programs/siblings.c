/*
 * "siblings PLUGIN LIBRARY [TURNS]": a process and its child, each of which loads a library of its own, to the same
 * place, and works in it (100 times 4 ms). Of the time:
 *
 *   50%  main use plugin_run see
 *   50%  main use visit_each see
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"
#include "visit.h"

static volatile char sink;
typedef void each(unsigned count, void (*see)(void *context, unsigned i), void *context);

KNOWN static void see(void *context, unsigned i)
{
    (void)context, (void)i;
    spin(4);
}

KNOWN static each *load(const char *path, const char *name)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    each *run = library ? (each *)(uintptr_t)dlsym(library, name) : NULL;
    if (!run)
        abort();
    return run;
}

KNOWN static void use(each *run)
{
    run(1, see, NULL);
    sink = 1;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    bool first = fork() != 0;
    each *run = first ? load(argv[1], "plugin_run") : load(argv[2], "visit_each");
    for (int turns = argc > 3 ? atoi(argv[3]) : 100; turns > 0; turns--)
        use(run);
    if (first)
        wait(NULL);
    return 0;
}
