/* wakers.c - see wakers.h. */
#include "perfdata/wakers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* further ones are not distinguished: a damaged recording may have a name in each sample */
#define LABELS_MOST 4096

int wakers_add(struct head *head, struct wakers *out, struct fathom_error *err)
{
    *out = (struct wakers){.event = UINT32_MAX, .waits = UINT32_MAX, .wakeups = UINT32_MAX};
    for (uint32_t i = (uint32_t)head->count; i-- > 0;) {
        const struct perf_event_attr *attr = &head->events[i].attr;
        if (attr_is_wakeups(attr))
            out->wakeups = i;
        else if (attr_is_waits(attr) && !attr_is_wall(attr))
            out->waits = i;
    }
    if (out->wakeups == UINT32_MAX || out->waits == UINT32_MAX)
        return 0;
    struct event event = {.attr = head->events[out->waits].attr};
    event.attr.config2 = EVENT_WAKERS_MARK;
    snprintf(event.name, sizeof event.name, EVENT_WAKERS_NAME);
    out->event = (uint32_t)head->count;
    return vec_push(head->events, head->count, head->capacity, event) ? 0 : error_memory(err);
}

void wakers_free(struct wakers *wakers)
{
    names_free(wakers->labels);
    wakers->labels = NULL;
}

static void write_label(const struct waker_raw *raw, bool named, char *out, size_t size)
{
    const int length = (int)strnlen(raw->name, sizeof raw->name);
    switch (raw->kind) {
    case WAKER_TIMER:
        snprintf(out, size, "[woken by a timer]");
        break;
    case WAKER_INTERRUPT:
        snprintf(out, size, "[woken by an interrupt]");
        break;
    case WAKER_KERNEL: /* "kworker/0:1-events" is one of many */
        snprintf(out, size, "[woken by the kernel%s%.*s]", named ? "'s " : "",
                 named ? (int)strcspn(raw->name, "/") : 0, raw->name);
        break;
    case WAKER_OTHER:
        snprintf(out, size, named ? "[woken by %.*s, which is not recorded]" : "[woken by another process]",
                 length, raw->name);
        break;
    default:
        snprintf(out, size, "[woken by]");
    }
}

const char *wakers_label(struct wakers *wakers, const struct sample *sample)
{
    struct waker_raw raw = {0};
    char text[64];
    if (!wakers->labels && !(wakers->labels = names_new()))
        return NULL;
    if (sample->raw && sample->raw_size >= sizeof raw)
        memcpy(&raw, sample->raw, sizeof raw);
    raw.name[sizeof raw.name - 1] = '\0';
    write_label(&raw, names_count(wakers->labels) < LABELS_MOST, text, sizeof text);
    const uint32_t number = names_intern(wakers->labels, text);
    return number == NAMES_NONE ? NULL : names_text(wakers->labels, number);
}
