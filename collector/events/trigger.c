/* trigger.c - see trigger.h. */
#include "collector/events/trigger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "trigger"

bool trigger_split(const char *text, char *name, size_t size, uint64_t *most)
{
    const char *colon = strrchr(text, ':');
    char *end;
    if (!colon || colon == text || colon[1] < '0' || colon[1] > '9' || (size_t)(colon - text) >= size)
        return false;
    errno = 0;
    const unsigned long long number = strtoull(colon + 1, &end, 10);
    if (errno || *end)
        return false;
    memcpy(name, text, (size_t)(colon - text));
    name[colon - text] = '\0';
    *most = number;
    return true;
}

/* The layout stays: the decoder reads records of all events by it. */
static void only_count(struct event *event)
{
    event->attr.freq = 0;
    event->attr.sample_period = 0;
    event->attr.precise_ip = 0;
    snprintf(event->name, sizeof event->name, NAME);
}

int trigger_events(const char *text, const struct pmus *pmus, struct event *events, size_t *count,
                   uint64_t *most, struct fathom_error *err)
{
    struct event parsed[EVENT_PARSED];
    const struct log silent = {0};
    char name[sizeof parsed->name];
    size_t found = 0;
    bool one = true;
    if (!trigger_split(text, name, sizeof name, most))
        return error_set(err, EINVAL,
                         "a trigger is an event and a number, such as page-faults:1000, not '%s'", text);
    int rc = events_parse(&(struct event_options){.name = name, .pmus = pmus}, &silent, parsed, &found, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < found; i++)
        one &= !parsed[i].helper && !parsed[i].group && strcmp(parsed[i].name, parsed[0].name) == 0;
    if (!one || found > TRIGGER_EVENTS)
        return error_set(err, EINVAL, "a trigger is one event, which '%s' is not", name);
    /* without counters, what only they count has become a clock */
    if (attr_is_clock(&parsed[0].attr) && !strstr(name, "clock"))
        return error_set(err, ENOENT, "this machine has no hardware counter for the trigger %s", name);
    for (size_t i = 0; i < found; i++) {
        only_count(&parsed[i]);
        events[i] = parsed[i];
    }
    *count = found;
    return 0;
}
