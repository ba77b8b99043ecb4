/*
 * harvest.c - adds a store's trees to a trie; see harvest.h.
 *
 * A node's parent usually has a smaller number, but this is not guaranteed: a node is entered after its
 * ancestors. Each node is visited once, so cycles end and time is linear.
 */
#include "pathmap/train/harvest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "base/vec.h"
#include "pathmap/map/partial.h"
#include "pathmap/map/trie_data.h"
#include "pathmap/train/graft.h"
#include "pathmap/train/store_file.h"
#include "process/partial.h"

#define CALLERS_MAX 256 /* frames searched for the caller */

_Static_assert(STORE_SIGNAL_HEIGHT == UNWIND_SIGNAL_HEIGHT && STORE_SIGNAL_HEIGHT > PARTIAL_HEIGHT,
               "hooks and unwound stacks give the same heights");

/* What is known about a node. */
struct known {
    uint32_t state; /* UNKNOWN, UNSOUND, or its node in the trie + ENTERED */
};
enum { UNKNOWN, UNSOUND, ENTERED };

struct code {            /* of a function */
    uint32_t in;         /* the store's number of its image; STORE_NO_IMAGE: unknown */
    struct image *image; /* NULL: it could not be opened */
    uint32_t index;      /* in the image */
};

struct step { /* of the walk from a node to its parents */
    uint32_t number;
    struct store_node node;
};

struct reading {
    struct store_file store;
    struct trie *trie;
    struct image_cache *cache;
    struct harvest *harvest;
    struct known *known;   /* by node number - node_first */
    uint32_t *images;      /* by the store's number; TRIE_NONE: not added yet */
    struct image **opened; /* by the same; NULL: not (yet) */
    uint32_t nowhere;      /* the trie's image of functions without one; TRIE_NONE: not looked up yet */
    uint32_t *functions;   /* by the store's number; TRIE_NONE: not added yet */
    struct code *codes;    /* by the trie's number of a function */
    uint32_t code_count;
    struct step *steps;
    size_t step_capacity;
};

static uint32_t reading_image(struct reading *r, uint32_t number)
{
    if (number == STORE_NO_IMAGE) {
        static const struct build_id none;
        if (r->nowhere == TRIE_NONE)
            r->nowhere = trie_image(r->trie, "[anonymous]", &none);
        return r->nowhere;
    }
    if (r->images[number] != TRIE_NONE)
        return r->images[number];
    const struct store_image *image = &r->store.images[number];
    struct build_id id = build_id_of(image->build_id, image->build_id_size);
    if (image_cache_get(r->cache, image->path, &id, &r->opened[number], NULL) < 0)
        r->opened[number] = NULL;
    uint32_t added = trie_image(r->trie, image->path, &id);
    if (added != TRIE_NONE)
        trie_set_entered(r->trie, added);
    if (added != TRIE_NONE && !r->harvest->partial)
        trie_set_hooked(r->trie, added); /* it has functions, so it was hooked */
    return r->images[number] = added;
}

/* Notes the location of the code of one of the trie's functions. */
static bool reading_note(struct reading *r, uint32_t function, struct code code)
{
    uint32_t known = r->code_count;
    if (!vec_reserve(r->codes, function, r->code_count, 1))
        return false;
    for (uint32_t i = known; i < r->code_count; i++)
        r->codes[i] = (struct code){.in = STORE_NO_IMAGE};
    r->codes[function] = code;
    return true;
}

/* The trie's number of a function: 1; 0: the store's number is invalid; -1: out of memory. */
static int reading_function(struct reading *r, uint32_t number, uint32_t *out)
{
    if (number == 0 || number >= r->store.header.function_count)
        return 0;
    const struct store_function *f = &r->store.functions[number];
    if (f->image >= r->store.header.image_count && f->image != STORE_NO_IMAGE)
        return 0;
    if (r->functions[number] == TRIE_NONE) {
        uint32_t image = reading_image(r, f->image);
        if (image == TRIE_NONE)
            return -1;
        struct code code = {.in = f->image, .index = IMAGE_NO_FUNCTION};
        if (f->image != STORE_NO_IMAGE && r->opened[f->image]) {
            code.image = r->opened[f->image];
            code.index = image_function_entry(code.image, f->vaddr);
        }
        const char *name =
            code.index == IMAGE_NO_FUNCTION ? NULL : image_function(code.image, code.index)->name;
        uint32_t function = trie_function(r->trie, image, f->vaddr, name);
        if (function == TRIE_NONE || !reading_note(r, function, code))
            return -1;
        r->functions[number] = function;
    }
    *out = r->functions[number];
    return 1;
}

/* The code of a trie's function in this store; .in is STORE_NO_IMAGE if there is none. */
static struct code reading_code(const struct reading *r, uint32_t function)
{
    return function < r->code_count ? r->codes[function] : (struct code){.in = STORE_NO_IMAGE};
}

/* A return address (its low 32 bits) as an address in an image; 0 if it is elsewhere. */
static uint64_t reading_site(const struct reading *r, uint32_t in, uint32_t site)
{
    uint64_t address;
    bool inside = site && in != STORE_NO_IMAGE && store_image_has(&r->store.images[in], site, &address);
    return inside ? address : 0;
}

/* Finds the node that made the call that returns to `site`: *parent, or else the next one above it whose
 * function contains the site. The runtime can mistake a frame for the caller that has returned but is not
 * overwritten yet. *address: the site in the caller's image; 0 if it is in another: in unhooked code that
 * calls back. false: in none of the functions. */
static bool reading_caller(const struct reading *r, uint32_t site, uint32_t *parent, uint64_t *address)
{
    const struct trie_node *nodes = r->trie->nodes;
    uint32_t at = *parent;
    *address = at == TRIE_ROOT ? 0 : reading_site(r, reading_code(r, nodes[at].function).in, site);
    for (unsigned n = 0; n < CALLERS_MAX && at != TRIE_ROOT; n++, at = nodes[at].parent) {
        struct code code = reading_code(r, nodes[at].function);
        uint64_t found = reading_site(r, code.in, site);
        if (found && code.index != IMAGE_NO_FUNCTION &&
            image_function_at(code.image, found - 1) == code.index) {
            *parent = at;
            *address = found;
            return true;
        }
    }
    return false;
}

/* A call through the procedure linkage table runs a few instructions of a stub, which has no hook: adds the
 * stub as the callee's sibling, at the same height and with the same caller. */
static bool reading_stub(struct reading *r, uint32_t parent, uint64_t address, const struct store_node *node)
{
    if (parent == TRIE_ROOT || address < 5)
        return true;
    struct code code = reading_code(r, r->trie->nodes[parent].function);
    size_t size;
    const uint8_t *call = code.image ? image_bytes(code.image, address - 5, &size) : NULL;
    if (!call || size < 5 || call[0] != 0xe8)
        return true;
    int32_t distance;
    memcpy(&distance, call + 1, sizeof distance);
    uint32_t index = image_function_at(code.image, address + (uint64_t)(int64_t)distance);
    if (index == IMAGE_NO_FUNCTION || !image_function_is_stub(code.image, index))
        return true;
    const struct image_function *f = image_function(code.image, index);
    uint32_t function = trie_function(r->trie, r->images[code.in], f->address, f->name);
    uint32_t child = function == TRIE_NONE
                         ? TRIE_NONE
                         : trie_child(r->trie, parent, function, store_height(node), address);
    trie_add(r->trie, child, store_count(node), 0);
    return child != TRIE_NONE;
}

/* Adds a store's counts of a node. */
static void reading_count(struct reading *r, uint32_t child, const struct store_node *node, struct known *out)
{
    trie_add(r->trie, child, store_count(node), r->harvest->own ? store_count(node) : 0);
    *out = (struct known){child + ENTERED};
    r->harvest->nodes++;
    r->harvest->calls = add_saturating(r->harvest->calls, store_count(node));
}

/* Enters the first handler on an alternate stack, below the root of such partial paths. */
static int reading_signal(struct reading *r, const struct store_node *node, uint32_t function,
                          struct known *out)
{
    const uint32_t root = partial_node(r->trie, PARTIAL_SIGNAL);
    uint32_t child = root == TRIE_NONE || store_height(node) <= PARTIAL_HEIGHT
                         ? root
                         : trie_child(r->trie, root, function, store_height(node), 0);
    if (child == TRIE_NONE)
        return -ENOMEM;
    if (child == root) /* not written by this runtime */
        return 0;
    trie_add(r->trie, root, store_count(node), 0);
    reading_count(r, child, node, out);
    return 0;
}

/* Enters a node below one already entered; *out: what is then known about it. */
static int reading_enter(struct reading *r, uint32_t number, const struct store_node *node,
                         const struct known *above, struct known *out)
{
    uint32_t function, parent = above->state - ENTERED;
    int sound = reading_function(r, node->function, &function);
    if (sound < 0)
        return -ENOMEM;
    out->state = UNSOUND;
    if (!sound || (parent != TRIE_ROOT && store_height(node) <= r->trie->nodes[parent].height))
        return 0;
    uint64_t address = 0;
    struct graft *graft = r->harvest->graft;
    int grafted = 0;
    if (parent == TRIE_ROOT && node->height & STORE_SIGNAL)
        return reading_signal(r, node, function, out);
    if (graft_has(graft, number) || !reading_caller(r, node->site, &parent, &address))
        grafted = graft_enter(graft, number, node, function, &parent, &address);
    if (grafted == 0 && graft_has(graft, number))
        reading_caller(r, node->site, &parent, &address);
    uint32_t child =
        grafted < 0 ? TRIE_NONE : trie_child(r->trie, parent, function, store_height(node), address);
    if (child == TRIE_NONE || !reading_stub(r, parent, address, node))
        return -ENOMEM;
    reading_count(r, child, node, out);
    return 0;
}

/* NULL: no such node. */
static struct known *reading_known(const struct reading *r, uint32_t number)
{
    bool there = number >= r->store.node_first && number < r->store.node_end;
    return there ? &r->known[number - r->store.node_first] : NULL;
}

static bool is_root(const struct store_node *node)
{
    return node->function == STORE_ROOT && node->parent == 0;
}

/* Enters a node that is in use, after its ancestors. */
static int reading_visit(struct reading *r, uint32_t number, struct store_node node)
{
    static const struct known unsound = {UNSOUND}, root = {TRIE_ROOT + ENTERED};
    struct known above = unsound; /* of the node at which the walk ends */
    size_t depth = 0;
    for (uint32_t at = number;;) {
        struct known *known = reading_known(r, at);
        if (!known || known->state != UNKNOWN) {
            above = known ? *known : unsound;
            break;
        }
        if (depth && !store_file_node(&r->store, at, &node))
            break;
        *known = is_root(&node) ? root : unsound; /* until its ancestors prove sound: a cycle ends here */
        if (is_root(&node)) {
            above = root;
            break;
        }
        if (!vec_reserve(r->steps, depth, r->step_capacity, 1))
            return -ENOMEM;
        r->steps[depth++] = (struct step){at, node};
        at = node.parent;
    }
    while (depth-- > 0) {
        struct known *known = reading_known(r, r->steps[depth].number);
        if (above.state != UNSOUND &&
            reading_enter(r, r->steps[depth].number, &r->steps[depth].node, &above, known) < 0)
            return -ENOMEM;
        r->harvest->unsound += known->state == UNSOUND;
        above = *known;
    }
    return 0;
}

static int reading_nodes(struct reading *r)
{
    struct store_file *s = &r->store;
    uint32_t first, end;
    int rc = 0;
    for (end = store_file_next(s, 0, &first); first < end && rc == 0; end = store_file_next(s, end, &first)) {
        for (uint32_t at = first; at < end && rc == 0; at++) {
            struct store_node node;
            if (reading_known(r, at)->state == UNKNOWN && store_file_node(s, at, &node))
                rc = reading_visit(r, at, node);
        }
    }
    return rc;
}

static uint64_t hooks_of(const struct store_summary *s)
{
    return (uint64_t)s->sleds + s->detours + s->pads + s->breakpoints;
}

/* Notes how an image of the store was hooked. */
static int add_image(struct harvest *h, const struct store_image *image)
{
    for (size_t i = 0; i < h->image_count; i++) {
        struct harvest_image *known = &h->images[i];
        if (strcmp(known->path, image->path) != 0)
            continue;
        if (hooks_of(&image->summary) > hooks_of(&known->hooks))
            known->hooks = image->summary;
        return 0;
    }
    if (!vec_reserve(h->images, h->image_count, h->image_capacity, 1))
        return -ENOMEM;
    char *path = strdup(image->path);
    if (!path)
        return -ENOMEM;
    h->images[h->image_count++] = (struct harvest_image){path, image->summary};
    return 0;
}

static int add_header(struct reading *r)
{
    struct harvest *h = r->harvest;
    const struct store_header *from = &r->store.header;
    h->stores++;
    h->threads += from->thread_count;
    h->purged = add_saturating(h->purged, from->purged);
    h->bound = add_saturating(h->bound, from->bound);
    h->bursts = add_saturating(h->bursts, from->bursts);
    h->bursts_omitted = add_saturating(h->bursts_omitted, from->bursts_omitted);
    h->burst_ns = add_saturating(h->burst_ns, from->burst_ns);
    h->dropped = add_saturating(h->dropped, from->dropped);
    h->dropped_depth = add_saturating(h->dropped_depth, from->dropped_depth);
    h->dropped_stack = add_saturating(h->dropped_stack, from->dropped_stack);
    if (!h->failure)
        h->failure = from->failure;
    int rc = 0;
    for (uint32_t i = 0; i < from->image_count && rc == 0; i++)
        rc = add_image(h, &r->store.images[i]);
    return rc;
}

/* An array of `count` numbers that are all TRIE_NONE. */
static uint32_t *new_unset(uint32_t count)
{
    uint32_t *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
    if (numbers)
        memset(numbers, 0xff, ((size_t)count + 1) * sizeof *numbers);
    return numbers;
}

int harvest_store(struct harvest *harvest, struct trie *trie, struct image_cache *images, const char *path,
                  struct fathom_error *err)
{
    struct reading r = {.trie = trie, .cache = images, .harvest = harvest, .nowhere = TRIE_NONE};
    int rc = store_file_open(path, &r.store, err);
    if (rc < 0)
        return rc;
    uint64_t calls = harvest->calls;
    r.known = calloc((size_t)r.store.node_end - r.store.node_first + 1, sizeof *r.known);
    r.images = new_unset(r.store.header.image_count);
    r.opened = calloc((size_t)r.store.header.image_count + 1, sizeof *r.opened);
    r.functions = new_unset(r.store.header.function_count);
    if (!harvest->graft)
        harvest->graft = graft_new(trie, images);
    if (!r.known || !r.images || !r.opened || !r.functions || !harvest->graft)
        rc = -ENOMEM;
    if (rc == 0)
        rc = graft_begin(harvest->graft, &r.store);
    if (rc == 0) {
        trie_reserve(trie, r.store.node_most);
        rc = reading_nodes(&r);
    }
    if (rc == 0)
        rc = add_header(&r);
    if (rc == 0) {
        struct trie_statistics *statistics = trie_statistics(trie);
        statistics->paths_entered = add_saturating(statistics->paths_entered, harvest->calls - calls);
    } else {
        error_memory(err);
    }
    free(r.known);
    free(r.images);
    free(r.opened);
    free(r.functions);
    free(r.codes);
    free(r.steps);
    store_file_close(&r.store);
    return rc;
}
