/* rules.c - see rules.h. */
#include "streams/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ranking {
    const struct sequitur *grammar;
    uint64_t *lengths; /* length of what each rule stands for; inexact above `longest` */
    uint64_t *cold;    /* occurrences in the whole sequence that are not part of a hot stream */
    uint32_t *order;   /* each rule comes before those that it uses */
    uint32_t count;    /* number of rules */
};

static void ranking_clear(struct ranking *r)
{
    free(r->lengths);
    free(r->cold);
    free(r->order);
}

/* Depth first, without recursion: grammars of loops are deep. */
static bool put_in_order(struct ranking *r)
{
    uint32_t rules = sequitur_rules(r->grammar), depth = 0, symbol, done = rules;
    uint32_t *stack = calloc(rules, sizeof *stack), *at = calloc(rules, sizeof *at);
    bool *seen = calloc(rules, sizeof *seen);
    if (!stack || !at || !seen) {
        free(stack);
        free(at);
        free(seen);
        return false;
    }
    stack[depth++] = 0;
    seen[0] = true;
    while (depth) {
        uint32_t rule = stack[depth - 1];
        if (!sequitur_next(r->grammar, rule, &at[rule], &symbol)) {
            r->order[--done] = rule;
            depth--;
            continue;
        }
        uint32_t child = symbol & ~SEQUITUR_RULE;
        if (symbol & SEQUITUR_RULE && !seen[child]) {
            seen[child] = true;
            stack[depth++] = child;
        }
    }
    r->count = rules - done;
    memmove(r->order, r->order + done, r->count * sizeof *r->order);
    free(stack);
    free(at);
    free(seen);
    return true;
}

static void find_lengths(struct ranking *r)
{
    for (uint32_t i = r->count; i-- > 0;) {
        uint32_t at = 0, symbol;
        uint64_t length = 0;
        while (sequitur_next(r->grammar, r->order[i], &at, &symbol))
            length += symbol & SEQUITUR_RULE ? r->lengths[symbol & ~SEQUITUR_RULE] : symbol != SEQUITUR_BREAK;
        r->lengths[r->order[i]] = length;
    }
}

static int rank_rules(struct ranking *r, const struct sequitur *grammar)
{
    uint32_t rules = sequitur_rules(grammar);
    *r = (struct ranking){.grammar = grammar,
                          .lengths = calloc(rules, sizeof *r->lengths),
                          .cold = calloc(rules, sizeof *r->cold),
                          .order = calloc(rules, sizeof *r->order)};
    if (!r->lengths || !r->cold || !r->order || !put_in_order(r)) {
        ranking_clear(r);
        return -ENOMEM;
    }
    find_lengths(r);
    return 0;
}

static uint32_t longest_of(const struct hot_options *options)
{
    return options->longest < HOT_LONGEST ? options->longest : HOT_LONGEST;
}

static bool is_hot(const struct ranking *r, uint32_t rule, uint64_t heat, const struct hot_options *options)
{
    return rule && r->lengths[rule] >= options->shortest && r->lengths[rule] <= longest_of(options) &&
           r->lengths[rule] * r->cold[rule] >= heat;
}

struct parts { /* zeroed: at the beginning */
    uint32_t at;
    bool ended;
    uint32_t symbols[HOT_LONGEST]; /* of the last part */
};

/* Finds the next part of a rule that is longer than a stream may be: a run of symbols outside of other rules,
 * which is cut where it is too long. So a walk of a long list becomes several streams. Returns its number of
 * symbols; 0: there are no more. */
static uint32_t next_part(const struct ranking *r, uint32_t rule, const struct hot_options *options,
                          struct parts *parts)
{
    uint32_t longest = longest_of(options), count = 0, symbol;
    while (count < longest && !parts->ended) {
        parts->ended = !sequitur_next(r->grammar, rule, &parts->at, &symbol);
        if (parts->ended)
            break;
        if (!(symbol & SEQUITUR_RULE))
            parts->symbols[count++] = symbol;
        else if (count >= options->shortest)
            break;
        else
            count = 0;
    }
    return count >= options->shortest ? count : 0;
}

static bool is_too_long(const struct ranking *r, uint32_t rule, const struct hot_options *options)
{
    return rule && r->lengths[rule] > longest_of(options);
}

/* How many symbols are in the rule's parts of at least this heat. */
static uint64_t cover_parts(const struct ranking *r, uint32_t rule, uint64_t heat,
                            const struct hot_options *options)
{
    struct parts parts = {0};
    uint64_t covered = 0;
    for (uint32_t count; (count = next_part(r, rule, options, &parts));)
        covered += count * r->cold[rule] >= heat ? count * r->cold[rule] : 0;
    return covered;
}

/* How many symbols are part of streams of at least this heat. */
static uint64_t covered_by(struct ranking *r, uint64_t heat, const struct hot_options *options)
{
    uint64_t covered = 0;
    memset(r->cold, 0, sequitur_rules(r->grammar) * sizeof *r->cold);
    r->cold[0] = 1;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t rule = r->order[i], at = 0, symbol;
        bool hot = is_hot(r, rule, heat, options);
        if (is_too_long(r, rule, options))
            covered += cover_parts(r, rule, heat, options);
        covered += hot ? r->lengths[rule] * r->cold[rule] : 0;
        while (sequitur_next(r->grammar, rule, &at, &symbol))
            if (symbol & SEQUITUR_RULE)
                r->cold[symbol & ~SEQUITUR_RULE] += hot ? 0 : r->cold[rule];
    }
    return covered;
}

/* The largest heat at which streams cover the requested share; otherwise 2: everything that occurs twice. */
static uint64_t choose_heat(struct ranking *r, const struct hot_options *options)
{
    uint64_t low = 2, high = r->lengths[0] + 1;
    double wanted = options->cover * (double)r->lengths[0];
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if ((double)covered_by(r, middle, options) >= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Writes the symbols that a rule stands for, at most HOT_LONGEST. */
static void write_out(const struct sequitur *grammar, uint32_t rule, uint32_t *out, uint32_t *written)
{
    uint32_t at = 0, symbol;
    while (sequitur_next(grammar, rule, &at, &symbol))
        if (symbol & SEQUITUR_RULE)
            write_out(grammar, symbol & ~SEQUITUR_RULE, out, written); /* no deeper than its length */
        else
            out[(*written)++] = symbol;
}

static int add_rule(struct hot_profile *profile, const struct ranking *r, uint32_t rule)
{
    uint32_t symbols[HOT_LONGEST], written = 0;
    write_out(r->grammar, rule, symbols, &written);
    return hot_count(profile, symbols, written, r->cold[rule]);
}

static int add_parts(struct hot_profile *profile, const struct ranking *r, uint32_t rule, uint64_t heat,
                     const struct hot_options *options)
{
    struct parts parts = {0};
    int rc = 0;
    for (uint32_t count; rc == 0 && (count = next_part(r, rule, options, &parts));)
        if (count * r->cold[rule] >= heat)
            rc = hot_count(profile, parts.symbols, count, r->cold[rule]);
    return rc;
}

int rules_add(struct hot_profile *profile, const struct sequitur *grammar, const struct hot_options *options)
{
    struct ranking r;
    int rc = rank_rules(&r, grammar);
    if (rc < 0)
        return rc;
    uint64_t heat = choose_heat(&r, options);
    covered_by(&r, heat, options);
    for (uint32_t i = 0; i < r.count && rc == 0; i++) {
        uint32_t rule = r.order[i];
        if (r.cold[rule] && is_hot(&r, rule, heat, options))
            rc = add_rule(profile, &r, rule);
        else if (r.cold[rule] && is_too_long(&r, rule, options))
            rc = add_parts(profile, &r, rule, heat, options);
    }
    profile->total += r.lengths[0];
    ranking_clear(&r);
    return rc;
}
