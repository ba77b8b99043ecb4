/* silent.c - see silent.h. */
#include "collector/silent.h"

#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "collector/events/event_attr.h"

#define NS UINT64_C(1000000000)

/* Beyond chance. The kernel attributes user and kernel time by ticks, at most one per 10 ms: at least ten
 * that all hit user code, during which twenty samples were due. */
#define LEAST_PERIODS 20
#define LEAST_NS      (NS / 10)

#define NAMED 4 /* maximum processes named in the sentence */

bool silent_cannot_be(const struct event *event, uint64_t used)
{
    return used >= LEAST_NS && used / LEAST_PERIODS >= attr_interval(&event->attr);
}

static uint64_t counted_of(const struct event *event, const struct cpu_use *use)
{
    uint64_t ticks = event->attr.exclude_kernel ? use->user : use->user + use->kernel;
    return ticks * (NS / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void describe_reason(const struct silent_view *view, char *text, size_t size)
{
    const struct event *event = view->event;
    if (view->lost)
        snprintf(text, size, "%llu samples were lost", (unsigned long long)view->lost);
    else if (attr_is_clock(&event->attr))
        snprintf(text, size,
                 "the kernel samples no program that got other rights at its start (set-user-ID): record as "
                 "root, or attach to it (-p)");
    else
        snprintf(text, size, "event %s did not occur there, or less often than it is sampled", event->name);
}

bool silent_tell(const struct silent_view *view, const struct cpu_uses *uses, enum log_level *level,
                 char *text, size_t size)
{
    char who[NAMED * 48], why[256];
    size_t silent = 0, used = 0;
    uint64_t time = 0;
    for (size_t i = 0; i < uses->count; i++) {
        const struct cpu_use *use = &uses->list[i];
        uint64_t counted = counted_of(view->event, use);
        if (table_find(view->sampled, (uint32_t)use->pid) || !silent_cannot_be(view->event, counted))
            continue;
        time += counted;
        if (silent++ < NAMED)
            used += (size_t)snprintf(who + used, sizeof who - used, "%s%d (%.31s)", silent > 1 ? ", " : "",
                                     (int)use->pid, use->name);
    }
    if (!silent)
        return false;
    describe_reason(view, why, sizeof why);
    snprintf(text, size, "%zu process%s used %.1f s of CPU time and %s no sample: %s%s: %s", silent,
             silent == 1 ? "" : "es", (double)time / (double)NS, silent == 1 ? "has" : "have", who,
             silent > NAMED ? ", ..." : "", why);
    *level = attr_is_clock(&view->event->attr) ? LOG_WARNING : LOG_NOTE;
    return true;
}
