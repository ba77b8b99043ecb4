/* graft.c - see graft.h. */
#include "pathmap/train/graft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/hash.h"
#include "base/vec.h"
#include "pathmap/map/trie_data.h"
#include "process/unwind.h"

#define FRAMES_MAX    1024 /* between two hooked ones */
#define ANCESTORS_MAX 4096 /* frames searched for the one where a walk joins the tree */
#define PAGE          4096u
#define PID           1 /* of the only process */

/* An intermediate frame, relative to the hooked one above it. */
struct between {
    uint32_t function; /* number in the trie */
    uint32_t rise;     /* bytes from the hooked frame's CFA */
    uint64_t site;     /* of the call that made it */
};

struct graft {
    struct trie *trie;
    struct image_cache *images;
    struct processes *processes; /* one, with the store's images */
    struct store_file *store;
    uint8_t *stacks; /* the store's */
    size_t stacks_size;
    struct table *saved;         /* node -> offset in stacks */
    struct unwind_frame *frames; /* scratch, FRAMES_MAX of them */
    struct table *chains;        /* key_of() -> first in between << 32 | count, of all stores */
    struct between *between;     /* the chains, each from the outside in; the last is the callee */
    size_t between_count, between_capacity;
};

/* What determines the intermediate frames. */
struct chain_key {
    uint32_t outer, inner; /* functions of the trie; TRIE_NONE: the stack begins */
    uint64_t back;         /* image-virtual, in `image` */
    uint32_t image;        /* the trie's */
    uint32_t rise;
};

struct graft *graft_new(struct trie *trie, struct image_cache *images)
{
    struct graft *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->trie = trie;
    g->images = images;
    g->frames = calloc(FRAMES_MAX, sizeof *g->frames);
    g->chains = table_new();
    if (!g->frames || !g->chains) {
        graft_free(g);
        return NULL;
    }
    return g;
}

static void graft_end(struct graft *g)
{
    processes_free(g->processes);
    table_free(g->saved);
    free(g->stacks);
    g->processes = NULL;
    g->saved = NULL;
    g->stacks = NULL;
    g->stacks_size = 0;
}

void graft_free(struct graft *g)
{
    if (!g)
        return;
    graft_end(g);
    free(g->frames);
    table_free(g->chains);
    free(g->between);
    free(g);
}

/* Indexes the store's stacks by their nodes. */
static int index_stacks(struct graft *g)
{
    struct store_stack s;
    for (size_t at = 0; at + sizeof s <= g->stacks_size; at += s.size) {
        memcpy(&s, g->stacks + at, sizeof s);
        if (s.size < sizeof s || s.size % 8 || s.size > g->stacks_size - at)
            break; /* the writer was killed: the rest cannot be parsed */
        if (!s.node)
            continue;
        if (!table_set(g->saved, s.node, at))
            return -ENOMEM;
    }
    return 0;
}

/* Adds a mapping of a part of an image to the process. */
static int add_mapping(struct graft *g, const struct store_image *image, uint64_t vaddr, uint64_t length,
                       uint64_t offset)
{
    struct record record = {.kind = RECORD_MMAP,
                            .pid = PID,
                            .tid = PID,
                            .mmap = {.address = vaddr + image->bias,
                                     .length = length,
                                     .offset = offset,
                                     .executable = true,
                                     .path = image->path}};
    struct build_id id = build_id_of(image->build_id, image->build_id_size);
    record.mmap.build_id_size = id.size;
    memcpy(record.mmap.build_id, id.bytes, id.size);
    return processes_apply(g->processes, &record, NULL);
}

/* Maps an image's segments where the process had them. */
static int add_image(struct graft *g, const struct store_image *image)
{
    struct image *file;
    struct build_id id = build_id_of(image->build_id, image->build_id_size);
    if (image->high <= image->low || image->high - image->low > UINT32_MAX ||
        image_cache_get(g->images, image->path, &id, &file, NULL) < 0)
        return 0;
    uint64_t low = image->low - image->bias, high = image->high - image->bias;
    int rc = 0;
    for (uint64_t at = low; rc == 0 && at < high;) {
        const uint64_t size = image_extent(file, at);
        uint64_t offset;
        if (size && image_offset(file, at, &offset)) {
            rc = add_mapping(g, image, at, size, offset);
            at += size;
        } else {
            at += PAGE - at % PAGE;
        }
    }
    return rc;
}

/* Unloaded images come first: others may now be at their addresses. */
static int add_images(struct graft *g, bool unloaded)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < g->store->header.image_count; i++)
        if ((g->store->images[i].unloaded != 0) == unloaded)
            rc = add_image(g, &g->store->images[i]);
    return rc;
}

int graft_begin(struct graft *g, struct store_file *store)
{
    graft_end(g);
    g->store = store;
    g->processes = processes_new(g->images, NULL);
    g->saved = table_new();
    if (!g->processes || !g->saved)
        return -ENOMEM;
    int rc = store_file_stacks(store, &g->stacks, &g->stacks_size);
    if (rc == 0)
        rc = index_stacks(g);
    if (rc == 0 && table_count(g->saved))
        rc = add_images(g, true);
    if (rc == 0 && table_count(g->saved))
        rc = add_images(g, false);
    return rc;
}

bool graft_has(const struct graft *g, uint32_t number)
{
    return table_find(g->saved, number);
}

/* The frame's function in the trie; TRIE_NONE: out of memory. */
static uint32_t function_of(struct graft *g, const struct place *place)
{
    uint32_t image = trie_image(g->trie, image_path(place->image), image_build_id(place->image));
    const struct image_function *f = image_function(place->image, place->function);
    return image == TRIE_NONE ? TRIE_NONE : trie_function(g->trie, image, f->address, f->name);
}

/* The node at or above `parent` that is this frame; TRIE_NONE: none. */
static uint32_t find_frame(const struct graft *g, uint32_t parent, uint32_t function, uint64_t height)
{
    const struct trie_node *nodes = g->trie->nodes;
    for (unsigned n = 0; n < ANCESTORS_MAX && parent != TRIE_ROOT; n++, parent = nodes[parent].parent) {
        if (nodes[parent].height < height)
            break;
        if (nodes[parent].height == height && nodes[parent].function == function)
            return parent;
    }
    return TRIE_NONE;
}

/* The frames of a saved stack. */
struct shown {
    size_t count, all; /* all: including those above the stack's base */
    bool whole;        /* complete up to where the stack begins */
};

/* Whether a stack can begin with the frame that has this CFA. libgcc overwrites the frame of _Unwind_Resume
 * before it jumps to a landing pad: a walk from there may go astray and find a return address of 0. A
 * thread's own stack is complete only if the walk gets to its base, or to `_start`, a word below it. */
static bool can_begin(const struct store_stack *s, uint64_t cfa, uint64_t base)
{
    return !s->own || cfa + 8 >= base;
}

static struct shown unwind_stack(const struct graft *g, const struct store_stack *s, uint64_t base)
{
    struct process *process = process_find(g->processes, PID);
    const uint8_t *bytes = (const uint8_t *)s + sizeof *s;
    struct sample sample = {.pid = PID,
                            .tid = PID,
                            .has_regs = true,
                            .sp = s->cfa,
                            .bp = s->bp,
                            .stack = bytes,
                            .stack_size = s->size - (uint32_t)sizeof *s};
    struct place place;
    struct cfi_row row;
    /* For a call, use the row of the byte before the return address; for a signal's restorer, its own. */
    bool restorer = process && process_cfi(process, s->back, &place, &row) && row.cfa == CFI_SIGNAL_FRAME;
    sample.ip = sample.reg_ip = s->back - !restorer;
    if (!process || unwind_begins(process, s->back))
        return (struct shown){.whole = process && can_begin(s, s->cfa, base)};
    enum unwind_end end;
    struct shown shown = {.count = unwind_sample(process, &sample, g->frames, FRAMES_MAX, &end)};
    if (shown.count && !restorer)
        g->frames[0].place.address++;
    shown.whole =
        (end == UNWIND_ROOT || end == UNWIND_SIGNAL) && can_begin(s, g->frames[shown.count - 1].cfa, base);
    shown.all = shown.count;
    while (shown.count && g->frames[shown.count - 1].cfa > base)
        shown.count--;
    return shown;
}

/* The call site in a frame of this function; 0: not distinguished (trie.h). */
static uint64_t site_in(const struct graft *g, uint32_t function, uint64_t address)
{
    return trie_keeps_sites(g->trie, g->trie->functions[function].image) ? address : 0;
}

/* A new child gets one pass. TRIE_NONE: failed. */
static uint32_t enter_frame(struct graft *g, uint32_t parent, uint32_t function, uint64_t height,
                            uint64_t site)
{
    if (height > UINT32_MAX)
        return TRIE_NONE;
    uint32_t child = trie_child(g->trie, parent, function, (uint32_t)height, site);
    if (child != TRIE_NONE && g->trie->nodes[child].passes == 0)
        trie_add(g->trie, child, 1, 0);
    return child;
}

static uint32_t height_of(const struct graft *g, uint32_t node)
{
    return node == TRIE_ROOT ? 0 : g->trie->nodes[node].height;
}

static uint32_t outer_function(const struct graft *g, uint32_t node)
{
    return node == TRIE_ROOT ? TRIE_NONE : g->trie->nodes[node].function;
}

static uint64_t key_of(const struct chain_key *key)
{
    uint64_t words[] = {key->outer, key->inner, key->back, key->image, key->rise};
    return checksum_of(words, sizeof words);
}

static bool add_between(struct graft *g, struct between b)
{
    return vec_push(g->between, g->between_count, g->between_capacity, b);
}

/* Stores the nodes from below `outer` to `inner`, and the call from there, for nodes without a stack. */
static int add_chain(struct graft *g, const struct chain_key *key, uint32_t outer, uint32_t inner,
                     uint64_t site)
{
    bool added;
    uint64_t *place = table_put(g->chains, key_of(key), &added);
    if (!place)
        return -ENOMEM;
    if (!added)
        return 0;
    size_t first = g->between_count, depth = 0;
    for (uint32_t at = inner; at != outer; at = g->trie->nodes[at].parent)
        depth++;
    *place = (uint64_t)first << 32 | depth;
    for (size_t i = 0; i <= depth; i++)
        if (!add_between(g, (struct between){.site = site}))
            return -ENOMEM;
    for (uint32_t at = inner; at != outer; at = g->trie->nodes[at].parent) {
        const struct trie_node *n = &g->trie->nodes[at];
        g->between[first + --depth] = (struct between){n->function, n->height - height_of(g, outer), n->site};
    }
    return 0;
}

/* The site of frames[i], to be entered below `parent`. A thread's first function has one in clone3, which
 * identifies such stacks (shared_levels.h) and agrees with the merged samples: with another site, one call
 * would get two nodes. */
static uint64_t site_of(const struct graft *g, struct shown shown, size_t i, uint32_t parent)
{
    if (i + 1 >= shown.all || g->frames[i + 1].interrupted)
        return 0;
    uint64_t address = g->frames[i + 1].place.address;
    return parent == TRIE_ROOT ? address : site_in(g, g->trie->nodes[parent].function, address);
}

/* Enters the first `count` frames below `outer`; *parent: the innermost. */
static int enter_frames(struct graft *g, struct shown shown, uint64_t base, uint32_t outer, size_t count,
                        uint32_t *parent)
{
    uint32_t at = outer;
    for (size_t i = count; i-- > 0;) {
        const struct unwind_frame *frame = &g->frames[i];
        uint32_t function = function_of(g, &frame->place);
        uint64_t site = site_of(g, shown, i, at);
        if (function != TRIE_NONE)
            at = enter_frame(g, at, function, base - frame->cfa, site);
        if (function == TRIE_NONE || at == TRIE_NONE)
            return -ENOMEM;
    }
    *parent = at;
    return 0;
}

/* The number of frames between a saved stack's callee and the first frame that belongs to `parent` or a node
 * above it; *outer: that node, TRIE_NONE: none. -ENOMEM. */
static ptrdiff_t find_outer(struct graft *g, struct shown shown, uint64_t base, uint32_t parent,
                            uint32_t *outer)
{
    size_t i = 0;
    *outer = TRIE_NONE;
    for (; i < shown.count && g->frames[i].place.function != IMAGE_NO_FUNCTION; i++) {
        uint32_t function = function_of(g, &g->frames[i].place);
        if (function == TRIE_NONE)
            return -ENOMEM;
        *outer = find_frame(g, parent, function, base - g->frames[i].cfa);
        if (*outer != TRIE_NONE)
            return (ptrdiff_t)i;
    }
    /* For example, the loader's calls of constructors do not come from `_start`. */
    if (i == shown.count && shown.whole)
        *outer = TRIE_ROOT;
    return (ptrdiff_t)i;
}

/* graft_enter() by the stack that was saved for the node. */
static int by_stack(struct graft *g, const struct store_stack *s, const struct store_node *node,
                    uint32_t function, uint32_t *parent, uint64_t *site)
{
    uint64_t base = s->cfa + store_height(node);
    struct shown shown = unwind_stack(g, s, base);
    uint32_t outer, inner;
    ptrdiff_t count = find_outer(g, shown, base, *parent, &outer);
    if (count < 0 || outer == TRIE_NONE)
        return count < 0 ? -ENOMEM : 0;
    if (enter_frames(g, shown, base, outer, (size_t)count, &inner) < 0)
        return -ENOMEM;
    *parent = inner;
    *site = 0;
    if (inner == TRIE_ROOT)
        return 1;
    const struct place *place = &g->frames[0].place;
    uint32_t caller = g->trie->nodes[inner].function;
    *site = site_in(g, caller, place->address);
    if (!count || !node->site)
        return 1;
    struct chain_key key = {.outer = outer_function(g, outer),
                            .inner = function,
                            .back = place->address,
                            .image = g->trie->functions[caller].image,
                            .rise = store_height(node) - height_of(g, outer)};
    return add_chain(g, &key, outer, inner, *site) < 0 ? -ENOMEM : 1;
}

/* The return address of a node in one of the store's images; false: in none. */
static bool find_site(struct graft *g, const struct store_node *node, struct chain_key *key)
{
    const struct store_image *image = store_file_image(g->store, node->site, &key->back);
    if (!image)
        return false;
    struct build_id id = build_id_of(image->build_id, image->build_id_size);
    key->image = trie_image(g->trie, image->path, &id);
    return key->image != TRIE_NONE;
}

/* graft_enter() by the frames of another node. */
static int by_others(struct graft *g, const struct store_node *node, uint32_t function, uint32_t *parent,
                     uint64_t *site)
{
    struct chain_key key = {.outer = outer_function(g, *parent),
                            .inner = function,
                            .rise = store_height(node) - height_of(g, *parent)};
    if (!node->site || !find_site(g, node, &key))
        return 0;
    const uint64_t *place = table_find(g->chains, key_of(&key));
    if (!place)
        return 0;
    size_t first = *place >> 32, depth = (uint32_t)*place;
    uint32_t at = *parent, height = height_of(g, *parent);
    for (size_t i = first; i < first + depth; i++) {
        at = enter_frame(g, at, g->between[i].function, (uint64_t)height + g->between[i].rise,
                         g->between[i].site);
        if (at == TRIE_NONE)
            return -ENOMEM;
    }
    *parent = at;
    *site = g->between[first + depth].site;
    return 1;
}

int graft_enter(struct graft *g, uint32_t number, const struct store_node *node, uint32_t function,
                uint32_t *parent, uint64_t *site)
{
    const uint64_t *at = table_find(g->saved, number);
    const struct store_stack *s = at ? (const struct store_stack *)(const void *)(g->stacks + *at) : NULL;
    int found = s ? by_stack(g, s, node, function, parent, site) : 0;
    return found ? found : by_others(g, node, function, parent, site);
}
