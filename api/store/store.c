/* store.c - checks and makes stores, lists and rolls up their contents, and removes old batches; see fathom/store.h. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "api/store/push.h"
#include "api/store/selection.h"
#include "report/text/printer.h"
#include "report/text/weight.h"

int fathom_store_check(const char *url, const char *credentials, struct fathom_error *err)
{
    struct push *push = NULL;
    if (!push_is(url))
        return store_check(url, credentials, err);
    int rc = push_open(url, credentials, &push, err);
    push_close(push);
    return rc;
}

int fathom_store_init(const char *url, const char *credentials, struct fathom_error *error)
{
    struct store *store = NULL;
    int rc = store_open(url, credentials, true, &store, error);
    if (rc == 0)
        rc = store_init(store, error);
    store_close(store);
    return rc;
}

struct listing {
    struct printer printer;
    enum fathom_store_list list;
};

#define BUILD_WIDTH 40u /* of a SHA-1 build-id */

/* Headings of the columns after times and weights. */
static const char *const headings[] = {
    [FATHOM_STORE_SERVICES] = "event                 service",
    [FATHOM_STORE_EVENTS] = "event",
    [FATHOM_STORE_HOSTS] = "event                 host",
    [FATHOM_STORE_BUILDS] = "event                 build                                     service"};

static int print_row(void *context, const struct store_row *row, struct fathom_error *err)
{
    struct listing *listing = context;
    struct printer *p = &listing->printer;
    char first[TIME_SIZE], last[TIME_SIZE], weight[WEIGHT_SIZE];
    (void)err;
    if (!p->written)
        printer_write(p, "%-16s  %-16s  %12s  %12s  %s\n", "from (UTC)", "to", "samples", "weight",
                      headings[listing->list]);
    printer_write(p, "%-16s  %-16s  %12llu  %12s  ", time_format(first, row->first),
                  time_format(last, row->last + STORE_SLOT), (unsigned long long)row->samples,
                  weight_format(weight, row->weight, row->unit));
    char event[128];
    if (listing->list != FATHOM_STORE_EVENTS) {
        snprintf(event, sizeof event, "%-20s", row->event);
        printer_foreign(p, event);
        printer_write(p, "  ");
    }
    const char *name = *row->name ? row->name : "[unknown]";
    printer_foreign(p, name);
    if (*row->service)
        printer_write(p, "%*s  ", strlen(name) < BUILD_WIDTH ? (int)(BUILD_WIDTH - strlen(name)) : 0, "");
    printer_foreign(p, row->service);
    printer_write(p, "\n");
    return 0;
}

int fathom_store_list(const struct fathom_store_selection *selection, enum fathom_store_list list, FILE *out,
                      struct fathom_error *error)
{
    static const enum store_list lists[] = {[FATHOM_STORE_SERVICES] = STORE_SERVICES,
                                            [FATHOM_STORE_EVENTS] = STORE_EVENTS,
                                            [FATHOM_STORE_HOSTS] = STORE_HOSTS,
                                            [FATHOM_STORE_BUILDS] = STORE_BUILDS};
    struct store *store = NULL;
    struct store_query query;
    const struct fathom_store_selection *s = selection;
    struct listing listing = {.printer.out = out, .list = list};
    int rc = selection_query(selection, &query, error);
    if (rc == 0)
        rc = store_open(selection->url, selection->credentials, false, &store, error);
    if (rc == 0)
        rc = store_rows(store, lists[list], &query, print_row, &listing, error);
    store_close(store);
    if (rc == 0 && !listing.printer.written)
        rc = error_set(error, ENOENT,
                       s->service || s->host || s->build || s->since || s->until
                           ? "%s has nothing of that in it; without --service, --host, --build, --since and "
                             "--until all is listed"
                           : "%s has nothing in it yet: 'fathom store import' and agents put something there",
                       s->url);
    return rc == 0 ? printer_finish(&listing.printer, error) : rc;
}

int fathom_store_retain(const char *url, const char *credentials, const char *keep, uint64_t *dropped,
                        struct fathom_error *error)
{
    struct store *store = NULL;
    uint64_t before = 0;
    int rc = selection_time(keep, (uint64_t)time(NULL), &before, error);
    if (rc == 0)
        rc = store_open(url, credentials, false, &store, error);
    if (rc == 0)
        rc = store_drop(store, before - before % STORE_SLOT, dropped, error);
    store_close(store);
    return rc;
}

int fathom_store_roll_up(const char *url, const char *credentials, const char *since,
                         struct fathom_store_rolled *rolled, struct fathom_error *error)
{
    const uint64_t now = (uint64_t)time(NULL);
    struct store *store = NULL;
    struct store_rolled made = {0};
    uint64_t from = 0;
    int rc = since ? selection_time(since, now, &from, error) : 0;
    if (rc == 0)
        rc = store_open(url, credentials, false, &store, error);
    if (rc == 0)
        rc = store_roll_up(store, from, now, &made, error);
    store_close(store);
    *rolled = (struct fathom_store_rolled){made.hours, made.days};
    return rc;
}
