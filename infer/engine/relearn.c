/* relearn.c - see relearn.h. */
#include "infer/engine/relearn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/map/partial.h"

struct relearning {
    struct observer *observer;
    const struct trie *from;
    struct held_out *held;
    struct relearned *out;
};

/* Enters an observation's sample. 0 or -ENOMEM. */
static int enter_sample(struct relearning *r, const struct observation *o)
{
    const struct place *place = &o->frame.place;
    struct relearned *out = r->out;
    uint32_t node = trie_copy_node(out->trie, r->from, o->learned.node, out->copies);
    if (node == TRIE_NONE)
        return -ENOMEM;
    if (partial_is_apart(trie_height(out->trie, node)))
        return 0;
    trie_add_path(out->trie, node);
    out->samples[node]++;
    if (!place->image || place->function == IMAGE_NO_FUNCTION)
        return 0;
    uint64_t start = image_function(place->image, place->function)->address;
    return trie_add_pc(out->trie, node, (uint32_t)(place->address - start), 1) ? 0 : -ENOMEM;
}

/* An observation_sink. */
static int relearn_observation(void *relearning, const struct observation *o, struct fathom_error *err)
{
    struct relearning *r = relearning;
    const struct observer *observer = r->observer;
    if (o->record->kind != RECORD_SAMPLE)
        return processes_apply(observer->processes, o->record, err);
    int rc = 0;
    if (observer->folded && held_out_has(observer->fold, &o->learned))
        rc = held_out_note(r->held, o, learner_is_audit(observer->learner, &o->record->sample));
    else if (o->learned.node != TRIE_NONE)
        rc = enter_sample(r, o);
    return rc < 0 ? error_memory(err) : 0;
}

int relearn(const struct passes *passes, struct held_out *held, struct relearned *out,
            struct fathom_error *err)
{
    const struct trie *from = passes->observer->learner->trie;
    const uint32_t nodes = trie_node_count(from);
    *out = (struct relearned){.trie = trie_new(), .nodes = nodes};
    out->numbers = out->trie ? function_numbers_new(out->trie) : NULL;
    out->copies = malloc(nodes * sizeof *out->copies);
    out->samples = calloc(nodes, sizeof *out->samples); /* the copy has at most as many */
    if (!out->numbers || !out->copies || !out->samples || !trie_copy_functions(out->trie, from))
        return error_memory(err);
    memset(out->copies, 0xff, nodes * sizeof *out->copies);
    struct relearning r = {passes->observer, from, held, out};
    return passes_run(passes, "learning again", false, relearn_observation, &r, err);
}

void relearned_clear(struct relearned *r)
{
    function_numbers_free(r->numbers);
    trie_free(r->trie);
    free(r->copies);
    free(r->samples);
    *r = (struct relearned){0};
}
