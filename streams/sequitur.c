/*
 * sequitur.c - see sequitur.h. Each rule is a ring of symbols around a guard. The table has the place of each
 * pair of neighbours; of overlapping equal pairs (aaa), the first one's.
 */
#include "streams/sequitur.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

#define GUARD 0xffffffffu

struct symbol {
    uint32_t value; /* GUARD: number of `rule` */
    uint32_t next, previous;
    uint32_t rule;
};

struct rule {
    uint32_t guard; /* 0: the rule was removed */
    uint32_t uses;
};

struct sequitur {
    struct symbol *symbols; /* from 1 on */
    uint32_t count, capacity;
    uint32_t free; /* list, by `next`; 0: none */
    struct rule *rules;
    uint32_t rule_count, rule_capacity;
    struct table *digrams; /* both values: the first one's symbol */
    int error;
};

/* Symbols ----------------------------------------------------------------------------------------------------- */

static bool is_rule(uint32_t value)
{
    return value != GUARD && value & SEQUITUR_RULE;
}

static uint32_t new_symbol(struct sequitur *s, uint32_t value)
{
    uint32_t at = s->free;
    if (at) {
        s->free = s->symbols[at].next;
    } else if (s->count == INT32_MAX) {
        s->error = -EOVERFLOW;
    } else if (!vec_push(s->symbols, s->count, s->capacity, (struct symbol){0})) {
        s->error = -ENOMEM;
    } else {
        at = s->count - 1;
    }
    if (s->error)
        return 0; /* a symbol that is not read any more */
    s->symbols[at] = (struct symbol){.value = value};
    if (is_rule(value))
        s->rules[value & ~SEQUITUR_RULE].uses++;
    return at;
}

static uint32_t new_rule(struct sequitur *s)
{
    uint32_t guard = new_symbol(s, GUARD);
    if (s->error)
        return 0;
    if (!vec_push(s->rules, s->rule_count, s->rule_capacity, (struct rule){guard, 0})) {
        s->error = -ENOMEM;
        return 0;
    }
    struct symbol *g = &s->symbols[guard];
    g->next = g->previous = guard;
    g->rule = s->rule_count - 1;
    return g->rule;
}

static uint32_t value_of(const struct sequitur *s, uint32_t at)
{
    return s->symbols[at].value;
}

static uint32_t next_of(const struct sequitur *s, uint32_t at)
{
    return s->symbols[at].next;
}

static uint32_t previous_of(const struct sequitur *s, uint32_t at)
{
    return s->symbols[at].previous;
}

/* Digrams ----------------------------------------------------------------------------------------------------- */

/* Whether the symbol and the next one are a pair that may repeat. */
static bool is_digram(const struct sequitur *s, uint32_t at)
{
    uint32_t a = value_of(s, at), b = value_of(s, next_of(s, at));
    return a != GUARD && b != GUARD && a != SEQUITUR_BREAK && b != SEQUITUR_BREAK;
}

static uint64_t key_of(const struct sequitur *s, uint32_t at)
{
    return (uint64_t)value_of(s, at) << 32 | value_of(s, next_of(s, at));
}

static void note_digram(struct sequitur *s, uint32_t at)
{
    uint64_t *place = s->error || !is_digram(s, at) ? NULL : table_put(s->digrams, key_of(s, at), NULL);
    if (place)
        *place = at;
    else if (!s->error && is_digram(s, at))
        s->error = -ENOMEM;
}

static void forget_digram(struct sequitur *s, uint32_t at)
{
    const uint64_t *place = is_digram(s, at) ? table_find(s->digrams, key_of(s, at)) : NULL;
    if (place && *place == at)
        table_remove(s->digrams, key_of(s, at));
}

static bool is_triple(const struct sequitur *s, uint32_t at)
{
    uint32_t value = value_of(s, at);
    return value != GUARD && value == value_of(s, next_of(s, at)) && value == value_of(s, previous_of(s, at));
}

/* Makes two symbols neighbours. If this ends an overlapping triple, its other pair may be on its own now. */
static void join_symbols(struct sequitur *s, uint32_t left, uint32_t right)
{
    if (s->symbols[left].next && s->symbols[right].previous) {
        forget_digram(s, left);
        if (is_triple(s, right))
            note_digram(s, right);
        if (is_triple(s, left))
            note_digram(s, previous_of(s, left));
    } else if (s->symbols[left].next) {
        forget_digram(s, left);
    }
    s->symbols[left].next = right;
    s->symbols[right].previous = left;
}

static void insert_after(struct sequitur *s, uint32_t at, uint32_t symbol)
{
    uint32_t next = next_of(s, at);
    join_symbols(s, symbol, next);
    join_symbols(s, at, symbol);
}

static void release_symbol(struct sequitur *s, uint32_t at)
{
    s->symbols[at] = (struct symbol){.value = GUARD, .next = s->free};
    s->free = at;
}

/* Removes a symbol from its rule. */
static void take_out(struct sequitur *s, uint32_t at)
{
    uint32_t value = value_of(s, at);
    forget_digram(s, at);
    join_symbols(s, previous_of(s, at), next_of(s, at));
    if (is_rule(value))
        s->rules[value & ~SEQUITUR_RULE].uses--;
    release_symbol(s, at);
}

/* Rules ------------------------------------------------------------------------------------------------------- */

static bool check_digram(struct sequitur *s, uint32_t at);

/* Replaces a symbol and the next one by a rule. */
static void substitute_rule(struct sequitur *s, uint32_t at, uint32_t rule)
{
    uint32_t before = previous_of(s, at), symbol = new_symbol(s, rule | SEQUITUR_RULE);
    if (s->error)
        return;
    take_out(s, next_of(s, at));
    take_out(s, at);
    insert_after(s, before, symbol);
    if (!check_digram(s, before))
        check_digram(s, symbol);
}

/* Replaces the only use of a rule by its contents. */
static void expand_rule(struct sequitur *s, uint32_t at)
{
    struct rule *rule = &s->rules[value_of(s, at) & ~SEQUITUR_RULE];
    uint32_t guard = rule->guard, first = next_of(s, guard), last = previous_of(s, guard);
    uint32_t left = previous_of(s, at), right = next_of(s, at);
    forget_digram(s, at);
    forget_digram(s, left);
    s->symbols[left].next = first;
    s->symbols[first].previous = left;
    s->symbols[last].next = right;
    s->symbols[right].previous = last;
    *rule = (struct rule){0};
    release_symbol(s, guard);
    release_symbol(s, at);
    note_digram(s, left);
    note_digram(s, last);
}

/* Handles a pair at `at` that also occurs at `other`. */
static void match_digrams(struct sequitur *s, uint32_t at, uint32_t other)
{
    uint32_t before = previous_of(s, other), behind = next_of(s, next_of(s, other)), rule;
    if (value_of(s, before) == GUARD && before == behind && s->symbols[before].rule) {
        rule = s->symbols[before].rule; /* the pair is a whole rule */
        substitute_rule(s, at, rule);
    } else {
        rule = new_rule(s);
        uint32_t first = new_symbol(s, value_of(s, at)), second = new_symbol(s, value_of(s, next_of(s, at)));
        if (s->error)
            return;
        uint32_t guard = s->rules[rule].guard;
        insert_after(s, guard, first);
        insert_after(s, first, second);
        substitute_rule(s, other, rule);
        substitute_rule(s, at, rule);
        note_digram(s, first);
    }
    if (s->error || !s->rules[rule].guard)
        return;
    uint32_t first = next_of(s, s->rules[rule].guard), value = value_of(s, first);
    if (is_rule(value) && s->rules[value & ~SEQUITUR_RULE].uses == 1)
        expand_rule(s, first);
}

/* Whether the pair that begins there was found elsewhere and replaced by a rule. */
static bool check_digram(struct sequitur *s, uint32_t at)
{
    bool added;
    if (s->error || !is_digram(s, at))
        return false;
    uint64_t *place = table_put(s->digrams, key_of(s, at), &added);
    if (!place) {
        s->error = -ENOMEM;
        return false;
    }
    uint32_t other = (uint32_t)*place;
    if (added || other == at) {
        *place = at;
        return false;
    }
    if (next_of(s, other) != at && next_of(s, at) != other)
        match_digrams(s, at, other);
    return true;
}

/* Interface --------------------------------------------------------------------------------------------------- */

struct sequitur *sequitur_new(void)
{
    struct sequitur *s = calloc(1, sizeof *s);
    if (s)
        s->digrams = table_new();
    if (!s || !s->digrams || !vec_push(s->symbols, s->count, s->capacity, (struct symbol){0})) {
        sequitur_free(s);
        return NULL;
    }
    new_rule(s);
    if (s->error) {
        sequitur_free(s);
        return NULL;
    }
    return s;
}

void sequitur_free(struct sequitur *s)
{
    if (!s)
        return;
    free(s->symbols);
    free(s->rules);
    table_free(s->digrams);
    free(s);
}

int sequitur_push(struct sequitur *s, uint32_t terminal)
{
    uint32_t guard = s->rules[0].guard, last = previous_of(s, guard), symbol = new_symbol(s, terminal);
    if (!s->error) {
        insert_after(s, last, symbol);
        check_digram(s, last);
    }
    return s->error;
}

uint32_t sequitur_rules(const struct sequitur *s)
{
    return s->rule_count;
}

uint32_t sequitur_uses(const struct sequitur *s, uint32_t rule)
{
    return s->rules[rule].uses;
}

bool sequitur_next(const struct sequitur *s, uint32_t rule, uint32_t *at, uint32_t *symbol)
{
    uint32_t guard = s->rules[rule].guard;
    *at = guard ? next_of(s, *at ? *at : guard) : 0;
    if (!guard || *at == guard)
        return false;
    *symbol = value_of(s, *at);
    return true;
}

const char *sequitur_check(const struct sequitur *s)
{
    struct table *seen = table_new();
    const char *what = seen ? NULL : "no memory";
    for (uint32_t r = 0; r < s->rule_count && !what; r++) {
        uint32_t at = 0, symbol, length = 0;
        while (sequitur_next(s, r, &at, &symbol)) {
            bool added = true;
            uint64_t *place = is_digram(s, at) ? table_put(seen, key_of(s, at), &added) : NULL;
            if (!added && next_of(s, (uint32_t)*place) != at)
                what = "a pair of neighbours stands in it twice";
            if (place && added)
                *place = at;
            length++;
        }
        if (r && s->rules[r].guard && (s->rules[r].uses < 2 || length < 2))
            what = s->rules[r].uses < 2 ? "a rule is used less than twice" : "a rule of one symbol";
    }
    table_free(seen);
    return what;
}
