/* event_list.c - lists what can be sampled on this machine; see event_list.h. */
#include "collector/events/event_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/events/event_name.h"
#include "collector/events/open.h"
#include "collector/events/pfm.h"
#include "collector/events/software.h"
#include "collector/events/tracefs.h"

struct list {
    void (*see)(void *context, const struct listed_event *event);
    void *context;
};

/* libpfm4 only looks at the CPU's model; in a virtual machine the kernel may have none of its counters. An
 * event that is merely not permitted exists. */
static bool is_there(const char *name)
{
    struct event_name parsed;
    struct perf_event_attr attr = {.size = OPEN_ATTR_SIZE};
    if (event_name_parse(name, &parsed, &attr, NULL) != 0)
        return false;
    attr.exclude_kernel = !parsed.in_kernel;
    attr.sample_period = 1u << 20;
    int rc = open_probe(&attr);
    return rc == 0 || rc == -EACCES || rc == -EPERM || rc == -EBUSY;
}

static void see_pfm(void *context, const struct pfm_event *event)
{
    const struct list *list = context;
    char name[256];
    snprintf(name, sizeof name, event->umask ? "%s:%s" : "%s", event->name, event->umask);
    if (event->generic && (strncmp(name, "perf_count_", 11) == 0 || software_find(name)))
        return; /* has a shorter name, or was already listed */
    if (is_there(name))
        list->see(list->context, &(struct listed_event){
                                     .group = event->pmu, .name = name, .description = event->description});
}

void event_list(void (*see)(void *context, const struct listed_event *event), void *context)
{
    struct list list = {see, context};
    const char *description = "";
    for (const struct software_event *event = software_events; event->name; event++) {
        description = event->description ? event->description : description;
        if (event->config != PERF_COUNT_SW_DUMMY && is_there(event->name))
            see(context, &(struct listed_event){"software events", event->name, description});
    }
    pfm_events(see_pfm, &list);
}

long event_list_tracepoints(void)
{
    char *text;
    size_t size;
    if (tracefs_read("available_events", &text, &size) != 0)
        return -1;
    long lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}
