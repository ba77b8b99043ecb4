/*
 * Calls that come back: through the C library's qsort, through a shared library, and through a plugin that is
 * loaded while the program runs. Of the time:
 *
 *   40%  main sort (qsort) compare
 *   30%  main walk visit_each see        (visit_each in libvisit.so)
 *   30%  main load plugin_run called     (plugin_run in plugin.so)
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "program.h"
#include "visit.h"

static volatile char sink;

KNOWN static int compare(const void *a, const void *b)
{
    spin(1);
    return *(const int *)a - *(const int *)b;
}

KNOWN static void sort(void)
{
    int numbers[64];
    /* 64 numbers in falling order: merging halves compares 32 * 6 = 192 times, a millisecond each. */
    for (int i = 0; i < 64; i++)
        numbers[i] = 64 - i;
    qsort(numbers, 64, sizeof numbers[0], compare);
    sink = (char)numbers[0];
}

KNOWN static void see(void *context, unsigned i)
{
    (void)context;
    (void)i;
    spin(12);
    sink = 1;
}

KNOWN static void walk(void)
{
    visit_each(12, see, NULL);
    sink = 1;
}

KNOWN static void called(void *context, unsigned i)
{
    (void)context;
    (void)i;
    spin(144);
    sink = 1;
}

KNOWN static void load(const char *program)
{
    char path[4096];
    const char *slash = strrchr(program, '/');
    snprintf(path, sizeof path, "%.*splugin.so", slash ? (int)(slash - program + 1) : 0, program);
    void *library = dlopen(path, RTLD_NOW);
    visitor *run = NULL;
    if (library)
        *(void **)&run = dlsym(library, "plugin_run");
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    run(1, called, NULL);
    sink = 1;
}

int main(int argc, char **argv)
{
    (void)argc;
    sort();
    walk();
    load(argv[0]);
    return 0;
}
