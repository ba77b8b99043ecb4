/* code_names.c - see code_names.h. */
#include "image/made/code_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"

#define STEPS_MOST 4096u /* per look-up: more than code is really replaced at one address */

/* Code that was replaced by other code, by address and time. The pieces are sorted by address and form a tree: the
 * middle one of a range is its root, and stores the furthest end in the range. So finding the code at an address
 * takes time in proportion to how much code was there, within a bound. */
struct code_past {                       /* zeroed: empty */
    const struct code_names_past *items; /* borrowed */
    uint32_t count;
    uint64_t *reach;   /* by item: the furthest end in its range */
    uint64_t *changes; /* the times at which they were replaced, ascending */
};

struct code_set {
    uint32_t pid, count;
    uint64_t until;
    const struct code_names *names;
    const struct code_names_entry *entries; /* owned by the names */
    struct code_past past;
};

/* The function of a name. */
struct name {
    const char *text;
    uint64_t address;      /* of its function; 0: none, as for a file's name */
    uint32_t first, count; /* places */
};

struct code_names {
    char *text;
    struct name *names;
    struct code_names_place *places;
    struct code_function *functions;
    struct code_set *sets;
    struct code_names_entry *entries;
    struct code_names_past *past;
    uint32_t name_count, place_count, set_count, function_count;
};

/* Addresses are limited to the span of an image (elf/elf_file.h), that is 2^27 slots; the maximal number of names
 * takes 1% of these, the maximal number of places another 1%. */
#define SLOTS (UINT32_C(1) << 27)
#define TRIES 64u /* to find adjacent slots; otherwise the function gets one, and no places */

static uint64_t end_of(const struct code_names_past *item)
{
    uint64_t end;
    return __builtin_add_overflow(item->address, item->size, &end) ? UINT64_MAX : end;
}

/* Computes a range's reach. The recursion's depth is the logarithm of the count. */
static uint64_t measure_reach(struct code_past *p, uint32_t low, uint32_t high)
{
    if (low == high)
        return 0;
    const uint32_t middle = low + (high - low) / 2;
    const uint64_t left = measure_reach(p, low, middle), right = measure_reach(p, middle + 1, high),
                   own = end_of(&p->items[middle]), both = left > right ? left : right;
    return p->reach[middle] = own > both ? own : both;
}

/* Builds the tree of pieces sorted by address. false: out of memory. */
static bool code_past_make(struct code_past *p, const struct code_names_past *items, uint32_t count)
{
    *p = (struct code_past){.items = items, .count = count};
    if (!count)
        return true;
    p->reach = malloc(count * sizeof *p->reach);
    p->changes = malloc(count * sizeof *p->changes);
    if (!p->reach || !p->changes)
        return false;
    measure_reach(p, 0, count);
    for (uint32_t i = 0; i < count; i++)
        p->changes[i] = items[i].until;
    sort_numbers(p->changes, count);
    return true;
}

static void code_past_clear(struct code_past *p)
{
    free(p->reach);
    free(p->changes);
    *p = (struct code_past){.items = NULL};
}

struct search {
    const struct code_past *past;
    uint64_t pc, time;
    uint32_t steps;
    const struct code_names_past *best; /* of the pieces replaced after the time, the one replaced first */
};

static void search_range(struct search *l, uint32_t low, uint32_t high)
{
    while (low < high && l->steps) {
        const uint32_t middle = low + (high - low) / 2;
        const struct code_names_past *item = &l->past->items[middle];
        l->steps--;
        if (l->past->reach[middle] <= l->pc)
            return;
        search_range(l, low, middle);
        if (item->address > l->pc)
            return;
        if (l->pc < end_of(item) && l->time < item->until && (!l->best || item->until < l->best->until))
            l->best = item;
        low = middle + 1;
    }
}

/* The code at a PC at a time, if it was replaced later; NULL: none, or the search takes too long. */
static const struct code_names_past *code_past_at(const struct code_past *p, uint64_t pc, uint64_t time)
{
    struct search l = {.past = p, .pc = pc, .time = time, .steps = STEPS_MOST};
    search_range(&l, 0, p->count);
    return l.steps ? l.best : NULL;
}

void code_names_free(struct code_names *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; n->sets && i < n->set_count; i++)
        code_past_clear(&n->sets[i].past);
    free(n->text);
    free(n->names);
    free(n->places);
    free(n->functions);
    free(n->sets);
    free(n->entries);
    free(n->past);
    free(n);
}

/* Takes the first free slot from *slot on. A taken slot stores where to search next, updated to what was found,
 * so that hostile names with equal hashes cost little more. false: out of memory. */
static bool take_slot(struct table *taken, uint32_t *slot)
{
    const uint32_t first = *slot;
    bool added = false;
    uint64_t *next;
    while ((next = table_put(taken, *slot, &added)) && !added)
        *slot = (uint32_t)*next;
    if (!next)
        return false;
    const uint32_t behind = (*slot + 1) % SLOTS;
    *next = behind;
    for (uint32_t at = first, beyond; at != *slot; at = beyond) {
        next = table_find(taken, at);
        beyond = (uint32_t)*next;
        *next = behind;
    }
    return true;
}

/* Number of slots for a function with so many places. */
static uint32_t slots_of(uint32_t places)
{
    return (places + 3 + CODE_FUNCTION_SIZE - 1) / CODE_FUNCTION_SIZE;
}

/* Takes adjacent slots near one. false: out of memory, or none are free nearby. */
static bool take_slots(struct table *taken, uint32_t *slot, uint32_t count)
{
    uint32_t first = *slot, free_ones = 0;
    for (uint32_t tries = 0; tries < TRIES && free_ones < count; tries++) {
        for (free_ones = 0; free_ones < count && first + count <= SLOTS; free_ones++)
            if (table_find(taken, first + free_ones))
                break;
        first += free_ones < count ? free_ones + 1 : 0;
    }
    for (uint32_t i = 0; free_ones == count && i < count; i++) {
        uint32_t at = first + i;
        if (!take_slot(taken, &at))
            return false;
    }
    *slot = first;
    return free_ones == count;
}

/* Assigns an address to a name. Names with the same hash get the following slots, in their order. false: out of
 * memory. */
static bool place_name(struct code_names *n, struct table *taken, struct name *name)
{
    uint32_t slot = (uint32_t)checksum_of(name->text, strlen(name->text)) % SLOTS,
             slots = slots_of(name->count);
    if (slots > 1 && !take_slots(taken, &slot, slots)) {
        slots = 1;
        name->count = 0;
    }
    if (slots == 1 && !take_slot(taken, &slot))
        return false;
    name->address = (slot + UINT64_C(1)) * CODE_FUNCTION_SIZE;
    n->functions[n->function_count++] = (struct code_function){
        name->address, name->text, slots * CODE_FUNCTION_SIZE, name->count, n->places + name->first};
    return true;
}

static bool place_names(struct code_names *n)
{
    struct table *taken = table_new();
    bool good = taken != NULL;
    for (uint32_t i = 0; good && i < n->name_count; i++)
        good = place_name(n, taken, &n->names[i]);
    table_free(taken);
    sort_by(n->functions, n->function_count, address);
    return good;
}

/* Reads the names, up to the first incomplete one. */
static void take_names(struct code_names *n, size_t size, uint32_t most)
{
    char *text = n->text;
    for (const char *end;
         n->name_count < most && n->name_count < SLOTS / 2 && (end = memchr(text, 0, size));) {
        if (end == text)
            break;
        text_clean(text);
        n->names[n->name_count++].text = text;
        size -= (size_t)(end + 1 - text);
        text += end + 1 - text;
    }
}

/* Reads the places, as long as those of a name are adjacent. */
static void take_places(struct code_names *n, struct bytes *b, uint32_t count)
{
    for (; n->place_count < count; n->place_count++) {
        struct code_names_place *place = &n->places[n->place_count];
        const uint8_t *at = bytes_take(b, sizeof *place);
        if (!at)
            break;
        memcpy(place, at, sizeof *place);
        struct name *name = place->name < n->name_count ? &n->names[place->name] : NULL;
        if (!name || (name->count && name->first + name->count != n->place_count)) {
            b->failed = true;
            break;
        }
        name->first = name->count ? name->first : n->place_count;
        name->count++;
    }
}

static bool is_place(const struct code_names *n, uint32_t place)
{
    return place & CODE_NAMES_PLACE ? (place & ~CODE_NAMES_PLACE) < n->place_count : place < n->name_count;
}

/* Copies a process's entries, as long as they are in order. Returns where the next ones go. */
static struct code_names_entry *take_entries(struct code_names *n, struct bytes *b, uint32_t count,
                                             struct code_names_entry *to)
{
    uint64_t end = 0;
    while (count-- > 0) {
        struct code_names_entry entry = {.address = bytes_u64(b)};
        entry.size = bytes_u32(b);
        entry.place = bytes_u32(b);
        if (b->failed || !is_place(n, entry.place) || entry.address < end || entry.size == 0 ||
            __builtin_add_overflow(entry.address, entry.size, &end)) {
            b->failed = true;
            break;
        }
        *to++ = entry;
    }
    return to;
}

static void take_sets(struct code_names *n, struct bytes b, uint32_t count)
{
    struct code_names_entry *to = n->entries;
    while (count-- > 0 && !b.failed) {
        struct code_set *set = &n->sets[n->set_count], *before = n->set_count ? set - 1 : NULL;
        const uint32_t pid = bytes_u32(&b), entries = bytes_u32(&b);
        const uint64_t until = bytes_u64(&b);
        if (b.failed || (before && (pid < before->pid || (pid == before->pid && until < before->until))))
            break;
        *set = (struct code_set){.pid = pid, .until = until, .names = n, .entries = to};
        to = take_entries(n, &b, entries, to);
        set->count = (uint32_t)(to - set->entries);
        n->set_count++;
    }
}

/* Reads the replaced code, as long as it is in order. false: out of memory. */
static bool take_past(struct code_names *n, uint32_t count)
{
    uint32_t from = 0;
    for (uint32_t set = 0; set < n->set_count && from < count; set++) {
        uint32_t to = from;
        while (to < count && n->past[to].process == set && is_place(n, n->past[to].place) &&
               (to == from || n->past[to - 1].address <= n->past[to].address))
            to++;
        if (!code_past_make(&n->sets[set].past, n->past + from, to - from))
            return false;
        from = to;
    }
    return true;
}

static bool allocate_arrays(struct code_names *n, const struct code_names_head *head, size_t left)
{
    const size_t names = head->names < head->text ? head->names : head->text;
    n->text = malloc(head->text + (size_t)1);
    n->names = calloc(names + 1, sizeof *n->names);
    n->functions = calloc(names + 1, sizeof *n->functions);
    n->places = malloc(left + sizeof *n->places);
    n->past = malloc(left + sizeof *n->past);
    n->sets = calloc(left / sizeof(struct code_names_process) + 1, sizeof *n->sets);
    n->entries = malloc(left + sizeof *n->entries);
    return n->text && n->names && n->functions && n->places && n->past && n->sets && n->entries;
}

struct code_names *code_names_new(const uint8_t *data, size_t size)
{
    struct bytes b = bytes_of(data, size);
    struct code_names *n = calloc(1, sizeof *n);
    struct code_names_head head = {.version = 0};
    const uint8_t *at = bytes_take(&b, sizeof head);
    if (at)
        memcpy(&head, at, sizeof head);
    const uint8_t *text = bytes_take(&b, head.text);
    if (!n || b.failed || head.version != CODE_NAMES_VERSION)
        return n;
    bool good = allocate_arrays(n, &head, bytes_left(&b));
    if (good && head.text) {
        memcpy(n->text, text, head.text);
        take_names(n, head.text, head.names);
    }
    if (good)
        take_places(n, &b, head.places);
    const uint8_t *past = bytes_take(&b, (uint64_t)head.past * sizeof *n->past);
    good = good && place_names(n);
    if (good && past) {
        memcpy(n->past, past, head.past * sizeof *n->past);
        take_sets(n, b, head.processes);
        good = take_past(n, head.past);
    }
    if (good)
        return n;
    code_names_free(n);
    return NULL;
}

const struct code_set *code_names_of(const struct code_names *n, uint32_t pid, uint64_t birth)
{
    const struct code_set *sets = n->sets;
    const uint32_t i =
        lower_bound(k, 0u, n->set_count, sets[k].pid < pid || (sets[k].pid == pid && sets[k].until <= birth));
    return i < n->set_count && sets[i].pid == pid ? &sets[i] : NULL;
}

/* The image address of a place, or of all code with a name. */
static uint64_t address_of(const struct code_names *n, uint32_t number)
{
    if (!(number & CODE_NAMES_PLACE))
        return n->names[number].address + 1;
    const uint32_t place = number & ~CODE_NAMES_PLACE;
    const struct name *name = &n->names[n->places[place].name];
    return name->address + 1 + (name->count ? 1 + place - name->first : 0);
}

uint64_t code_set_address(const struct code_set *set, uint64_t pc, uint64_t time)
{
    const struct code_names_past *past = code_past_at(&set->past, pc, time);
    if (past)
        return address_of(set->names, past->place);
    const uint32_t beyond = lower_bound(i, 0u, set->count, set->entries[i].address <= pc);
    if (!beyond || pc - set->entries[beyond - 1].address >= set->entries[beyond - 1].size)
        return 0;
    return address_of(set->names, set->entries[beyond - 1].place);
}

uint64_t code_set_change(const struct code_set *set, uint64_t time)
{
    const struct code_past *past = &set->past;
    const uint32_t next = lower_bound(i, 0u, past->count, past->changes[i] <= time);
    return next < past->count ? past->changes[next] : UINT64_MAX;
}

size_t code_names_functions(const struct code_names *n, const struct code_function **out)
{
    *out = n->functions;
    return n->function_count;
}

struct code_place code_names_place_at(const struct code_names *n, uint64_t address)
{
    const struct code_function *f = n->functions;
    const uint32_t beyond = lower_bound(i, 0u, n->function_count, f[i].address <= address);
    if (!beyond || address - f[beyond - 1].address >= f[beyond - 1].size)
        return (struct code_place){.function = NULL};
    f += beyond - 1;
    struct code_place place = {.function = f->name};
    const uint64_t at = address - f->address;
    if (at < 2 || at - 2 >= f->places)
        return place;
    const struct code_names_place *of = &f->place[at - 2];
    place.file = of->file < n->name_count ? n->names[of->file].text : NULL;
    place.line = of->line;
    return place;
}

struct cfi_row code_place_row(const struct code_names_place *place)
{
    const bool known = (place->cfa == CFI_SP || place->cfa == CFI_BP) &&
                       (place->bp == CFI_BP_SAME || place->bp == CFI_BP_AT_CFA);
    return known ? (struct cfi_row){.cfa = place->cfa,
                                    .bp = place->bp,
                                    .cfa_offset = place->cfa_offset,
                                    .bp_offset = place->bp_offset,
                                    .derived = true}
                 : (struct cfi_row){.cfa = CFI_NONE};
}
