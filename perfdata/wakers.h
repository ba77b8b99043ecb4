/*
 * wakers.h - the event "wakers" (wait_reason.h): of a recording with waits and who ended them. The waker's sample comes before the wait's.
 */
#ifndef FATHOM_PERFDATA_WAKERS_H
#define FATHOM_PERFDATA_WAKERS_H

#include "base/hash.h"
#include "perfdata/head.h"

struct wakers {
    uint32_t event;          /* index; UINT32_MAX: the recording has no such */
    uint32_t waits, wakeups; /* those that it is made of */
    struct names *labels;    /* that were told; NULL: none */
};

/* Adds it to the events. -ENOMEM. */
int wakers_add(struct head *head, struct wakers *out, struct fathom_error *err);
void wakers_free(struct wakers *wakers);
/* Whether its samples are those of this event. */
static inline bool wakers_has(const struct wakers *wakers, uint32_t event)
{
    return wakers->event != UINT32_MAX && (event == wakers->waits || event == wakers->wakeups);
}
/* What a sample of who ended a wait says of that, as struct sample has it: "[woken by a timer]". NULL: out of memory. The text lives as long as `wakers`. */
const char *wakers_label(struct wakers *wakers, const struct sample *sample);

#endif
