/* list_cids.c - see list_cids.h. */
#include "infer/engine/list_cids.h"

/* Opens the process's program, as paths begin there. */
static void open_program(const struct process *process)
{
    const struct build_id *build_id;
    const struct mapping *mapping;
    for (size_t i = 0; (mapping = process_mapping_at(process, i, &build_id)); i++) {
        if (mapping->path[0] != '/')
            continue;
        process_mapping(process, mapping->start);
        return;
    }
}

static int add_cid(const struct cid_lister *l, const struct observed *observed, const struct sample *sample,
                   struct fathom_error *err)
{
    struct cid cid = cid_of_sample(observed->process, sample);
    if (cid.reason != UNKNOWN_NOT || cid.height > UINT32_MAX)
        return 0;
    struct wanted wanted = {trainer_function(l->observer->learner->trainer, &cid.place), (uint32_t)cid.height,
                            observed->setting, 0, observed->own != TRIE_NONE};
    bool good =
        wanted.function != TRIE_NONE && survey_add(l->survey, observed->run, &wanted, observed->anchor) == 0;
    return good ? 0 : error_memory(err);
}

int list_cids(void *lister, const struct record *record, struct fathom_error *err)
{
    const struct cid_lister *l = lister;
    struct observer *o = l->observer;
    struct observed observed;
    uint32_t settings = settings_count(o->settings);
    int rc = observer_take(o, record, &observed, err);
    if (rc == 0 && record->kind == RECORD_MMAP && l->open_all)
        observer_open_mapped(o, record);
    if (rc == 0 && settings_count(o->settings) > settings && l->open_programs)
        open_program(observed.process);
    if (rc < 0 || (!observed.sample && observed.anchor == TRIE_NONE))
        return rc;
    if (unread_note(l->unread, observed.process) < 0)
        return error_memory(err);
    return add_cid(l, &observed, &record->sample, err);
}
