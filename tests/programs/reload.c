/*
 * "reload PLUGIN LIBRARY [TURNS]": loads and unloads two libraries in turn (100 times), mostly to the same place, so
 * that each runs where the other one was. Of the time:
 *
 *   50%  main use_plugin plugin_run see_plugin
 *   50%  main use_library visit_each see_library
 */
#include <dlfcn.h>

#include "program.h"
#include "visit.h"

static volatile char sink;

KNOWN static void see_plugin(void *context, unsigned i)
{
    (void)context, (void)i;
    spin(4);
}

KNOWN static void see_library(void *context, unsigned i)
{
    (void)context, (void)i;
    spin(4);
}

KNOWN static void use_plugin(visitor *run)
{
    run(1, see_plugin, NULL);
    sink = 1;
}

KNOWN static void use_library(visitor *run)
{
    run(1, see_library, NULL);
    sink = 1;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    for (int turns = argc > 3 ? atoi(argv[3]) : 100; turns > 0; turns--) {
        void *library;
        use_plugin(visit_load(argv[1], "plugin_run", &library));
        dlclose(library);
        use_library(visit_load(argv[2], "visit_each", &library));
        dlclose(library);
    }
    return 0;
}
