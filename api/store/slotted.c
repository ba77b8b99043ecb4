#include "api/store/slotted.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "base/vec.h"
#include "image/mapped_name.h"
#include "infer/contexts/certainty.h"
#include "profile/levels.h"
#include "store/kind.h"

/* Who ran: texts of frames. */
struct who {
    const char *container, *service, *exe;
};

struct owner {
    const char *service;
    char build[2 * BUILD_ID_MAX + 1];
};

/* What is known of a node of the report's tree. */
struct spot {
    uint32_t context; /* in the dictionary; DICTIONARY_NONE: the node is a level */
    struct who who;
    uint32_t owner; /* plus 1; 0: not looked up yet */
};

struct entry {
    uint64_t batch, context;
    uint64_t count, weight;
    double right;
    uint8_t certainty;
};

struct slotted {
    struct slotted_options options;
    struct dictionary *dictionary;
    struct table *owner_numbers, *batch_numbers, *entry_numbers; /* a hash, or a packed key -> number + 1 */
    struct owner *owners;
    struct store_batch *batches;
    struct entry *entries;
    struct store_entry *stored;
    size_t owner_count, owner_capacity, batch_count, batch_capacity, entry_count, entry_capacity;
    struct names *names; /* of services, and builds, hexadecimal */
};

/* One report being added. */
struct adding {
    struct slotted *slots;
    const struct report *report;
    struct table *numbers; /* node -> its spot's number */
    struct spot *spots;
    size_t count, capacity;
};

struct slotted *slotted_new(const struct slotted_options *options)
{
    struct slotted *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->options = *options;
    s->dictionary = dictionary_new();
    s->owner_numbers = table_new();
    s->batch_numbers = table_new();
    s->entry_numbers = table_new();
    s->names = names_new();
    if (s->dictionary && s->owner_numbers && s->batch_numbers && s->entry_numbers && s->names)
        return s;
    slotted_free(s);
    return NULL;
}

void slotted_free(struct slotted *s)
{
    if (!s)
        return;
    dictionary_free(s->dictionary);
    table_free(s->owner_numbers);
    table_free(s->batch_numbers);
    table_free(s->entry_numbers);
    names_free(s->names);
    free(s->owners);
    free(s->batches);
    free(s->entries);
    free(s->stored);
    free(s);
}

/* Contexts ------------------------------------------------------------------------------------------------------- */

static void take_level(struct who *who, const struct frame *frame)
{
    const enum level level = level_of(frame);
    const char **to = level == LEVEL_CONTAINER ? &who->container
                      : level == LEVEL_SERVICE ? &who->service
                                               : &who->exe;
    *to = frame->name;
}

/* Visits nodes in preorder: callers first. */
static int take_nodes(struct adding *a, struct fathom_error *err)
{
    const struct contexts *c = a->report->contexts;
    struct dictionary *d = a->slots->dictionary;
    struct cct_node *root = cct_root(c->tree);
    for (struct cct_node *at = root; at; at = cct_next(root, at)) {
        struct spot spot = {.context = DICTIONARY_NONE, .who = {"", "", ""}};
        const struct frame *frame = at == root ? NULL : frames_at(c->frames, at->item);
        if (frame)
            spot = a->spots[*table_find(a->numbers, (uintptr_t)cct_parent(at))];
        spot.owner = 0;
        if (frame && frame->kind == FRAME_LEVEL) {
            take_level(&spot.who, frame);
        } else if (frame) {
            const uint32_t item = dictionary_frame(d, stored_kinds[frame->kind], frame->image, frame->name);
            if (item != DICTIONARY_NONE)
                spot.context = dictionary_context(d, spot.context, item);
            if (item == DICTIONARY_NONE || spot.context == DICTIONARY_NONE)
                return error_memory(err);
        }
        if (!table_set(a->numbers, (uintptr_t)at, a->count) ||
            !vec_push(a->spots, a->count, a->capacity, spot))
            return error_memory(err);
    }
    return 0;
}

/* Batches -------------------------------------------------------------------------------------------------------- */

/* A text in brackets means that there is none. */
static bool is_known(const char *text)
{
    return *text && *text != '[';
}

static bool is_service(const char *unit)
{
    const size_t length = strlen(unit), suffix = sizeof ".service" - 1;
    return is_known(unit) && length > suffix && strcmp(unit + length - suffix, ".service") == 0;
}

/* The program's name without " (deleted)", so that it is the same service after its file was replaced by a new build. NULL: out of memory. */
static const char *program_of(struct slotted *s, const char *exe)
{
    const char *name = path_base(exe);
    if (!mapped_is_gone(name))
        return name;
    char *path = strndup(name, mapped_path_length(name));
    const char *interned = path ? names_text(s->names, names_intern(s->names, path)) : NULL;
    free(path);
    return interned;
}

static const char *service_of(const struct adding *a, const struct who *who)
{
    return a->slots->options.service  ? a->slots->options.service
           : is_known(who->container) ? who->container
           : is_service(who->service) ? who->service
                                      : program_of(a->slots, who->exe);
}

/* Uses only the recording, so that a batch always has the same key. */
static void find_build(const struct adding *a, const char *exe, char out[2 * BUILD_ID_MAX + 1])
{
    struct build_id id = {.size = reader_build_id(a->slots->options.reader, exe, id.bytes)};
    *out = '\0';
    if (id.size)
        build_id_format(&id, out);
}

/* The number of a node's owner, plus 1. 0: out of memory. Texts of frames are interned, so that their addresses identify them. */
static uint32_t owner_of(struct adding *a, struct spot *spot)
{
    struct slotted *s = a->slots;
    if (spot->owner)
        return spot->owner;
    const char *service = service_of(a, &spot->who);
    const uint64_t key = hash_u64((uintptr_t)service) + (uintptr_t)spot->who.exe;
    uint64_t *number = !service ? NULL : table_put(s->owner_numbers, key, NULL);
    if (number && !*number) {
        struct owner owner = {.service = service};
        find_build(a, spot->who.exe, owner.build);
        *number = vec_push(s->owners, s->owner_count, s->owner_capacity, owner) ? s->owner_count : 0;
    }
    return spot->owner = number ? (uint32_t)*number : 0;
}

static uint64_t slot_of(const struct slotted *s, uint64_t time)
{
    const uint64_t before = s->options.last > time ? s->options.last - time : 0, ended = s->options.ended,
                   at = (ended > before ? ended - before : 0) / SECOND_NS;
    return at - at % STORE_SLOT;
}

/* The number of a batch, plus 1; 0: out of memory. Owners with the same service and build share a batch. */
static uint64_t batch_of(struct adding *a, uint32_t owner, uint64_t slot)
{
    struct slotted *s = a->slots;
    const struct owner *o = &s->owners[owner - 1];
    const char *build = names_text(s->names, names_intern(s->names, o->build)),
               *service = names_text(s->names, names_intern(s->names, o->service)),
               *event = a->report->heading->event;
    if (!build || !service)
        return 0;
    const uint64_t of[] = {(uintptr_t)build, (uintptr_t)service, (uintptr_t)a->report, slot};
    uint64_t key = 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        key = hash_u64(key + of[i]);
    uint64_t *number = table_put(s->batch_numbers, key, NULL);
    if (number && !*number) {
        const struct store_batch batch = {
            .key = {service, event, s->options.host, build, slot, s->options.sequence, 0},
            .unit = a->report->view->unit};
        *number = vec_push(s->batches, s->batch_count, s->batch_capacity, batch) ? s->batch_count : 0;
    }
    return number ? *number : 0;
}

static struct entry *entry_of(struct slotted *s, uint64_t batch, uint32_t context, uint8_t certainty)
{
    _Static_assert(CERTAINTIES <= 4, "two bits");
    uint64_t *number = table_put(s->entry_numbers, batch << 34 | (uint64_t)context << 2 | certainty, NULL);
    if (!number)
        return NULL;
    if (!*number) {
        const struct entry entry = {.batch = batch, .context = context, .certainty = certainty};
        if (!vec_push(s->entries, s->entry_count, s->entry_capacity, entry))
            return NULL;
        *number = s->entry_count;
    }
    return &s->entries[*number - 1];
}

/* Gives a path without frames an unknown context. */
static bool name_unknown(struct slotted *s, struct spot *spot)
{
    const uint32_t frame =
        dictionary_frame(s->dictionary, stored_kinds[FRAME_UNKNOWN_CONTEXT], "", "[unknown context]");
    spot->context =
        frame == DICTIONARY_NONE ? frame : dictionary_context(s->dictionary, DICTIONARY_NONE, frame);
    return spot->context != DICTIONARY_NONE;
}

static bool add_sample(struct adding *a, size_t i)
{
    struct slotted *s = a->slots;
    const struct contexts *c = a->report->contexts;
    const struct placed_sample *sample = &c->samples[i];
    const uint64_t weight = c->sample_values[i * c->metrics->count];
    struct spot *spot = &a->spots[*table_find(a->numbers, (uintptr_t)sample->node)];
    if (spot->context == DICTIONARY_NONE && !name_unknown(s, spot))
        return false;
    const uint32_t owner = owner_of(a, spot);
    const uint64_t number = owner ? batch_of(a, owner, slot_of(s, sample->time)) : 0;
    struct entry *entry = number ? entry_of(s, number - 1, spot->context, sample->certainty) : NULL;
    if (!entry)
        return false;
    struct store_batch *batch = &s->batches[number - 1];
    batch->samples++;
    batch->weight = add_saturating(batch->weight, weight);
    entry->count++;
    entry->weight = add_saturating(entry->weight, weight);
    entry->right += (double)weight * (double)sample->probability;
    return true;
}

int slotted_add(struct slotted *s, const struct report *report, struct fathom_error *err)
{
    struct adding a = {.slots = s, .report = report, .numbers = table_new()};
    int rc = a.numbers ? take_nodes(&a, err) : error_memory(err);
    for (size_t i = 0; rc == 0 && i < report->contexts->sample_count; i++)
        rc = add_sample(&a, i) ? 0 : error_memory(err);
    table_free(a.numbers);
    free(a.spots);
    return rc;
}

static uint8_t sure_of(const struct entry *e)
{
    if (e->certainty != CERTAINTY_INFERRED)
        return e->certainty == CERTAINTY_PROVED ? STORE_PROVED : STORE_UNKNOWN;
    const double part = e->weight ? e->right / (double)e->weight * STORE_PROVED + 0.5 : 0;
    return part < 1 ? 1 : part > STORE_SURE_MOST ? STORE_SURE_MOST : (uint8_t)part;
}

int slotted_finish(struct slotted *s, struct store_batch **batches, size_t *count,
                   struct dictionary **dictionary, struct fathom_error *err)
{
    s->stored = calloc(s->entry_count + 1, sizeof *s->stored);
    if (!s->stored)
        return error_memory(err);
    sort_by(s->entries, s->entry_count, batch);
    for (size_t i = 0; i < s->entry_count; i++) {
        const struct entry *e = &s->entries[i];
        struct store_batch *batch = &s->batches[e->batch];
        s->stored[i] = (struct store_entry){e->context, e->count, e->weight, sure_of(e), 0};
        batch->entries = batch->entries ? batch->entries : &s->stored[i];
        batch->count++;
    }
    *batches = s->batches;
    *count = s->batch_count;
    *dictionary = s->dictionary;
    return 0;
}
