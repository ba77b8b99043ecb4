/*
 * opens.c - "opens PLUGIN": opens and closes a shared object ten times, at first and at last in a namespace
 * of its own, while another thread works.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/programs/program.h"

static atomic_bool done;
static unsigned seen;

static KNOWN void see(void *context, unsigned i)
{
    *(unsigned *)context += i;
}

static KNOWN unsigned work(unsigned x)
{
    CALLED();
    return x * 3 + 1;
}

static void *worker(void *unused)
{
    (void)unused;
    unsigned x = 0;
    do
        x = work(x);
    while (!atomic_load(&done));
    return (void *)(uintptr_t)(x & 1);
}

static KNOWN int use(void *plugin)
{
    if (!plugin) {
        puts(dlerror());
        return 1;
    }
    void (*run)(unsigned, void (*)(void *, unsigned), void *) = NULL;
    *(void **)&run = dlsym(plugin, "plugin_run");
    run(5, see, &seen);
    return dlclose(plugin);
}

int main(int count, char **arguments)
{
    pthread_t id;
    if (count != 2 || pthread_create(&id, NULL, worker, NULL))
        return 2;
    int bad = use(dlmopen(LM_ID_NEWLM, arguments[1], RTLD_NOW));
    for (int i = 0; i < 10 && !bad; i++)
        bad = use(dlopen(arguments[1], RTLD_LAZY));
    if (!bad)
        bad = use(dlmopen(LM_ID_NEWLM, arguments[1], RTLD_NOW));
    atomic_store(&done, true);
    pthread_join(id, NULL);
    printf("%u\n", seen);
    return bad;
}
