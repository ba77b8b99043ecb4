/* order.c - see order.h. */
#include "pathmap/map/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* The sort key of a node among those of its function: height, then function path, then number in the trie. */
struct place_key {
    uint32_t height;
    uint32_t path;
    uint32_t node; /* in the trie */
};

static bool place_before(const struct place_key *x, const struct place_key *y)
{
    return x->height != y->height ? x->height < y->height : x->path < y->path;
}

static void merge_places(const struct place_key *from, size_t middle, size_t end, struct place_key *to)
{
    size_t a = 0, b = middle;
    for (size_t i = 0; i < end; i++)
        to[i] = a < middle && (b == end || !place_before(&from[b], &from[a])) ? from[a++] : from[b++];
}

#define PLACES_FEW 12 /* at this size and above, sort halves and merge them */

/* Stable sort; the input is already in node order, which is kept among equals. Hand-written because qsort()
 * copies through a buffer of its own and calls a function for each comparison. `spare` has room for `count`
 * places. */
static void sort_places(struct place_key *places, size_t count, struct place_key *spare)
{
    if (count >= PLACES_FEW) {
        size_t half = count / 2;
        sort_places(places, half, spare);
        sort_places(places + half, count - half, spare);
        if (place_before(&places[half], &places[half - 1])) {
            memcpy(spare, places, count * sizeof *places);
            merge_places(spare, half, count, places);
        }
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct place_key key = places[i];
        size_t at = i;
        for (; at > 0 && place_before(&key, &places[at - 1]); at--)
            places[at] = places[at - 1];
        places[at] = key;
    }
}

static uint32_t number_of(const struct order *o, uint32_t function)
{
    return o->function_number ? o->function_number[function] : function;
}

/* Numbers the function paths: a trie over functions alone, whose nodes are (outer path, function). Parents
 * precede their children in the trie, so one pass is enough. */
static bool paths_number(struct order *o)
{
    const struct trie *t = o->trie;
    struct edges known = {0};
    uint64_t *keys = malloc(t->node_count * sizeof *keys); /* by path: outer path << 32 | function */
    o->path = malloc(t->node_count * sizeof *o->path);
    bool done = keys && o->path && edges_init(&known, t->node_count);
    if (done)
        o->path[TRIE_ROOT] = FMAP_NONE;
    for (uint32_t i = 1; done && i < t->node_count; i++) {
        uint32_t outer = o->path[t->nodes[i].parent], from = outer + 1; /* the root's: 0 */
        uint64_t key = (uint64_t)outer << 32 | t->nodes[i].function;
        uint32_t hash = (uint32_t)hash_u64(key), path;
        size_t cursor = 0;
        while ((path = edges_next(&known, from, hash, &cursor)) != EDGES_NONE && keys[path] != key)
            ;
        if (path == EDGES_NONE) {
            path = o->paths++;
            keys[path] = key;
            edges_put(&known, from, hash, path);
        }
        o->path[i] = path;
    }
    edges_clear(&known);
    free(keys);
    return done;
}

#define AHEAD 16 /* how many nodes ahead to prefetch */

static bool places_sort(struct order *o)
{
    uint32_t most = 0;
    for (uint32_t f = 0; f < o->functions; f++)
        if (o->first_node[f + 1] - o->first_node[f] > most)
            most = o->first_node[f + 1] - o->first_node[f];
    struct place_key *spare = malloc((most + 1ul) * sizeof *spare);
    for (uint32_t f = 0; spare && f < o->functions; f++)
        sort_places(o->places + o->first_node[f], o->first_node[f + 1] - o->first_node[f], spare);
    free(spare);
    return spare;
}

/* Sorts the nodes: a counting sort by function, then a sort within each function. */
static bool nodes_number(struct order *o)
{
    const struct trie *t = o->trie;
    o->nodes = t->node_count - 1;
    o->places = malloc((o->nodes + 1ul) * sizeof *o->places);
    o->node_number = malloc(t->node_count * sizeof *o->node_number);
    o->first_node = calloc(o->functions + 2ul, sizeof *o->first_node);
    if (!o->places || !o->node_number || !o->first_node)
        return false;
    uint32_t *next =
        o->first_node + 1; /* next[f]: where the next node of f goes; finally, where f's nodes end */
    for (uint32_t i = 1; i < t->node_count; i++)
        next[number_of(o, t->nodes[i].function) + 1]++;
    for (uint32_t f = 0; f < o->functions; f++)
        next[f + 1] += next[f];
    for (uint32_t i = 1; i < t->node_count; i++) {
        const struct trie_node *node = &t->nodes[i];
        o->places[next[number_of(o, node->function)]++] = (struct place_key){node->height, o->path[i], i};
    }
    if (!places_sort(o))
        return false;
    o->node_number[TRIE_ROOT] = FMAP_NONE;
    for (uint32_t f = 0; f < o->functions; f++) {
        uint32_t first = o->first_node[f], end = o->first_node[f + 1];
        for (uint32_t i = first; i < end; i++) {
            if (o->nodes - i > AHEAD)
                __builtin_prefetch(&o->node_number[o->places[i + AHEAD].node], 1);
            o->node_number[o->places[i].node] = i;
            o->cids += i == first || o->places[i].height != o->places[i - 1].height;
        }
    }
    return true;
}

static int compare_pcs(const void *a, const void *b)
{
    const struct fmap_pc *x = a, *y = b;
    return order_of(x->node, y->node) ?: order_of(x->offset, y->offset);
}

static bool pcs_number(struct order *o)
{
    const struct trie *t = o->trie;
    size_t cursor = 0;
    uint64_t key, samples;
    o->pcs = malloc((table_count(t->pcs) + 1) * sizeof *o->pcs);
    if (!o->pcs)
        return false;
    while (table_next(t->pcs, &cursor, &key, &samples)) {
        uint32_t count = samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX;
        o->pcs[o->pc_count++] = (struct fmap_pc){o->node_number[key >> 32], (uint32_t)key, count, 0};
    }
    qsort(o->pcs, o->pc_count, sizeof *o->pcs, compare_pcs);
    return true;
}

uint64_t order_index_entries(const struct order *o)
{
    return o->cids + o->cids / 2 + 1;
}

static void cid_write(const struct order *o, struct fmap_cid *index, struct fmap_cid cid)
{
    uint64_t entries = order_index_entries(o), slot = fmap_slot(cid.function, cid.height, entries);
    while (index[slot].count)
        slot = slot + 1 == entries ? 0 : slot + 1;
    index[slot] = cid;
}

/* Needed because the nodes of one CID are scattered across the trie. */
static void nodes_prefetch(const struct order *o, uint32_t i)
{
    const struct trie_node *nodes = o->trie->nodes;
    if (o->nodes - i <= AHEAD)
        return;
    __builtin_prefetch(&nodes[o->places[i + AHEAD].node]);
    __builtin_prefetch(&o->node_number[nodes[o->places[i + AHEAD / 2].node].parent]);
}

void order_write(const struct order *o, struct fmap_node *nodes, uint32_t *paths, struct fmap_cid *index)
{
    const struct trie *t = o->trie;
    for (uint32_t f = 0; f < o->functions; f++) {
        struct fmap_cid cid = {.function = f};
        for (uint32_t i = o->first_node[f]; i < o->first_node[f + 1]; i++) {
            nodes_prefetch(o, i);
            const struct place_key *key = &o->places[i];
            const struct trie_node *from = &t->nodes[key->node];
            nodes[i] = (struct fmap_node){
                o->node_number[from->parent], f, from->height, from->site, from->passes, from->self};
            paths[i] = key->path;
            if (cid.count && cid.height != key->height) {
                cid_write(o, index, cid);
                cid.count = 0;
            }
            if (!cid.count++) {
                cid.height = key->height;
                cid.first = i;
            }
        }
        if (cid.count)
            cid_write(o, index, cid);
    }
}

bool order_make(struct order *o, const struct trie *trie, const uint32_t *function_number)
{
    *o = (struct order){.trie = trie, .function_number = function_number, .functions = trie->function_count};
    return paths_number(o) && nodes_number(o) && pcs_number(o);
}

void order_written(struct order *o)
{
    free(o->path);
    free(o->places);
    o->path = NULL;
    o->places = NULL;
}

void order_clear(struct order *o)
{
    order_written(o);
    free(o->first_node);
    free(o->node_number);
    free(o->pcs);
}
