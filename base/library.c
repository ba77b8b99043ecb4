/* library.c - see library.h; dlopen(3). */
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static int load(const struct library *l, struct fathom_error *err)
{
    void *handle = dlopen(l->file, RTLD_LAZY | RTLD_LOCAL);
    const char *why = handle ? NULL : dlerror();
    if (!handle)
        return error_set(err, ELIBACC, "%s cannot be loaded: %s", l->file, why ? why : "no dlopen");
    for (size_t i = 0; i < l->count; i++) {
        void *found = dlsym(handle, l->functions[i].name);
        if (!found)
            return error_set(err, ELIBBAD, "%s lacks the function %s", l->file, l->functions[i].name);
        memcpy(l->functions[i].address, &found, sizeof found);
    }
    return 0;
}

int library_load(struct library *l, struct fathom_error *err)
{
    pthread_mutex_lock(&loading);
    const int rc = l->loaded ? 0 : load(l, err);
    l->loaded = rc == 0;
    pthread_mutex_unlock(&loading);
    return rc;
}
