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

struct code_set {
    uint32_t pid, count;
    uint64_t until;
    const struct code_names *names;
    struct code_names_entry *entries; /* the names' */
};

struct code_names {
    char *text;
    uint64_t *addresses; /* of each name's function */
    struct code_function *functions;
    struct code_set *sets;
    struct code_names_entry *entries;
    uint32_t name_count, set_count, function_count;
};

/* Addresses are within what an image may span (elf/elf_file.h): 2^27 slots, of which all names that a recording may have take 1%. */
#define SLOTS (UINT32_C(1) << 27)

void code_names_free(struct code_names *n)
{
    if (!n)
        return;
    free(n->text);
    free(n->addresses);
    free(n->functions);
    free(n->sets);
    free(n->entries);
    free(n);
}

/* Takes the first free slot from one on. A slot that is taken has where to look next, which is set to behind what was found, so that hostile
 * names, which may all meet, cost little more. false: out of memory. */
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

/* Gives each name an address. Names whose hashes meet go to the slots behind, in their order. false: out of memory. */
static bool place_names(struct code_names *n)
{
    struct table *taken = table_new();
    const char *name = n->text;
    bool good = taken != NULL;
    for (uint32_t i = 0; good && i < n->name_count; i++, name += strlen(name) + 1) {
        uint32_t slot = (uint32_t)checksum_of(name, strlen(name)) % SLOTS;
        good = take_slot(taken, &slot);
        n->addresses[i] = (slot + UINT64_C(1)) * CODE_FUNCTION_SIZE;
        n->functions[n->function_count++] = (struct code_function){n->addresses[i], name};
    }
    table_free(taken);
    sort_by(n->functions, n->function_count, address);
    return good;
}

/* How many whole names there are. */
static uint32_t count_names(char *text, size_t size, uint32_t most)
{
    uint32_t count = 0;
    for (const char *end; count < most && count < SLOTS / 2 && (end = memchr(text, 0, size)); count++) {
        if (end == text)
            break;
        text_clean(text);
        size -= (size_t)(end + 1 - text);
        text += end + 1 - text;
    }
    return count;
}

/* Copies a process's entries as far as they are in order. Returns where the next ones go. */
static struct code_names_entry *take_entries(struct code_names *n, struct bytes *b, uint32_t count,
                                             struct code_names_entry *to)
{
    uint64_t end = 0;
    while (count-- > 0) {
        struct code_names_entry entry = {.address = bytes_u64(b)};
        entry.size = bytes_u32(b);
        entry.name = bytes_u32(b);
        if (b->failed || entry.name >= n->name_count || entry.address < end || entry.size == 0 ||
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

struct code_names *code_names_new(const uint8_t *data, size_t size)
{
    struct bytes b = bytes_of(data, size);
    struct code_names *n = calloc(1, sizeof *n);
    const uint32_t version = bytes_u32(&b), names = bytes_u32(&b), sets = bytes_u32(&b),
                   bytes = bytes_u32(&b);
    const uint8_t *text = bytes_take(&b, bytes);
    const size_t left = bytes_left(&b);
    if (!n || b.failed || version != CODE_NAMES_VERSION)
        return n;
    n->text = malloc(bytes + (size_t)1);
    n->sets = calloc(left / sizeof(struct code_names_process) + 1, sizeof *n->sets);
    n->entries = malloc(left + sizeof *n->entries);
    if (n->text && text)
        memcpy(n->text, text, bytes);
    n->name_count = n->text ? count_names(n->text, bytes, names) : 0;
    n->addresses = malloc((n->name_count + (size_t)1) * sizeof *n->addresses);
    n->functions = malloc((n->name_count + (size_t)1) * sizeof *n->functions);
    if (!n->text || !n->sets || !n->entries || !n->addresses || !n->functions || !place_names(n)) {
        code_names_free(n);
        return NULL;
    }
    take_sets(n, b, sets);
    return n;
}

const struct code_set *code_names_of(const struct code_names *n, uint32_t pid, uint64_t birth)
{
    const struct code_set *sets = n->sets;
    const uint32_t i =
        lower_bound(k, 0u, n->set_count, sets[k].pid < pid || (sets[k].pid == pid && sets[k].until <= birth));
    return i < n->set_count && sets[i].pid == pid ? &sets[i] : NULL;
}

uint64_t code_set_function(const struct code_set *set, uint64_t pc)
{
    const uint32_t beyond = lower_bound(i, 0u, set->count, set->entries[i].address <= pc);
    if (!beyond || pc - set->entries[beyond - 1].address >= set->entries[beyond - 1].size)
        return 0;
    return set->names->addresses[set->entries[beyond - 1].name];
}

size_t code_names_functions(const struct code_names *n, const struct code_function **out)
{
    *out = n->functions;
    return n->function_count;
}
