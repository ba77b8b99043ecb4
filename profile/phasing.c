/* phasing.c - see phasing.h. */
#include "profile/phasing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/hash.h"
#include "base/saturate.h"
#include "base/sort.h"

const char *const phase_kind_names[] = {
    [PHASE_CONTEXTS] = "contexts", [PHASE_FUNCTIONS] = "functions", [PHASE_REGIONS] = "regions"};

#define PHASE_SAMPLES   200.0
#define PHASE_INTERVALS 600.0
#define PHASE_THRESHOLD 0.25

#define PHASE_TRUNK 0.9 /* share of all weight: contexts with more below them do not distinguish intervals */

/* A node of the tree; parents come before their children. Frames from the user's options (lines, inlined functions, who ran
 * them) do not count: phases are the same with and without these. */
struct phased_node {
    uint64_t hash;  /* of its path */
    uint64_t total; /* weight of it and everything below */
    uint32_t parent;
    bool counts; /* if not, it has its parent's hash */
};

struct phasing {
    const struct contexts *contexts;
    enum phase_kind kind;
    uint64_t *items; /* by item of the tree: its hash; 0: it does not count */
    struct phased_node *nodes;
    size_t node_count;
    struct table *places; /* node -> its number */
    struct table *totals; /* hash of a path -> its total: several nodes may have it, e.g. with lines */
    double trunk;         /* weight */
};

static uint64_t name_hash(const char *name)
{
    return checksum_of(name, strlen(name));
}

static bool frame_counts(const struct frame *f)
{
    return f->kind != FRAME_LEVEL && f->kind != FRAME_LABEL && f->kind != FRAME_LINE &&
           f->kind != FRAME_INLINED && f->kind != FRAME_DATA && f->kind != FRAME_FOUND;
}

static bool hash_items(struct phasing *p)
{
    const struct frames *frames = p->contexts->frames;
    uint32_t count = frames_count(frames);
    p->items = malloc(((size_t)count + 1) * sizeof *p->items);
    for (uint32_t i = 0; p->items && i < count; i++) {
        const struct frame *f = frames_at(frames, i);
        p->items[i] = frame_counts(f) ? (hash_u64(name_hash(f->name)) + name_hash(f->image)) | 1 : 0;
    }
    return p->items;
}

static bool put_node(struct phasing *p, struct cct_node *node, uint32_t number)
{
    uint32_t parent = number ? (uint32_t)*table_find(p->places, (uintptr_t)cct_parent(node)) : 0;
    if (!table_set(p->places, (uintptr_t)node, number))
        return false;
    uint64_t item = number ? p->items[node->item] : 0, above = number ? p->nodes[parent].hash : 0;
    p->nodes[number] =
        (struct phased_node){item ? hash_u64(above + item) : above, node->self[0], parent, item != 0};
    return true;
}

static bool find_nodes(struct phasing *p)
{
    struct cct_node *root = cct_root(p->contexts->tree);
    p->places = table_new();
    p->totals = table_new();
    p->nodes = malloc(cct_count(p->contexts->tree) * sizeof *p->nodes);
    bool good = p->places && p->totals && p->nodes;
    for (struct cct_node *node = root; good && node; node = cct_next(root, node))
        good = put_node(p, node, (uint32_t)p->node_count++);
    for (size_t i = p->node_count; good && i-- > 1;) {
        const struct phased_node *n = &p->nodes[i];
        uint64_t *total = n->counts ? table_put(p->totals, n->hash, NULL) : NULL;
        good = total || !n->counts;
        if (total)
            *total = add_saturating(*total, n->total);
        p->nodes[n->parent].total = add_saturating(p->nodes[n->parent].total, n->total);
    }
    if (good)
        p->trunk = PHASE_TRUNK * (double)p->nodes[0].total;
    return good;
}

static uint64_t item_of(const struct phasing *p, const struct placed_sample *s)
{
    const struct cct_node *n = s->node;
    if (p->kind == PHASE_REGIONS && s->image)
        return name_hash(image_name(s->image)) + s->address / PHASE_REGION_BYTES;
    while (cct_parent(n) && !p->items[n->item])
        n = cct_parent(n);
    return cct_parent(n) ? p->items[n->item] : 0;
}

#define PHASE_PATH 32u /* as many innermost contexts count of a longer path */

/* The items of a sample's context: the context and its ancestors, without the trunk. */
static size_t items_of(const struct phasing *p, const struct placed_sample *s, uint64_t items[PHASE_PATH])
{
    size_t count = 0;
    uint32_t n = p->kind == PHASE_CONTEXTS ? (uint32_t)*table_find(p->places, (uintptr_t)s->node) : 0;
    for (; n && count < PHASE_PATH; n = p->nodes[n].parent)
        if (p->nodes[n].counts && (double)*table_find(p->totals, p->nodes[n].hash) < p->trunk)
            items[count++] = p->nodes[n].hash;
    if (!count)
        items[count++] = item_of(p, s);
    return count;
}

/* The interval as a weight. */
static double interval_of(const struct contexts *c, double wanted, double weight)
{
    bool times = strcmp(metrics_unit(c->metrics, 0), "ns") == 0;
    double most = (double)c->sample_count / PHASE_SAMPLES;
    double intervals = most < PHASE_INTERVALS ? most : PHASE_INTERVALS;
    return wanted > 0 ? wanted * (times ? 1e6 : 1) : intervals > 1 ? weight / intervals : weight;
}

struct timed {
    uint64_t time;
    size_t sample;
};

/* Adds the samples in the order of time: ambiguous ones were resolved later than others. */
static int add_samples(const struct phasing *p, struct timeline *t, struct fathom_error *err)
{
    const struct contexts *c = p->contexts;
    struct timed *order = malloc((c->sample_count + 1) * sizeof *order);
    if (!order)
        return error_memory(err);
    for (size_t i = 0; i < c->sample_count; i++)
        order[i] = (struct timed){c->samples[i].time, i};
    sort_by(order, c->sample_count, time);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < c->sample_count; i++) {
        const struct placed_sample *s = &c->samples[order[i].sample];
        uint64_t weight = c->sample_values[order[i].sample * c->metrics->count];
        if (weight && cct_parent(s->node)) {
            uint64_t items[PHASE_PATH];
            size_t count = items_of(p, s, items);
            rc = timeline_add(t, &(struct phase_sample){s->time, (double)weight, items, count}, err);
        }
    }
    free(order);
    return rc;
}

int phasing_find(const struct contexts *contexts, const struct phasing_options *o, struct timeline **out,
                 struct fathom_error *err)
{
    double weight = (double)cct_total(contexts->tree);
    if (!(weight > 0))
        return -ENODATA;
    struct phasing p = {.contexts = contexts, .kind = o->kind};
    struct timeline *t =
        timeline_new(&(struct phase_options){.interval = interval_of(contexts, o->interval, weight),
                                             .threshold = o->threshold > 0 ? o->threshold : PHASE_THRESHOLD});
    int rc = t && hash_items(&p) && find_nodes(&p) ? 0 : error_memory(err);
    if (rc == 0)
        rc = add_samples(&p, t, err);
    if (rc == 0)
        rc = timeline_end(t, err);
    free(p.items);
    free(p.nodes);
    table_free(p.places);
    table_free(p.totals);
    if (rc < 0)
        timeline_free(t);
    else
        timeline_choose(*out = t, o->policy);
    return rc;
}
