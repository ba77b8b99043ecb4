/* check.c - checks a store's URL and credentials before anything is opened or sent. */
#include "api/fathom/store.h"
#include "api/store/push.h"
#include "store/store.h"

int fathom_store_check(const char *url, const char *credentials, struct fathom_error *err)
{
    struct push *push = NULL;
    if (!push_is(url))
        return store_check(url, credentials, err);
    int rc = push_open(url, credentials, &push, err);
    push_close(push);
    return rc;
}
