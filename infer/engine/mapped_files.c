/* mapped_files.c - see mapped_files.h. */
#include "infer/engine/mapped_files.h"

#include "infer/samples/builds.h"
#include "process/process.h"

struct look {
    const struct pathmap *map;
    struct builds *builds; /* NULL: no map */
    struct image_cache *images;
    struct trie *trie;
};

/* An order_sink. */
static int see(void *look, const struct record *record, struct fathom_error *err)
{
    struct look *l = look;
    if (record->kind != RECORD_MMAP || !record->mmap.executable || record->mmap.path[0] != '/')
        return 0;
    const char *path = record->mmap.path;
    const struct build_id id = process_build_id(&record->mmap);
    if (!id.size)
        return 0;
    if (!image_cache_also(l->images, path, &id) || (l->builds && builds_note(l->builds, path, &id) < 0))
        return error_memory(err);
    uint32_t known = l->map ? pathmap_find_image(l->map, path, &id, NULL) : PATHMAP_NONE;
    if (known == PATHMAP_NONE)
        return 0;
    return trie_image(l->trie, path, &id) != TRIE_NONE &&
                   image_cache_also(l->images, pathmap_image(l->map, known).path, &id)
               ? 0
               : error_memory(err);
}

int mapped_files_read(struct reader *reader, const struct pathmap *map, struct image_cache *images,
                      struct trie *trie, bool *foreign, struct fathom_error *err)
{
    struct look look = {map, map ? builds_new(map, NULL) : NULL, images, trie};
    int rc = map && !look.builds ? error_memory(err) : reader_run(reader, see, &look, err);
    if (rc == 0)
        *foreign = look.builds && builds_foreign(look.builds);
    builds_free(look.builds);
    return rc;
}
