/* hash.c - see hash.h. */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checksum.h"
#include "base/vec.h"

struct slot {
    uint64_t key, value;
};

struct table {
    struct slot *slots; /* capacity of them */
    uint8_t *used;      /* 1 if the slot holds an entry */
    size_t capacity;    /* a power of two */
    size_t count;
};

static bool table_allocate(struct table *t, size_t capacity)
{
    t->slots = malloc(capacity * sizeof *t->slots);
    t->used = calloc(capacity, 1);
    if (!t->slots || !t->used) {
        free(t->slots);
        free(t->used);
        return false;
    }
    t->capacity = capacity;
    t->count = 0;
    return true;
}

struct table *table_new(void)
{
    struct table *t = calloc(1, sizeof *t);
    if (t && !table_allocate(t, 16)) {
        free(t);
        t = NULL;
    }
    return t;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    free(t->slots);
    free(t->used);
    free(t);
}

/* The slot of the key, or the free one for it. */
static size_t table_slot(const struct table *t, uint64_t key)
{
    size_t i = hash_u64(key) & (t->capacity - 1);
    while (t->used[i] && t->slots[i].key != key)
        i = (i + 1) & (t->capacity - 1);
    return i;
}

uint64_t *table_find(const struct table *t, uint64_t key)
{
    size_t i = table_slot(t, key);
    return t->used[i] ? &t->slots[i].value : NULL;
}

static bool table_grow(struct table *t)
{
    struct table bigger;
    if (!table_allocate(&bigger, t->capacity * 2))
        return false;
    for (size_t i = 0; i < t->capacity; i++) {
        if (!t->used[i])
            continue;
        size_t j = table_slot(&bigger, t->slots[i].key);
        bigger.slots[j] = t->slots[i];
        bigger.used[j] = 1;
    }
    bigger.count = t->count;
    free(t->slots);
    free(t->used);
    *t = bigger;
    return true;
}

uint64_t *table_put(struct table *t, uint64_t key, bool *added)
{
    size_t i = table_slot(t, key);
    if (added)
        *added = !t->used[i];
    if (t->used[i])
        return &t->slots[i].value;
    if ((t->count + 1) * 4 > t->capacity * 3) {
        if (!table_grow(t))
            return NULL;
        i = table_slot(t, key);
    }
    t->used[i] = 1;
    t->slots[i] = (struct slot){key, 0};
    t->count++;
    return &t->slots[i].value;
}

bool table_set(struct table *t, uint64_t key, uint64_t value)
{
    uint64_t *place = table_put(t, key, NULL);
    if (place)
        *place = value;
    return place;
}

bool table_remove(struct table *t, uint64_t key)
{
    size_t mask = t->capacity - 1, hole = table_slot(t, key);
    if (!t->used[hole])
        return false;
    /* Close the hole: move back every later entry of the run whose home is not after the hole. */
    for (size_t i = (hole + 1) & mask; t->used[i]; i = (i + 1) & mask) {
        size_t home = hash_u64(t->slots[i].key) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            t->slots[hole] = t->slots[i];
            hole = i;
        }
    }
    t->used[hole] = 0;
    t->count--;
    return true;
}

size_t table_bytes(const struct table *t)
{
    return sizeof *t + t->capacity * (sizeof *t->slots + sizeof *t->used);
}

size_t table_count(const struct table *t)
{
    return t->count;
}

bool table_next(const struct table *t, size_t *cursor, uint64_t *key, uint64_t *value)
{
    for (; *cursor < t->capacity; (*cursor)++) {
        if (t->used[*cursor]) {
            *key = t->slots[*cursor].key;
            *value = t->slots[*cursor].value;
            (*cursor)++;
            return true;
        }
    }
    return false;
}

struct names {
    struct table *first;      /* hash of the text -> first number with that hash + 1 */
    struct arena *arena;      /* the copies */
    const char **texts;       /* by number */
    uint32_t *same;           /* next number + 1 with the same hash, 0 at the end */
    uint32_t count, capacity; /* entries in use and allocated in texts and same */
};

struct names *names_new(void)
{
    struct names *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->first = table_new();
    n->arena = arena_new(0);
    if (!n->first || !n->arena) {
        names_free(n);
        return NULL;
    }
    return n;
}

void names_free(struct names *n)
{
    if (!n)
        return;
    table_free(n->first);
    arena_free(n->arena);
    free(n->texts);
    free(n->same);
    free(n);
}

static bool names_reserve(struct names *n)
{
    uint32_t capacity = n->capacity; /* of both arrays, as only the first may have grown */
    return vec_reserve(n->texts, n->count, capacity, 1) && vec_reserve(n->same, n->count, n->capacity, 1);
}

uint32_t names_intern(struct names *n, const char *text)
{
    uint64_t hash = checksum_of(text, strlen(text));
    uint64_t *head = table_find(n->first, hash);
    for (uint32_t i = head ? (uint32_t)*head : 0; i; i = n->same[i - 1]) {
        if (strcmp(n->texts[i - 1], text) == 0)
            return i - 1;
    }
    if (!names_reserve(n))
        return NAMES_NONE;
    char *copy = arena_strdup(n->arena, text);
    head = copy ? table_put(n->first, hash, NULL) : NULL;
    if (!head)
        return NAMES_NONE;
    n->texts[n->count] = copy;
    n->same[n->count] = (uint32_t)*head;
    *head = ++n->count;
    return n->count - 1;
}

const char *names_text(const struct names *n, uint32_t number)
{
    return number < n->count ? n->texts[number] : NULL;
}

uint32_t names_count(const struct names *n)
{
    return n->count;
}
