/*
 * serialise.c - a trie as the bytes of an .fmap file (docs/fmap.md).
 *
 * The numbers of functions and nodes in the file are positions in its sorted tables; `layout` holds the ways
 * from the trie's numbers to these.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/outfile.h"
#include "pathmap/map/fmap.h"
#include "pathmap/map/trie_data.h"

/* A node as it is sorted among those of its function: by height, then function path, then number in the
 * trie. */
struct place_key {
    uint32_t height;
    uint32_t path;
    uint32_t node; /* in the trie */
};

struct layout {
    const struct trie *trie;
    uint32_t *function_order;  /* trie's number by file's number */
    uint32_t *function_number; /* file's number by trie's number */
    uint32_t *path;            /* function path's number by trie's node; the root's is FMAP_NONE */
    uint32_t paths;            /* number of them */
    struct place_key *order;   /* by file's node */
    uint32_t *first_node;      /* by file's function, and one more: as in the file */
    uint32_t *node_number;     /* file's number by trie's node */
    uint32_t *text;            /* offset in the strings by name's number */
    uint32_t nodes;            /* in the file: without the root */
    uint64_t cids;             /* distinct ones */
    struct fmap_pc *pcs;
    size_t pc_count;
    uint64_t strings_size; /* bytes */
    struct fmap_section sections[FMAP_KINDS - 1];
    uint64_t size; /* of the file */
};

static int compare_functions(const void *a, const void *b, void *trie)
{
    const struct trie_function *functions = ((const struct trie *)trie)->functions;
    const struct trie_function *x = &functions[*(const uint32_t *)a], *y = &functions[*(const uint32_t *)b];
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

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

#define PLACES_FEW 12 /* from so many on, halves are sorted and merged */

/* Sorts what is in order of the nodes already, and keeps that order among equals: by hand, as qsort() copies
 * through a buffer of its own and calls a function for each comparison. `spare` has room for as many. */
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

static bool functions_number(struct layout *l)
{
    uint32_t n = l->trie->function_count;
    l->function_order = malloc((n + 1ul) * sizeof(uint32_t));
    l->function_number = malloc((n + 1ul) * sizeof(uint32_t));
    if (!l->function_order || !l->function_number)
        return false;
    for (uint32_t i = 0; i < n; i++)
        l->function_order[i] = i;
    qsort_r(l->function_order, n, sizeof(uint32_t), compare_functions, (void *)(uintptr_t)l->trie);
    for (uint32_t i = 0; i < n; i++)
        l->function_number[l->function_order[i]] = i;
    return true;
}

/* Numbers the function paths: a trie over functions alone, whose nodes are (outer path, function). Parents
 * come before their children in the trie, so one pass does it. */
static bool paths_number(struct layout *l)
{
    const struct trie *t = l->trie;
    struct edges known = {0};
    uint64_t *keys = malloc(t->node_count * sizeof *keys); /* by path: outer path << 32 | function */
    l->path = malloc(t->node_count * sizeof *l->path);
    bool done = keys && l->path && edges_init(&known, t->node_count);
    if (done)
        l->path[TRIE_ROOT] = FMAP_NONE;
    for (uint32_t i = 1; done && i < t->node_count; i++) {
        uint32_t outer = l->path[t->nodes[i].parent], from = outer + 1; /* the root's: 0 */
        uint64_t key = (uint64_t)outer << 32 | t->nodes[i].function;
        uint32_t hash = (uint32_t)hash_u64(key), path;
        size_t cursor = 0;
        while ((path = edges_next(&known, from, hash, &cursor)) != EDGES_NONE && keys[path] != key)
            ;
        if (path == EDGES_NONE) {
            path = l->paths++;
            keys[path] = key;
            edges_put(&known, from, hash, path);
        }
        l->path[i] = path;
    }
    edges_clear(&known);
    free(keys);
    return done;
}

#define AHEAD 16 /* nodes whose memory is on its way while another is looked at */

static bool places_sort(struct layout *l)
{
    uint32_t most = 0;
    for (uint32_t f = 0; f < l->trie->function_count; f++)
        if (l->first_node[f + 1] - l->first_node[f] > most)
            most = l->first_node[f + 1] - l->first_node[f];
    struct place_key *spare = malloc((most + 1ul) * sizeof *spare);
    for (uint32_t f = 0; spare && f < l->trie->function_count; f++)
        sort_places(l->order + l->first_node[f], l->first_node[f + 1] - l->first_node[f], spare);
    free(spare);
    return spare;
}

/* Sorts the nodes: first into their functions, by counting, then each function's. */
static bool nodes_number(struct layout *l)
{
    const struct trie *t = l->trie;
    l->nodes = t->node_count - 1;
    l->order = malloc((l->nodes + 1ul) * sizeof *l->order);
    l->node_number = malloc(t->node_count * sizeof *l->node_number);
    l->first_node = calloc(t->function_count + 2ul, sizeof *l->first_node);
    if (!l->order || !l->node_number || !l->first_node)
        return false;
    uint32_t *next =
        l->first_node + 1; /* next[f]: where the next node of f goes, in the end where they end */
    for (uint32_t i = 1; i < t->node_count; i++)
        next[l->function_number[t->nodes[i].function] + 1]++;
    for (uint32_t f = 0; f < t->function_count; f++)
        next[f + 1] += next[f];
    for (uint32_t i = 1; i < t->node_count; i++) {
        const struct trie_node *node = &t->nodes[i];
        l->order[next[l->function_number[node->function]]++] =
            (struct place_key){node->height, l->path[i], i};
    }
    if (!places_sort(l))
        return false;
    l->node_number[TRIE_ROOT] = FMAP_NONE;
    for (uint32_t f = 0; f < t->function_count; f++) {
        uint32_t first = l->first_node[f], end = l->first_node[f + 1];
        for (uint32_t i = first; i < end; i++) {
            if (l->nodes - i > AHEAD)
                __builtin_prefetch(&l->node_number[l->order[i + AHEAD].node], 1);
            l->node_number[l->order[i].node] = i;
            l->cids += i == first || l->order[i].height != l->order[i - 1].height;
        }
    }
    return true;
}

static int compare_pcs(const void *a, const void *b)
{
    const struct fmap_pc *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool pcs_number(struct layout *l)
{
    const struct trie *t = l->trie;
    size_t cursor = 0;
    uint64_t key, samples;
    l->pcs = malloc((table_count(t->pcs) + 1) * sizeof *l->pcs);
    if (!l->pcs)
        return false;
    while (table_next(t->pcs, &cursor, &key, &samples)) {
        uint32_t count = samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX;
        l->pcs[l->pc_count++] = (struct fmap_pc){l->node_number[key >> 32], (uint32_t)key, count, 0};
    }
    qsort(l->pcs, l->pc_count, sizeof *l->pcs, compare_pcs);
    return true;
}

static int strings_place(struct layout *l, struct fathom_error *err)
{
    uint32_t n = names_count(l->trie->names);
    l->text = malloc((n + 1ul) * sizeof *l->text);
    if (!l->text)
        return error_memory(err);
    l->strings_size = 1;
    for (uint32_t i = 0; i < n; i++) {
        const char *text = names_text(l->trie->names, i);
        l->text[i] = *text ? (uint32_t)l->strings_size : 0;
        if (*text)
            l->strings_size += strlen(text) + 1;
        if (l->strings_size > UINT32_MAX)
            return error_set(err, EFBIG, "the names of a path map's functions take more than 4 GiB");
    }
    return 0;
}

/* Half as many again as there are CIDs; never full. */
static uint64_t index_entries(const struct layout *l)
{
    return l->cids + l->cids / 2 + 1;
}

static void sections_place(struct layout *l)
{
    const struct trie *t = l->trie;
    const uint64_t lengths[FMAP_KINDS] = {
        [FMAP_IMAGES] = t->image_count * sizeof(struct fmap_image),
        [FMAP_FUNCTIONS] = t->function_count * sizeof(struct fmap_function),
        [FMAP_FUNCTION_NODES] = (t->function_count + 1ul) * sizeof(uint32_t),
        [FMAP_NODES] = l->nodes * sizeof(struct fmap_node),
        [FMAP_PATHS] = l->nodes * sizeof(uint32_t),
        [FMAP_INDEX] = index_entries(l) * sizeof(struct fmap_cid),
        [FMAP_STRINGS] = l->strings_size,
        [FMAP_STATISTICS] = sizeof(struct fmap_statistics),
        [FMAP_PCS] = l->pc_count * sizeof(struct fmap_pc),
    };
    uint64_t at = sizeof(struct fmap_header) + sizeof l->sections + sizeof(uint64_t);
    for (uint32_t kind = 1; kind < FMAP_KINDS; kind++) {
        at = (at + FMAP_ALIGNMENT - 1) & ~(uint64_t)(FMAP_ALIGNMENT - 1);
        l->sections[kind - 1] = (struct fmap_section){.kind = kind, .offset = at, .length = lengths[kind]};
        at += lengths[kind];
    }
    l->size = at;
}

static void *section_at(const struct layout *l, uint8_t *file, enum fmap_kind kind)
{
    return file + l->sections[kind - 1].offset;
}

static void names_write(const struct layout *l, uint8_t *file)
{
    const struct trie *t = l->trie;
    struct fmap_image *images = section_at(l, file, FMAP_IMAGES);
    for (uint32_t i = 0; i < t->image_count; i++) {
        const struct trie_image *from = &t->images[i];
        images[i].path = l->text[from->path];
        images[i].build_id_size = from->build_id.size;
        images[i].hooked = from->hooked;
        images[i].entered = from->entered;
        memcpy(images[i].build_id, from->build_id.bytes, from->build_id.size);
    }
    struct fmap_function *functions = section_at(l, file, FMAP_FUNCTIONS);
    for (uint32_t i = 0; i < t->function_count; i++) {
        const struct trie_function *from = &t->functions[l->function_order[i]];
        uint32_t name = from->name == NAMES_NONE ? 0 : l->text[from->name];
        functions[i] = (struct fmap_function){from->address, from->image, name};
    }
    char *strings = section_at(l, file, FMAP_STRINGS);
    for (uint32_t i = 0; i < names_count(t->names); i++) {
        const char *text = names_text(t->names, i);
        memcpy(strings + l->text[i], text, strlen(text));
    }
}

static void cid_write(const struct layout *l, struct fmap_cid *index, struct fmap_cid cid)
{
    uint64_t entries = index_entries(l), slot = fmap_slot(cid.function, cid.height, entries);
    while (index[slot].count)
        slot = slot + 1 == entries ? 0 : slot + 1;
    index[slot] = cid;
}

#define AHEAD 16 /* nodes whose memory is on its way while another is looked at */

/* The nodes of one CID lie all over the trie. */
static void nodes_prefetch(const struct layout *l, uint32_t i)
{
    const struct trie_node *nodes = l->trie->nodes;
    if (l->nodes - i <= AHEAD)
        return;
    __builtin_prefetch(&nodes[l->order[i + AHEAD].node]);
    __builtin_prefetch(&l->node_number[nodes[l->order[i + AHEAD / 2].node].parent]);
}

static void nodes_write(const struct layout *l, uint8_t *file)
{
    const struct trie *t = l->trie;
    struct fmap_node *nodes = section_at(l, file, FMAP_NODES);
    uint32_t *paths = section_at(l, file, FMAP_PATHS);
    struct fmap_cid *index = section_at(l, file, FMAP_INDEX);

    memcpy(section_at(l, file, FMAP_FUNCTION_NODES), l->first_node,
           (t->function_count + 1ul) * sizeof(uint32_t));
    for (uint32_t f = 0; f < t->function_count; f++) {
        struct fmap_cid cid = {.function = f};
        for (uint32_t i = l->first_node[f]; i < l->first_node[f + 1]; i++) {
            nodes_prefetch(l, i);
            const struct place_key *key = &l->order[i];
            const struct trie_node *from = &t->nodes[key->node];
            nodes[i] = (struct fmap_node){
                l->node_number[from->parent], f, from->height, from->site, from->passes, from->self};
            paths[i] = key->path;
            if (cid.count && cid.height != key->height) {
                cid_write(l, index, cid);
                cid.count = 0;
            }
            if (!cid.count++) {
                cid.height = key->height;
                cid.first = i;
            }
        }
        if (cid.count)
            cid_write(l, index, cid);
    }
}

static void header_write(struct layout *l, uint8_t *file)
{
    bool whole = l->trie->any_hooked && !l->trie->leaves_out;
    struct fmap_header header = {
        .version = whole ? FMAP_VERSION : 1, .size = l->size, .sections = FMAP_KINDS - 1};
    memcpy(header.magic, FMAP_MAGIC, sizeof header.magic);
    for (uint32_t i = 0; i < FMAP_KINDS - 1; i++)
        l->sections[i].checksum = fmap_checksum(file + l->sections[i].offset, l->sections[i].length);
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, l->sections, sizeof l->sections);
    size_t covered = sizeof header + sizeof l->sections;
    uint64_t checksum = checksum_of(file, covered);
    memcpy(file + covered, &checksum, sizeof checksum);
}

int trie_serialise(const struct trie *trie, void **data, size_t *size, struct fathom_error *err)
{
    return trie_serialise_numbers(trie, data, size, NULL, err);
}

int trie_serialise_numbers(const struct trie *trie, void **data, size_t *size, uint32_t **numbers,
                           struct fathom_error *err)
{
    struct layout l = {.trie = trie};
    int rc = 0;
    if (!functions_number(&l) || !paths_number(&l) || !nodes_number(&l) || !pcs_number(&l)) {
        rc = error_memory(err);
        goto out;
    }
    rc = strings_place(&l, err);
    if (rc < 0)
        goto out;
    sections_place(&l);
    uint8_t *file = calloc(1, l.size);
    if (!file) {
        rc = error_memory(err);
        goto out;
    }
    names_write(&l, file);
    nodes_write(&l, file);
    memcpy(section_at(&l, file, FMAP_PCS), l.pcs, l.pc_count * sizeof *l.pcs);
    const struct trie_statistics *s = &trie->statistics;
    *(struct fmap_statistics *)section_at(&l, file, FMAP_STATISTICS) =
        (struct fmap_statistics){s->paths_entered, s->paths_cut, s->paths_failed, l.paths, 0};
    header_write(&l, file);
    *data = file;
    *size = l.size;
    if (numbers) {
        *numbers = l.node_number;
        l.node_number = NULL;
    }
out:
    free(l.function_order);
    free(l.function_number);
    free(l.path);
    free(l.order);
    free(l.node_number);
    free(l.first_node);
    free(l.pcs);
    free(l.text);
    return rc;
}

int trie_write(const struct trie *trie, struct outfile *out, struct fathom_error *err)
{
    void *data;
    size_t size;
    int rc = trie_serialise(trie, &data, &size, err);
    if (rc == 0) {
        rc = outfile_put(out, data, size, err);
        free(data);
    }
    return rc;
}

int trie_save(const struct trie *trie, const char *path, struct fathom_error *err)
{
    struct outfile *out = NULL;
    int rc = outfile_open(path, &out, err);
    if (rc == 0)
        rc = trie_write(trie, out, err);
    outfile_close(out);
    return rc;
}
