/*
 * trigger.h - an event that is counted, not sampled: how often it happened in an interval tells whether others are to be on in the next one.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_TRIGGER_H
#define FATHOM_COLLECTOR_EVENTS_TRIGGER_H

#include "collector/events/event.h"

#define TRIGGER_EVENTS 2 /* one for each kind of core */

/* Of "EVENT:N", the event's name, and N. false: it is no such text, or the name has no room. */
bool trigger_split(const char *text, char *name, size_t size, uint64_t *most);
/* Fills in the events of "EVENT:N": at most TRIGGER_EVENTS. Errors: as events_parse(); -EINVAL: no such text, or several events; -ENOENT:
 * this machine does not count it. */
int trigger_events(const char *text, const struct pmus *pmus, struct event *events, size_t *count,
                   uint64_t *most, struct fathom_error *err);

#endif
