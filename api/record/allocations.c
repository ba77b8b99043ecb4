#include "api/record/allocations.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime.h"

struct allocations {
    char *events;
    char **environment;
};

static int check_options(const struct fathom_recorder_options *o, struct fathom_error *err)
{
    const struct fathom_target *t = &o->target;
    if (t->everyone || t->cgroup || t->container || t->user.given)
        return error_set(err, EINVAL,
                         "allocations are sampled in a command that is started (--alloc -- COMMAND), or in "
                         "processes that run, by their numbers (--alloc -p)");
    if (!t->command && o->alloc_bytes > UINT32_MAX)
        return error_set(err, EINVAL, "of processes that run, --alloc-bytes is at most %u", UINT32_MAX);
    if (o->phase_interval > 0)
        return error_set(
            err, EINVAL,
            "what is freed is told of all that was allocated: --alloc and --phases exclude each other");
    return 0;
}

static int set_text(char **text, struct fathom_error *err, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *made = NULL;
    const int length = vasprintf(&made, format, values);
    va_end(values);
    if (length < 0)
        return error_memory(err);
    free(*text);
    *text = made;
    return 0;
}

/* Sets up the runtime, and the probes where it reports allocations. */
static int use_runtime(const struct fathom_recorder_options *o, struct allocations *a,
                       struct fathom_error *err)
{
    static const struct runtime runtime = {"libfathom-heap.so", "FATHOM_HEAP_LIBRARY",
                                           "runtime for allocations"};
    char library[PATH_MAX], mean[32];
    int rc = runtime_find(&runtime, o->alloc_runtime, library, sizeof library, err);
    if (rc == 0 && strpbrk(library, ",{}()")) /* they separate parts of a list of events */
        rc = error_set(err, EINVAL,
                       "the runtime for allocations is at '%s': its path can have no commas, braces or "
                       "parentheses",
                       library);
    if (rc < 0)
        return rc;
    snprintf(mean, sizeof mean, "%llu", (unsigned long long)o->alloc_bytes);
    const struct runtime_variable variables[] = {{"FATHOM_HEAP", mean, false}, {"LD_PRELOAD", library, true}};
    a->environment = runtime_environment(variables, sizeof variables / sizeof *variables);
    return a->environment ? set_text(&a->events, err, "heap:%s:allocated,heap:%s:freed", library, library)
                          : error_memory(err);
}

int allocations_new(const struct fathom_recorder_options *o, struct allocations **out,
                    struct fathom_error *err)
{
    *out = NULL;
    if (!o->alloc_bytes)
        return 0;
    int rc = check_options(o, err);
    struct allocations *a = rc == 0 ? calloc(1, sizeof *a) : NULL;
    if (rc < 0 || !a)
        return rc < 0 ? rc : error_memory(err);
    if (o->target.command)
        rc = use_runtime(o, a, err);
    else
        rc = set_text(&a->events, err, "allocator:%llu", (unsigned long long)o->alloc_bytes);
    const char *more = o->target.event ? o->target.event : o->wall ? "cpu-clock" : NULL;
    if (rc == 0 && more)
        rc = set_text(&a->events, err, "%s,%s", a->events, more);
    if (rc < 0)
        allocations_free(a);
    else
        *out = a;
    return rc;
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
    if (a->environment)
        collect->environment = a->environment;
}
