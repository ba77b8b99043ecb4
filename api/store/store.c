/* store.c - makes stores, lists what they have, rolls it up, and removes what is old; see fathom/store.h. */
#include <errno.h>
#include <time.h>

#include "api/store/selection.h"
#include "report/text/printer.h"
#include "report/text/weight.h"

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
    bool events; /* their names are the rows' */
};

static int print_row(void *context, const struct store_row *row, struct fathom_error *err)
{
    struct listing *listing = context;
    struct printer *p = &listing->printer;
    char first[TIME_SIZE], last[TIME_SIZE], weight[WEIGHT_SIZE];
    (void)err;
    if (!p->written)
        printer_write(p, "%-16s  %-16s  %12s  %12s  %s\n", "from (UTC)", "to", "samples", "weight",
                      listing->events ? "event" : "event                 name");
    printer_write(p, "%-16s  %-16s  %12llu  %12s  ", time_format(first, row->first),
                  time_format(last, row->last + STORE_SLOT), (unsigned long long)row->samples,
                  weight_format(weight, row->weight, row->unit));
    char event[128];
    if (!listing->events) {
        snprintf(event, sizeof event, "%-20s", row->event);
        printer_foreign(p, event);
        printer_write(p, "  ");
    }
    printer_foreign(p, *row->name ? row->name : "[unknown]");
    printer_write(p, *row->service ? "  " : "");
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
    struct listing listing = {.printer.out = out, .events = list == FATHOM_STORE_EVENTS};
    int rc = selection_query(selection, &query, error);
    if (rc == 0)
        rc = store_open(selection->url, selection->credentials, false, &store, error);
    if (rc == 0)
        rc = store_rows(store, lists[list], &query, print_row, &listing, error);
    store_close(store);
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
