/* merge.c - adds up several path maps; see fathom/map.h. */
#include "api/fathom/map.h"
#include "api/host.h"
#include "base/outfile.h"
#include "infer/model/trained.h"
#include "pathmap/map/pathmap.h"

/* Adds the maps with hooked images, or those without any; the former must be added first (trie.h). */
static int add_maps(struct trie *trie, const char *const *paths, size_t count, bool hooked,
                    const struct progress *progress, struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct pathmap *map;
        progress_show(progress, hooked ? "merging hooked maps" : "merging maps", i, count);
        rc = pathmap_open(paths[i], &map, err);
        if (rc < 0)
            break;
        if (pathmap_hooked(map) == hooked)
            rc = trials_merge(trie, map, err);
        pathmap_close(map);
    }
    return rc;
}

int fathom_map_merge(const char *output, const char *const *paths, size_t count,
                     const struct fathom_listener *listener, struct fathom_error *err)
{
    struct host host;
    struct outfile *out = NULL;
    host_init(&host, listener);
    int rc = outfile_open(output, &out, err);
    if (rc < 0)
        return rc;
    struct trie *trie = trie_new();
    rc = trie ? add_maps(trie, paths, count, true, &host.progress, err) : error_memory(err);
    if (rc == 0)
        rc = add_maps(trie, paths, count, false, &host.progress, err);
    if (rc == 0)
        rc = trie_write(trie, out, err);
    if (rc == 0)
        log_write(&host.log, LOG_NOTE, "%zu maps, %u contexts in %s", count, trie_node_count(trie) - 1,
                  outfile_path(out));
    trie_free(trie);
    outfile_close(out);
    return rc;
}
