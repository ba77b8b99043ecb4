/*
 * wakers.h - the event "wakers" (wait_reason.h), made if a recording has waits and who ended them. The waker's sample comes
 * before the wait's.
 */
#ifndef FATHOM_PERFDATA_WAKERS_H
#define FATHOM_PERFDATA_WAKERS_H

#include "base/hash.h"
#include "perfdata/head.h"

struct wakers {
    uint32_t event;          /* index; UINT32_MAX: the recording has none */
    uint32_t waits, wakeups; /* indices of the events that it is made from */
    struct names *labels;    /* those returned so far; NULL: none */
};

/* Adds it to the events. -ENOMEM. */
int wakers_add(struct head *head, struct wakers *out, struct fathom_error *err);
void wakers_free(struct wakers *wakers);
/* Whether its samples are those of this event. */
static inline bool wakers_has(const struct wakers *wakers, uint32_t event)
{
    return wakers->event != UINT32_MAX && (event == wakers->waits || event == wakers->wakeups);
}
/* What a sample of who ended a wait says about that, as in struct sample: "[woken by a timer]". NULL: out of memory. The text
 * lives as long as `wakers`. */
const char *wakers_label(struct wakers *wakers, const struct sample *sample);

#endif
