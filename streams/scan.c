/* scan.c - see scan.h. Symbols wait until enough have followed to know where the first one's stream ends. */
#include "streams/scan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct hot_scan {
    struct hot_profile *profile;
    uint32_t shortest, longest;
    uint32_t reach; /* symbols from a stream's beginning after which its end is known */
    bool begun;     /* a stream of this burst begins at `start` */
    uint32_t start; /* symbols before belong to counted streams */
    uint32_t count, capacity;
    uint32_t *symbols;
    uint64_t *places;
};

struct hot_scan *scan_new(struct hot_profile *profile, const struct hot_options *options)
{
    struct hot_scan *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    uint32_t most = options->longest < HOT_LONGEST ? options->longest : HOT_LONGEST; /* at least 1 */
    s->profile = profile;
    s->shortest = options->shortest < most ? options->shortest : most;
    s->longest = most < 2 * s->shortest ? most : 2 * s->shortest;
    s->reach = s->longest + 2 * s->shortest;
    s->capacity = 16 * s->reach;
    s->symbols = malloc(s->capacity * sizeof *s->symbols);
    s->places = malloc(s->capacity * sizeof *s->places);
    if (!s->symbols || !s->places) {
        scan_free(s);
        return NULL;
    }
    return s;
}

void scan_free(struct hot_scan *s)
{
    if (!s)
        return;
    free(s->symbols);
    free(s->places);
    free(s);
}

/* Whether a stream begins at a symbol, judged by its neighbourhood alone. Among equal places the first one
 * counts, so that not each round of a short loop begins one. */
static bool is_beginning(const struct hot_scan *s, uint32_t at)
{
    uint64_t place = s->places[at];
    if (at < s->shortest || at + s->shortest >= s->count)
        return false;
    for (uint32_t i = 1; i <= s->shortest; i++)
        if (s->places[at - i] <= place || s->places[at + i] < place)
            return false;
    return true;
}

/* The first beginning in [from, to], or 0. */
static uint32_t find_beginning(const struct hot_scan *s, uint32_t from, uint32_t to)
{
    for (uint32_t at = from; at <= to; at++)
        if (is_beginning(s, at))
            return at;
    return 0;
}

static uint32_t find_lowest(const struct hot_scan *s, uint32_t from, uint32_t to)
{
    uint32_t lowest = from;
    for (uint32_t at = from + 1; at <= to; at++)
        if (s->places[at] < s->places[lowest])
            lowest = at;
    return lowest;
}

/* Finds where the first stream of a burst begins. */
static void begin_stream(struct hot_scan *s)
{
    uint32_t at = find_beginning(s, 1, s->longest);
    s->start = at ? at : find_lowest(s, 1, s->longest);
    s->begun = true;
}

/* Where the stream at `start` ends; the next beginning leaves enough symbols for a stream before it. */
static uint32_t find_end(const struct hot_scan *s)
{
    uint32_t first = s->start + s->shortest, last = s->start + s->longest;
    uint32_t end = find_beginning(s, first, last);
    if (end)
        return end;
    uint32_t next = find_beginning(s, last + 1, last + s->shortest - 1);
    if (next && next - s->shortest >= first)
        last = next - s->shortest;
    return find_lowest(s, first, last);
}

static int take_stream(struct hot_scan *s)
{
    uint32_t end = find_end(s), length = end - s->start;
    int rc = hot_count(s->profile, s->symbols + s->start, length, 1);
    s->profile->total += length;
    s->start = end;
    return rc;
}

/* Drops symbols before those that is_beginning() looks at. */
static void make_room(struct hot_scan *s)
{
    uint32_t gone = s->start - s->shortest;
    s->count -= gone;
    s->start -= gone;
    memmove(s->symbols, s->symbols + gone, s->count * sizeof *s->symbols);
    memmove(s->places, s->places + gone, s->count * sizeof *s->places);
}

/* Takes streams while more than `more` symbols follow the beginning of one. */
static int take_all(struct hot_scan *s, uint32_t more)
{
    int rc = 0;
    if (!s->begun && s->count > more)
        begin_stream(s);
    while (rc == 0 && s->begun && s->count - s->start > more)
        rc = take_stream(s);
    return rc;
}

int scan_push(struct hot_scan *s, uint32_t symbol, uint64_t place)
{
    int rc = take_all(s, s->reach);
    if (s->count == s->capacity)
        make_room(s);
    s->symbols[s->count] = symbol;
    s->places[s->count++] = place;
    return rc;
}

int scan_break(struct hot_scan *s)
{
    int rc = take_all(s, s->longest);
    s->count = s->start = 0;
    s->begun = false;
    return rc;
}
