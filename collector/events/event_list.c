/* event_list.c - lists what can be sampled on this machine; see event_list.h. */
#include "collector/events/event_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/events/event.h"
#include "collector/events/event_name.h"
#include "collector/events/open.h"
#include "collector/events/pebs.h"
#include "collector/events/pfm.h"
#include "collector/events/tracefs.h"
#include "perfdata/software.h"

/* Large, as events are only opened to see whether the kernel accepts them. */
#define PERIOD (1u << 20)

struct list {
    const struct pmus *pmus;
    void (*see)(void *context, const struct listed_event *event);
    void *context;
};

/* libpfm4 only looks at the CPU's model; in a virtual machine the kernel may have none of its counters. An
 * event that is merely not permitted exists. -ENODATA: only with a helper (event.h). */
static bool is_there(const struct list *list, const struct perf_event_attr *attr)
{
    int rc = list->pmus->probe(attr);
    return rc == 0 || rc == -EACCES || rc == -EPERM || rc == -EBUSY || rc == -ENODATA;
}

static unsigned record_bytes(const struct perf_event_attr *attr)
{
    const uint64_t singles = attr->sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                                  PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD |
                                                  PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC);
    unsigned words = 1 + (unsigned)__builtin_popcountll(singles); /* the header is the first */
    if (attr->sample_type & PERF_SAMPLE_CALLCHAIN)
        words += 3; /* the count, a mark and an address */
    if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
        words += 1 + (unsigned)__builtin_popcountll(attr->sample_regs_intr);
    if (attr->sample_type & PERF_SAMPLE_REGS_USER)
        words += 1 + (unsigned)__builtin_popcountll(attr->sample_regs_user);
    return 8 * words;
}

/* Fills in what a recording of the event would request. false: it cannot be sampled. */
static bool fill_in(const struct list *list, const char *name, bool precise, struct listed_event *event)
{
    static const char levels[] = "ppp";
    char text[320];
    struct event made;
    snprintf(text, sizeof text, "%s%s%s", name, precise ? strchr(name, '/') ? "" : ":" : "",
             precise ? "pp" : "");
    struct event_options options = {.name = text, .period = PERIOD, .pmus = list->pmus};
    if (event_parse(&options, NULL, &made, NULL) != 0 || !is_there(list, &made.attr))
        return false;
    event->precise = levels + sizeof levels - 1 - made.attr.precise_ip;
    event->bytes = record_bytes(&made.attr);
    event->address = made.attr.sample_type & PERF_SAMPLE_ADDR;
    event->latency = made.attr.sample_type & PERF_SAMPLE_WEIGHT;
    event->source = made.attr.sample_type & PERF_SAMPLE_DATA_SRC;
    struct pebs_machine machine;
    pebs_machine_for(list->pmus, &made.attr, &machine);
    event->batched = made.attr.precise_ip && !pebs_refusal(&made.attr, &machine);
    return true;
}

static void see_alias(const struct list *list, const struct alias *alias)
{
    struct alias_match match;
    struct listed_event event = {
        .group = "aliases", .name = alias->name, .description = alias->description, .precise = ""};
    char stands_for[sizeof match.events] = "";
    if (alias_find(list->pmus, alias->name, &match, NULL) != 0)
        return;
    for (size_t i = 0; i < match.count; i++) {
        size_t used = strlen(stands_for);
        snprintf(stands_for + used, sizeof stands_for - used, "%s%s", i ? "," : "", match.events[i].text);
    }
    bool counted = match.count && (!attr_is_hardware(&match.events[0].attr) || pmus_counters(list->pmus));
    if (counted && fill_in(list, alias->name, match.events[0].attr.precise_ip, &event))
        event.stands_for = stands_for;
    list->see(list->context, &event);
}

static void see_name(const struct list *list, const char *group, const char *name, const char *description,
                     bool precise)
{
    struct listed_event event = {.group = group, .name = name, .description = description};
    if (fill_in(list, name, precise, &event))
        list->see(list->context, &event);
}

static void see_pfm(void *context, const struct pfm_event *event)
{
    const struct list *list = context;
    char name[256];
    snprintf(name, sizeof name, event->umask ? "%s:%s" : "%s", event->name, event->umask);
    if (event->generic &&
        (strncmp(name, "perf_count_", 11) == 0 || software_find(name) || strcmp(name, "cycles") == 0))
        return; /* has a shorter name, or was already listed */
    see_name(list, event->pmu, name, event->description, event->precise);
}

void event_list(const struct pmus *pmus, void (*see)(void *context, const struct listed_event *event),
                void *context)
{
    struct list list = {.pmus = pmus, .see = see, .context = context};
    const char *description = "";
    for (const struct alias *alias = aliases; alias->name; alias++)
        see_alias(&list, alias);
    for (const struct software_event *event = software_events; event->name; event++) {
        description = event->description ? event->description : description;
        if (event->config != PERF_COUNT_SW_DUMMY && event->config != PERF_COUNT_SW_BPF_OUTPUT)
            see_name(&list, "software events", event->name, description, false);
    }
    if (pmus_type(pmus, "ibs_op") >= 0) {
        see_name(&list, "AMD instruction-based sampling", "ibs_op//", "operations, by cycles", false);
        see_name(&list, "AMD instruction-based sampling", "ibs_op/cnt_ctl=1/", "operations, by their number",
                 false);
    }
    pfm_events(see_pfm, &list);
}

long event_list_tracepoints(void (*see)(void *context, const char *name), void *context)
{
    char *text, *at, *name;
    size_t size;
    if (tracefs_read("available_events", &text, &size) != 0)
        return -1;
    long lines = 0;
    for (at = text; (name = strsep(&at, "\n")) != NULL;) {
        if (*name && see)
            see(context, name);
        lines += *name != 0;
    }
    free(text);
    return lines;
}
