/* allocations.c - see allocations.h. */
#include "api/record/allocations.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime.h"

struct allocations {
    char *events;
    char **environment;
};

static int refuse(const struct fathom_recorder_options *o, struct fathom_error *err)
{
    const struct fathom_target *t = &o->target;
    if (!t->command || t->everyone || t->cgroup || t->container || t->user.given || t->pids.count ||
        t->tids.count)
        return error_set(
            err, EINVAL,
            "allocations are sampled in a command that is started (--alloc -- COMMAND): of a process that "
            "runs, -e uprobe:libc.so.6:malloc --weight arg1 tells each call");
    if (o->phase_interval > 0)
        return error_set(
            err, EINVAL,
            "what is freed is told of all that was allocated: --alloc and --phases exclude each other");
    return 0;
}

int allocations_new(const struct fathom_recorder_options *o, struct allocations **out,
                    struct fathom_error *err)
{
    static const struct runtime runtime = {"libfathom-heap.so", "FATHOM_HEAP_LIBRARY",
                                           "runtime for allocations"};
    char library[PATH_MAX], mean[32];
    *out = NULL;
    if (!o->alloc_bytes)
        return 0;
    int rc = refuse(o, err);
    if (rc == 0)
        rc = runtime_find(&runtime, o->alloc_runtime, library, sizeof library, err);
    if (rc == 0 && strpbrk(library, ",{}()")) /* of a list of events */
        rc = error_set(err, EINVAL,
                       "the runtime for allocations is at '%s': its path can have no commas, braces or "
                       "parentheses",
                       library);
    struct allocations *a = rc == 0 ? calloc(1, sizeof *a) : NULL;
    if (rc < 0 || !a)
        return rc < 0 ? rc : error_memory(err);
    snprintf(mean, sizeof mean, "%llu", (unsigned long long)o->alloc_bytes);
    const struct runtime_variable variables[] = {{"FATHOM_HEAP", mean, false}, {"LD_PRELOAD", library, true}};
    a->environment = runtime_environment(variables, sizeof variables / sizeof *variables);
    const char *more = o->target.event ? o->target.event : o->wall ? "cpu-clock" : NULL;
    if (asprintf(&a->events, "heap:%s:allocated,heap:%s:freed%s%s", library, library, more ? "," : "",
                 more ? more : "") < 0)
        a->events = NULL;
    if (!a->environment || !a->events) {
        allocations_free(a);
        return error_memory(err);
    }
    *out = a;
    return 0;
}

void allocations_free(struct allocations *a)
{
    if (!a)
        return;
    runtime_environment_free(a->environment);
    free(a->events);
    free(a);
}

void allocations_use(const struct allocations *a, struct collector_options *collect)
{
    if (!a)
        return;
    collect->event.name = a->events;
    collect->environment = a->environment;
}
