/* store_check.c - what is wrong with a store's URL and credentials, before anything is sent or opened there. */
#include <errno.h>
#include <string.h>

#include "api/fathom/store.h"
#include "api/store/push.h"
#include "store/clickhouse/http.h"
#include "store/http_client.h"

/* Of a kind without credentials they are read all the same: what is given should be good. */
static int check_credentials(const char *file, struct fathom_error *err)
{
    struct http_client *client = NULL;
    int rc = http_client_new("http://localhost/", 0, file, &client, err);
    http_client_free(client);
    return rc;
}

int fathom_store_check(const char *url, const char *credentials, struct fathom_error *err)
{
    struct push *push = NULL;
    struct http *http = NULL;
    int rc;
    if (push_is(url))
        rc = push_open(url, credentials, &push, err);
    else if (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0)
        rc = http_new(url, credentials, &http, err);
    else if (strcmp(url, "sqlite:") == 0 || (strncmp(url, "sqlite:", 7) != 0 && strstr(url, "://")))
        rc = error_set(err, EINVAL,
                       "%s is no store: that is 'sqlite:FILE', 'http://HOST:PORT/DATABASE', or as "
                       "fathom-store(1) has it",
                       url);
    else
        rc = credentials ? check_credentials(credentials, err) : 0;
    push_close(push);
    http_free(http);
    return rc;
}
