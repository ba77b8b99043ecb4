/* spans.c - see spans.h. */
#include "store/spans.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

/* The largest time that engines can compare, also as signed numbers. */
#define LAST ((uint64_t)INT64_MAX)

void spans_clear(struct spans *s)
{
    free(s->at);
    *s = (struct spans){0};
}

/* The end of what was planned so far. */
static uint64_t end_of(const struct spans *s)
{
    return s->count ? s->at[s->count - 1].to : s->query->from;
}

static uint64_t last_of(const struct spans *s)
{
    const uint64_t to = s->query->to;
    return to && to < LAST - STORE_SLOT ? (to + STORE_SLOT - 1) / STORE_SLOT * STORE_SLOT : LAST;
}

static int push_span(struct spans *s, struct span span)
{
    struct span *before = s->count ? &s->at[s->count - 1] : NULL;
    if (before && before->length == span.length && before->to == span.from) {
        before->to = span.to;
        return 0;
    }
    return vec_push(s->at, s->count, s->capacity, span) ? 0 : -ENOMEM;
}

int spans_add(struct spans *s, uint32_t length, uint64_t begin)
{
    const uint64_t slice = s->query->slice, at = end_of(s);
    if ((length != HOUR && length != DAY) || begin % length || begin < at || begin > LAST - length ||
        begin + length > last_of(s) || (slice && begin / slice != (begin + length - STORE_SLOT) / slice))
        return 0;
    int rc = begin > at ? push_span(s, (struct span){at, begin, 0}) : 0;
    return rc == 0 ? push_span(s, (struct span){begin, begin + length, length}) : rc;
}

int spans_end(struct spans *s)
{
    const uint64_t at = end_of(s), last = last_of(s);
    return at < last || !s->count ? push_span(s, (struct span){at, last, 0}) : 0;
}
