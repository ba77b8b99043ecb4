/* near.c - finds similar event names; see near.h. */
#include "collector/events/near.h"

#include <stdio.h>
#include <string.h>

#include "base/slips.h"
#include "collector/events/alias.h"
#include "collector/events/event_list.h"
#include "collector/events/pfm.h"
#include "perfdata/software.h"

#define NEAREST 3

struct near {
    const char *name;
    unsigned most; /* largest distance that counts as near */
    size_t count;
    struct {
        char name[SLIPS_NAME];
        unsigned distance;
    } nearest[NEAREST]; /* by distance */
};

static void consider_name(struct near *near, const char *name)
{
    unsigned distance = slips_between(near->name, name, true, near->most);
    if (distance > near->most || strlen(name) >= SLIPS_NAME)
        return;
    size_t place = near->count;
    for (size_t i = 0; i < near->count; i++)
        if (strcasecmp(near->nearest[i].name, name) == 0)
            return;
    while (place > 0 && near->nearest[place - 1].distance > distance)
        place--;
    if (place == NEAREST)
        return;
    if (near->count < NEAREST)
        near->count++;
    memmove(&near->nearest[place + 1], &near->nearest[place],
            (near->count - place - 1) * sizeof *near->nearest);
    strcpy(near->nearest[place].name, name);
    near->nearest[place].distance = distance;
}

static void consider_pfm(void *context, const struct pfm_event *event)
{
    if (!event->umask)
        consider_name(context, event->name);
}

static void consider_tracepoint(void *near, const char *name)
{
    consider_name(near, name);
}

size_t near_names(const char *name, char *out, size_t size)
{
    struct near near = {.name = name, .most = (unsigned)(strlen(name) + 2) / 4};
    for (const struct alias *alias = aliases; alias->name; alias++)
        consider_name(&near, alias->name);
    for (const struct software_event *event = software_events; event->name; event++)
        consider_name(&near, event->name);
    pfm_events(consider_pfm, &near);
    if (strchr(name, ':'))
        event_list_tracepoints(consider_tracepoint, &near);
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < near.count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s'%s'",
                                 i == 0                ? ""
                                 : i + 1 == near.count ? " or "
                                                       : ", ",
                                 near.nearest[i].name);
    return near.count;
}
