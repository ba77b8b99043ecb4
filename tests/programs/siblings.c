/*
 * "siblings PLUGIN LIBRARY [TURNS]": a process and its child, each of which loads a library of its own, to the same
 * place, and works in it (100 times 4 ms). Of the time:
 *
 *   50%  main use plugin_run see
 *   50%  main use visit_each see
 */
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"
#include "visit.h"

static volatile char sink;

KNOWN static void see(void *context, unsigned i)
{
    (void)context, (void)i;
    spin(4);
}

KNOWN static void use(visitor *run)
{
    run(1, see, NULL);
    sink = 1;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    bool first = fork() != 0;
    void *library;
    visitor *run =
        first ? visit_load(argv[1], "plugin_run", &library) : visit_load(argv[2], "visit_each", &library);
    for (int turns = argc > 3 ? atoi(argv[3]) : 100; turns > 0; turns--)
        use(run);
    if (first)
        wait(NULL);
    return 0;
}
