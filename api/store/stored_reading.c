#include "api/store/stored_reading.h"

int stored_reading_fill(struct stored_reading *r, struct store *store,
                        const struct fathom_store_selection *selection, const char *event,
                        struct dictionary *dictionary, struct filter *filter, uint64_t slices,
                        struct fathom_error *err)
{
    *r = (struct stored_reading){0};
    int rc = selection_query(selection, &r->query, err);
    if (rc == 0)
        rc = selection_complete(store, event, &r->query, &r->selected, err);
    if (rc < 0)
        return rc;
    r->query.slice = slices ? selected_slice(&r->selected, slices) : 0;
    r->gathering = gathering_new(r->query.slice);
    if (!r->gathering)
        return error_memory(err);
    rc = store_each(store, &r->query, gathering_add, r->gathering, err);
    if (rc == 0)
        rc = gathering_contexts(r->gathering, store, dictionary, filter, &r->contexts, err);
    if (rc < 0)
        return rc;
    gathering_sums(r->gathering, &r->sums);
    selected_describe(&r->selected, r->query.service, r->what);
    return 0;
}

void stored_reading_clear(struct stored_reading *r)
{
    gathering_free(r->gathering);
    selected_clear(&r->selected);
    *r = (struct stored_reading){0};
}
