/* list_cids.c - see list_cids.h. */
#include "infer/engine/list_cids.h"

#include "pathmap/map/partial.h"

struct table *list_cids_roots(const struct pathmap *map)
{
    struct table *roots = table_new();
    for (uint32_t n = 0; roots && n < pathmap_node_count(map); n++) {
        struct pathmap_node node = pathmap_node(map, n);
        if (node.parent != PATHMAP_NONE || node.function == PATHMAP_NONE)
            continue;
        if (!table_put(roots, pathmap_function(map, node.function).image, NULL)) {
            table_free(roots);
            roots = NULL;
        }
    }
    return roots;
}

/* Opens the files that the automaton needs for a process: its program, in which paths begin, or all of its files if the map has
 * no path that begins in the program. */
static void open_files(const struct cid_lister *l, const struct process *process)
{
    const struct build_id *build_id;
    const struct mapping *mapping = NULL;
    for (size_t i = 0; (mapping = process_mapping_at(process, i, &build_id)) && mapping->path[0] != '/'; i++)
        ;
    uint32_t image = mapping ? pathmap_find_image(l->map, mapping->path, build_id, NULL) : PATHMAP_NONE;
    if (image == PATHMAP_NONE || !table_find(l->roots, image))
        process_open_all(process);
    else
        process_mapping(process, mapping->start);
}

/* Whether the sample's own path is known from the root on, or as far as its stack can be read. */
static bool is_sure(const struct cid_lister *l, const struct observed *observed,
                    const struct observation *observation)
{
    const struct trie *trie = l->observer->learner->trie;
    const uint32_t height = observed->own == TRIE_NONE ? 0 : trie_height(trie, observation->learned.node);
    return observed->own != TRIE_NONE && (!partial_is_apart(height) || partial_is_joined(height));
}

static int add_cid(const struct cid_lister *l, const struct observed *observed,
                   const struct observation *observation, struct fathom_error *err)
{
    const struct sample *sample = &observation->record->sample;
    struct cid cid = cid_of_frame(observed->process, sample, &observation->frame);
    if (cid.reason != UNKNOWN_NOT || cid.height > UINT32_MAX)
        return 0;
    const bool sure = is_sure(l, observed, observation);
    struct wanted wanted = {function_number(l->observer->numbers, cid.place.image, cid.place.function),
                            (uint32_t)cid.height,
                            observed->setting,
                            0,
                            sure,
                            !sure && observed->own != TRIE_NONE};
    bool good = wanted.function != TRIE_NONE &&
                survey_add(l->survey, observed->run, &wanted, observed->true_path) == 0;
    return good ? 0 : error_memory(err);
}

int list_cids(void *lister, const struct observation *observation, struct fathom_error *err)
{
    const struct cid_lister *l = lister;
    struct observer *o = l->observer;
    struct observed observed;
    uint32_t settings = settings_count(o->settings);
    int rc = observer_take(o, observation, &observed, err);
    if (rc == 0 && settings_count(o->settings) > settings && l->open_programs)
        open_files(l, observed.process);
    if (rc < 0 || (!observed.sample && observed.true_path == TRIE_NONE))
        return rc;
    if (unread_note(l->unread, observed.process) < 0)
        return error_memory(err);
    return add_cid(l, &observed, observation, err);
}
