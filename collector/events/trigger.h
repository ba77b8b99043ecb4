/*
 * trigger.h - an event that is counted, not sampled: how often it happens in an interval decides whether
 * other events are on in the next one.
 */
#ifndef FATHOM_COLLECTOR_EVENTS_TRIGGER_H
#define FATHOM_COLLECTOR_EVENTS_TRIGGER_H

#include "collector/events/event.h"

#define TRIGGER_EVENTS 2 /* one for each kind of core */

/* Splits "EVENT:N" into the event's name and N. false: the text has another form, or the name does not
 * fit. */
bool trigger_split(const char *text, char *name, size_t size, uint64_t *most);
/* Fills in the events of "EVENT:N": at most TRIGGER_EVENTS. Errors: as events_parse(); -EINVAL: text of
 * another form, or several events; -ENOENT: this machine cannot count it. */
int trigger_events(const char *text, const struct pmus *pmus, struct event *events, size_t *count,
                   uint64_t *most, struct fathom_error *err);

#endif
