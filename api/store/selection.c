#include "api/store/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

static const struct {
    char letter;
    uint64_t seconds;
} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};

/* Parses an age: "90s". */
static bool take_age(const char *text, uint64_t *age)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (end == text || errno || *text < '0' || *text > '9' || !*end || end[1])
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (*end == units[i].letter)
            return !__builtin_mul_overflow(number, units[i].seconds, age);
    return false;
}

/* Parses a date in UTC: "2026-11-28", optionally with " 10:00" or "T10:00", ":30" and "Z". */
static bool take_date(const char *text, uint64_t *out)
{
    static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S",
                                        "%Y-%m-%dT%H:%M:%S"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm tm = {0};
        const char *end = strptime(text, forms[i], &tm);
        if (!end || (*end == 'Z' ? end[1] : *end))
            continue;
        const struct tm told = tm;
        const time_t at = timegm(&tm); /* turns February 30 into March 2 */
        *out = (uint64_t)at;
        return at >= 0 && tm.tm_mday == told.tm_mday && tm.tm_sec == told.tm_sec;
    }
    return false;
}

int selection_time(const char *text, uint64_t now, uint64_t *out, struct fathom_error *err)
{
    uint64_t age;
    char *end;
    if (strcmp(text, "now") == 0) {
        *out = now;
        return 0;
    }
    if (take_age(text, &age)) {
        *out = age < now ? now - age : 0;
        return 0;
    }
    if (take_date(text, out))
        return 0;
    errno = 0;
    if (text[0] == '@' && text[1] >= '0' && text[1] <= '9') {
        *out = strtoull(text + 1, &end, 10);
        if (!*end && !errno && *out <= INT64_MAX)
            return 0;
    }
    return error_set(err, EINVAL,
                     "'%.64s' is no time: give '90s', '30m', '6h', '2d' or '4w' before now, '2026-11-28 "
                     "10:00' (UTC), or '@SECONDS' since 1970",
                     text);
}

int selection_name(const char *what, const char *name, struct fathom_error *err)
{
    if (name && !*name)
        return error_set(err, EINVAL, "the name of a %s is empty", what);
    return name && strlen(name) > STORE_NAME_MOST
               ? error_set(err, EINVAL, "the name of a %s has at most %u bytes, and not %zu", what,
                           STORE_NAME_MOST, strlen(name))
               : 0;
}

int selection_query(const struct fathom_store_selection *s, struct store_query *out, struct fathom_error *err)
{
    const uint64_t now = (uint64_t)time(NULL);
    struct store_query query = {.service = s->service, .host = s->host, .build = s->build};
    int rc = selection_name("service", s->service, err);
    if (rc == 0)
        rc = selection_name("host", s->host, err);
    if (rc == 0)
        rc = selection_name("build", s->build, err);
    if (rc == 0 && s->since)
        rc = selection_time(s->since, now, &query.from, err);
    if (rc == 0 && s->until)
        rc = selection_time(s->until, now, &query.to, err);
    if (rc == 0 && s->until && query.to <= query.from)
        rc = error_set(err, EINVAL, "--until must be later than --since");
    query.from -= query.from % STORE_SLOT;
    if (rc == 0)
        *out = query;
    return rc;
}

/* Services and events ---------------------------------------------------------------------------------------------------- */

struct choosing {
    struct selected *selected;
    const char *wanted; /* beginning of the event's name; NULL: the one with the most samples */
    uint64_t samples;
    char names[256]; /* of services */
    size_t count;
};

static void append_name(char *list, size_t size, const char *name)
{
    const size_t length = strlen(list);
    snprintf(list + length, size - length, "%s%s", length ? ", " : "", name);
}

static int take_service(void *context, const struct store_row *row, struct fathom_error *err)
{
    struct choosing *c = context;
    struct selected *s = c->selected;
    if (s->service && strcmp(s->service, row->name) == 0) /* with another event */
        return 0;
    free(s->service);
    s->service = strdup(row->name);
    append_name(c->names, sizeof c->names, row->name);
    c->count++;
    return s->service ? 0 : error_memory(err);
}

static int choose_service(struct store *store, struct store_query *query, struct selected *s,
                          struct fathom_error *err)
{
    struct choosing c = {.selected = s};
    if (query->service)
        return 0;
    int rc = store_rows(store, STORE_SERVICES, query, take_service, &c, err);
    if (rc < 0 || c.count == 0)
        return rc;
    if (c.count > 1)
        return error_set(err, EINVAL, "there are several services: choose one with --service: %s", c.names);
    query->service = s->service;
    return 0;
}

static int take_event(void *context, const struct store_row *row, struct fathom_error *err)
{
    struct choosing *c = context;
    struct selected *s = c->selected;
    const bool better = c->wanted ? !s->event && strncmp(row->name, c->wanted, strlen(c->wanted)) == 0
                                  : !s->event || row->samples > c->samples;
    char *name = better ? strdup(row->name) : NULL;
    if (better && !name)
        return error_memory(err);
    append_name(c->names, sizeof c->names, row->name);
    if (!better) {
        append_name(s->others, sizeof s->others, row->name);
        return 0;
    }
    if (s->event)
        append_name(s->others, sizeof s->others, s->event);
    free(s->event);
    s->event = name;
    s->first = row->first;
    s->last = row->last;
    c->samples = row->samples;
    return 0;
}

struct extent {
    uint64_t first, last;
    bool any;
};

static int widen_extent(void *context, const struct store_row *row, struct fathom_error *err)
{
    struct extent *e = context;
    (void)err;
    e->first = !e->any || row->first < e->first ? row->first : e->first;
    e->last = row->last > e->last ? row->last : e->last;
    e->any = true;
    return 0;
}

/* The error that nothing was found, with the times for which the service has samples. */
static int tell_nothing(struct store *store, const struct store_query *query, struct fathom_error *err)
{
    const struct store_query of_service = {.service = query->service};
    struct extent all = {0};
    char first[TIME_SIZE], last[TIME_SIZE], where[256] = "", wanted[128] = "", when[128] = "";
    int rc = store_rows(store, STORE_EVENTS, &of_service, widen_extent, &all, err);
    if (rc < 0)
        return rc;
    if (query->build || query->host)
        snprintf(where, sizeof where, "%s%.64s%s%.128s", query->build ? " of build " : "",
                 query->build ? query->build : "", query->host ? " on host " : "",
                 query->host ? query->host : "");
    if (query->from || query->to)
        snprintf(wanted, sizeof wanted, "%s%s%s%s UTC", query->from ? " since " : "",
                 query->from ? time_format(first, query->from) : "", query->to ? " until " : "",
                 query->to ? time_format(last, query->to) : "");
    if (all.any)
        snprintf(when, sizeof when, ", but others, from %s to %s UTC", time_format(first, all.first),
                 time_format(last, all.last + STORE_SLOT));
    return error_set(
        err, ENOENT,
        "the store has no such samples%s%.200s%s%s%s ('fathom store services' lists what there is)",
        query->service ? " of service " : "", query->service ? query->service : "", where, wanted, when);
}

static int choose_event(struct store *store, const char *event, struct store_query *query, struct selected *s,
                        struct fathom_error *err)
{
    struct choosing c = {.selected = s, .wanted = event};
    int rc = store_rows(store, STORE_EVENTS, query, take_event, &c, err);
    query->event = s->event;
    if (rc < 0 || s->event)
        return rc;
    return c.names[0] ? error_set(err, ENOENT, "there is no event '%s' of service %s, but: %s", event,
                                  query->service, c.names)
                      : tell_nothing(store, query, err);
}

static int count_row(void *context, const struct store_row *row, struct fathom_error *err)
{
    (void)row, (void)err;
    ++*(size_t *)context;
    return 0;
}

int selection_complete(struct store *store, const char *event, struct store_query *query,
                       struct selected *out, struct fathom_error *err)
{
    *out = (struct selected){0};
    int rc = choose_service(store, query, out, err);
    if (rc == 0)
        rc = choose_event(store, event, query, out, err);
    if (rc == 0)
        rc = store_rows(store, STORE_HOSTS, query, count_row, &out->hosts, err);
    if (rc == 0)
        rc = store_rows(store, STORE_BUILDS, query, count_row, &out->builds, err);
    return rc;
}

void selected_clear(struct selected *s)
{
    free(s->service);
    free(s->event);
    *s = (struct selected){0};
}

uint64_t selected_slice(const struct selected *s, uint64_t most)
{
    static const uint64_t parts[] = {1, 2, 3, 4, 6, 12}; /* slots, of an hour's 12 */
    const uint64_t slots = (s->last - s->first) / STORE_SLOT + 1, least = (slots + most - 1) / most;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] >= least)
            return parts[i] * STORE_SLOT;
    return (least + 11) / 12 * 12 * STORE_SLOT;
}

void selected_describe(const struct selected *s, const char *service, char out[STORED_SIZE])
{
    char first[TIME_SIZE], last[TIME_SIZE];
    time_format(first, s->first);
    time_format(last, s->last + STORE_SLOT);
    const bool same_day = strncmp(first, last, strlen("2026-11-28")) == 0;
    snprintf(out, STORED_SIZE, "%.200s on %zu host%s, %zu build%s, %s to %s UTC", service, s->hosts,
             s->hosts == 1 ? "" : "s", s->builds, s->builds == 1 ? "" : "s", first,
             last + (same_day ? strlen("2026-11-28 ") : 0));
    text_clean(out);
}

const char *time_format(char text[TIME_SIZE], uint64_t seconds)
{
    const time_t at = (time_t)seconds;
    struct tm tm;
    if (seconds > INT64_MAX || !gmtime_r(&at, &tm) || !strftime(text, TIME_SIZE, "%Y-%m-%d %H:%M", &tm))
        snprintf(text, TIME_SIZE, "?");
    return text;
}
