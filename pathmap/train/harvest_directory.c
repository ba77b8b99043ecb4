/* harvest_directory.c - all stores of a training session's directory; see harvest.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "pathmap/train/graft.h"
#include "pathmap/train/harvest.h"
#include "pathmap/train/store_file.h"

static int is_store(const struct dirent *entry)
{
    return strncmp(entry->d_name, STORE_PREFIX, sizeof STORE_PREFIX - 1) == 0;
}

/* Calls `visit` with the path of each store, in order of the PIDs: a forked child's usually comes after its
 * parent's, which has more of their common stack. A negative result ends it. */
static int each_store(const char *directory, int (*visit)(void *context, const char *path), void *context,
                      struct fathom_error *err)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_store, versionsort), rc = 0;
    if (count < 0)
        return error_system(err, errno, "cannot read %s", directory);
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (rc == 0 && asprintf(&path, "%s/%s", directory, entries[i]->d_name) < 0) {
            path = NULL;
            rc = error_memory(err);
        }
        if (rc == 0)
            rc = visit(context, path);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

struct harvesting {
    struct harvest *harvest;
    struct trie *trie;
    struct image_cache *images;
    const struct log *log;
    struct fathom_error *err;
};

static int harvest_one(void *context, const char *path)
{
    struct harvesting *h = context;
    struct fathom_error err = {0};
    int rc = harvest_store(h->harvest, h->trie, h->images, path, &err);
    if (rc == -ENOMEM)
        return error_memory(h->err);
    if (rc < 0)
        log_write(h->log, h->harvest->unread++ ? LOG_DEBUG : LOG_WARNING,
                  "the calls of a process are not in the map: %s", err.text);
    return 0;
}

int harvest_directory(struct harvest *harvest, struct trie *trie, struct image_cache *images,
                      const char *directory, const struct log *log, struct fathom_error *err)
{
    struct harvesting h = {harvest, trie, images, log, err};
    return each_store(directory, harvest_one, &h, err);
}

void harvest_free(struct harvest *harvest)
{
    for (size_t i = 0; i < harvest->image_count; i++)
        free(harvest->images[i].path);
    free(harvest->images);
    graft_free(harvest->graft);
    *harvest = (struct harvest){0};
}

static int progress_one(void *context, const char *path)
{
    struct harvest_progress *out = context;
    struct store_file store;
    uint32_t first, end;
    if (store_file_open(path, &store, NULL) < 0)
        return 0; /* it is being made */
    out->stores++;
    for (end = store_file_next(&store, 0, &first); first < end; end = store_file_next(&store, end, &first)) {
        for (uint32_t at = first; at < end; at++) {
            struct store_node node;
            if (store_file_node(&store, at, &node) && node.function != STORE_ROOT) {
                out->calls = add_saturating(out->calls, node.count);
                out->nodes++;
            }
        }
    }
    store_file_close(&store);
    return 0;
}

int harvest_progress(const char *directory, struct harvest_progress *out, struct fathom_error *err)
{
    struct harvest_progress sum = {0};
    int rc = each_store(directory, progress_one, &sum, err);
    if (rc == 0)
        *out = sum;
    return rc;
}
