/* known_stacks.c - see known_stacks.h. */
#include "collector/verify/known_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "collector/verify/runs.h"
#include "collector/verify/verify_wire.h"

_Static_assert(RULE_MIXED == KNOWN_STACK_ANY, "a kept stack is placed in each process");

#define BLOCKS_RESTING 1024

/* Bytes: the least length of a run whose middle is left out of copies, and the approximate part of it in one
 * period of the rule. */
#define RUN_LEAST_BYTES 4096u
#define RUN_BYTES       768u

/* Key of a stack of an earlier recording that is announced by its number. */
struct kept_key {
    struct rule_key key;
    uint32_t number;
};

struct known_stacks {
    struct known_stacks_maps maps;
    unsigned compared, page_bits;
    /* Ring buffers. A freed block is reused last, and some always remain unused: the program may still be
     * reading them. */
    uint32_t *free_blocks;
    uint32_t free_at, free_count;
    struct rule_key *keys; /* in order of creation */
    uint32_t key_at, key_count;
    struct table *spaces; /* space -> its number of keys */
    /* hash of a key -> number of keys with it: most keys looked up are not in the map yet */
    struct table *hashes;
    struct kept_key *kept;
    size_t kept_count, kept_capacity;
};

int known_stacks_new(const struct known_stacks_maps *maps, unsigned compared, unsigned page_bits,
                     struct known_stacks **out)
{
    struct known_stacks *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = (struct known_stacks){.maps = *maps, .compared = compared, .page_bits = page_bits};
    s->free_blocks = malloc(VERIFY_BLOCKS * sizeof *s->free_blocks);
    s->keys = malloc(VERIFY_KEYS * sizeof *s->keys);
    s->spaces = table_new();
    s->hashes = table_new();
    if (!s->free_blocks || !s->keys || !s->spaces || !s->hashes) {
        known_stacks_free(s);
        return -ENOMEM;
    }
    for (uint32_t i = 1; i < VERIFY_BLOCKS; i++)
        s->free_blocks[s->free_count++] = i;
    *out = s;
    return 0;
}

void known_stacks_free(struct known_stacks *s)
{
    if (!s)
        return;
    free(s->free_blocks);
    free(s->keys);
    free(s->kept);
    table_free(s->spaces);
    table_free(s->hashes);
    free(s);
}

static void free_blocks(struct known_stacks *s, uint32_t first)
{
    while (first) {
        uint32_t next = s->maps.words[first].next;
        s->free_blocks[(s->free_at + s->free_count++) % VERIFY_BLOCKS] = first;
        first = next;
    }
}

static uint64_t hash_of(const struct rule_key *key)
{
    return rule_hash(rule_hash(rule_hash(0, key->page), key->depth), (uint64_t)key->file << 32 | key->space);
}

static void count_down(struct table *counts, uint64_t key)
{
    uint64_t *count = table_find(counts, key);
    if (count && --*count == 0)
        table_remove(counts, key);
}

static bool count_up(struct table *counts, uint64_t key)
{
    uint64_t *count = table_put(counts, key, NULL);
    if (count)
        ++*count;
    return count;
}

/* Notes that a key was removed from the map. */
static void uncount_key(struct known_stacks *s, const struct rule_key *key)
{
    count_down(s->spaces, key->space);
    count_down(s->hashes, hash_of(key));
}

/* false: the map does not have the key. */
static bool find_known(const struct known_stacks *s, const struct rule_key *key, struct rule_known *out)
{
    return table_find(s->hashes, hash_of(key)) && s->maps.find(s->maps.known, key, out) == 0;
}

static void forget_key(struct known_stacks *s, const struct rule_key *key)
{
    struct rule_known known;
    if (!find_known(s, key, &known))
        return;
    s->maps.drop(s->maps.known, key);
    for (uint32_t i = 0; i < known.count; i++)
        free_blocks(s, known.stacks[i].words);
    uncount_key(s, key);
}

static void forget_oldest(struct known_stacks *s)
{
    struct rule_key key = s->keys[s->key_at];
    s->key_at = (s->key_at + 1) % VERIFY_KEYS;
    s->key_count--;
    forget_key(s, &key);
}

void known_stacks_forget(struct known_stacks *s, uint32_t space)
{
    if (s->maps.switches >= 0)
        s->maps.drop(s->maps.switches, &space);
    if (!table_find(s->spaces, space))
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->key_count; i++) {
        struct rule_key key = s->keys[(s->key_at + i) % VERIFY_KEYS];
        if (key.space == space)
            forget_key(s, &key);
        else
            s->keys[(s->key_at + kept++) % VERIFY_KEYS] = key;
    }
    s->key_count = kept;
}

/* The base from which the program counts this thread's depths. */
static uint64_t base_of(const struct known_stacks *s, const struct known_stack *stack)
{
    struct rule_thread thread;
    if (stack->base - stack->sp < VERIFY_OWN_STACK_MAX)
        return stack->base;
    if (s->maps.find(s->maps.threads, &stack->tid, &thread) != 0 ||
        thread.base - stack->sp >= VERIFY_OWN_STACK_MAX)
        return 0;
    return thread.base;
}

static bool is_outer(const struct known_stack *stack, const struct stack_word *word, uint64_t base)
{
    return base > stack->sp && base - word->address <= STACK_RECORD_OUTER &&
           word->address - stack->sp + sizeof word->value > RULE_STACK_MAX;
}

/* Whether a word is too far out to be read with the rest, and is not one of the outermost ones. */
static bool is_far(const struct known_stack *stack, const struct stack_word *word, uint64_t base)
{
    const uint64_t end = word->address - stack->sp + sizeof word->value;
    return end > RULE_STACK_MAX && end <= STACK_WORDS_MAX && base > word->address && !stack->switch_at &&
           !is_outer(stack, word, base);
}

/* The place of a code address; NULL: it is in no code, or ambiguous. */
static const struct stack_place *place_of(const struct known_stack *stack, uint64_t address)
{
    const struct stack_place *place = stack_place_of(stack->places, stack->place_count, address);
    return place && place->number <= RULE_FILES && (address - place->at) >> RULE_FILE_BITS == 0 ? place
                                                                                                : NULL;
}

/* Whether the stack can be valid wherever its files are mapped. */
static bool is_anywhere(const struct known_stack *stack)
{
    bool anywhere = place_of(stack, stack->ip) && !stack->switch_at;
    for (size_t i = 0; anywhere && i < stack->count; i++)
        anywhere = stack->words[i].in_stack || place_of(stack, stack->words[i].low);
    return anywhere;
}

/* anywhere: not NULL: code addresses are relative to the files of this stack. */
static void add_word(struct rule_words *block, const struct stack_word *word, uint64_t base,
                     const struct known_stack *anywhere)
{
    __u32 *height = &block->height[block->count];
    __u64 *low = &block->low[block->count];
    *height = (uint32_t)(base - word->address) | (word->in_stack ? RULE_RELATIVE : 0);
    *low = word->in_stack ? base - word->low : word->low;
    if (anywhere && !word->in_stack) {
        const struct stack_place *place = place_of(anywhere, word->low);
        *height |= RULE_IN_FILE;
        *low = (uint64_t)place->number << RULE_FILE_BITS | (word->low - place->at);
    }
    block->size[block->count] = word->size;
    block->count++;
}

/* Fills one block and returns how many words it took. A stack's first block never repeats. repeating: maximum
 * number of words that may. */
static size_t fill_block(struct rule_words *block, const struct known_stack *stack, uint64_t base,
                         bool anywhere, size_t from, size_t count, size_t repeating)
{
    struct word_run run = from ? run_at(stack, from, repeating, false) : (struct word_run){0};
    if (run.words)
        run = run_by(run, RULE_WORDS / run.words);
    const size_t room = run.words ? run.words : RULE_WORDS;
    *block = (struct rule_words){.times = 1};
    if (from == 0 && stack->reg) {
        block->reg = stack->reg;
        block->value = base - stack->value;
    }
    for (size_t at = from; at < count && block->count < room; at++) {
        if (at > from && run.words == 0 && run_at(stack, at, repeating, false).words)
            break;
        add_word(block, &stack->words[at], base, anywhere ? stack : NULL);
    }
    if (run.words == 0)
        return block->count;
    block->period = (uint16_t)run.period;
    block->times = (uint32_t)run.times;
    return run.words * run.times;
}

/* Whether the words starting with a block equal these. */
static bool are_equal(const struct known_stacks *s, uint32_t first, const struct rule_words *blocks,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct rule_words other = first ? s->maps.words[first] : (struct rule_words){0};
        first = other.next;
        other.next = 0;
        if (memcmp(&other, &blocks[i], sizeof other) != 0)
            return false;
    }
    return first == 0;
}

/* The blocks of one stack, before they are stored in the map. */
struct made {
    struct rule_words blocks[RULE_BLOCKS_MAX];
    size_t count;
    uint32_t extent;      /* rule.h */
    uint16_t first, last; /* likewise */
    bool below;           /* a word is in the red zone */
    bool outer;           /* a word is among the outermost bytes, too far from SP to be read with the rest */
};

/* How many of its words are compared: those up to the last compared return address. */
static size_t compared_words(const struct known_stacks *s, const struct known_stack *stack)
{
    size_t count = 0;
    for (unsigned left = s->compared; left && count < stack->count; count++)
        left -= !stack->words[count].in_stack;
    return s->compared < STACK_RECORD_ALL ? count : stack->count;
}

static void set_places(const struct known_stacks *s, const struct known_stack *stack, struct made *out)
{
    uint64_t mask = (UINT64_C(1) << s->page_bits) - 1, page = stack->ip & ~mask;
    uint64_t end = stack->code + stack->code_size;
    out->first = 0;
    out->last = (uint16_t)mask;
    if (s->compared == 0 || stack->code_size == 0)
        return;
    if (stack->code > page)
        out->first = (uint16_t)(stack->code - page);
    if (end <= page + mask)
        out->last = (uint16_t)(end - page - 1);
}

/* false: the words need too many blocks. Repeated words are stored once only if the blocks are too few
 * otherwise: they take longer to compare. */
static bool make_blocks(const struct known_stack *stack, uint64_t base, bool anywhere, size_t count,
                        struct made *out)
{
    size_t repeating = count > (size_t)RULE_WORDS * RULE_BLOCKS_MAX ? count : 0;
    while (repeating && is_outer(stack, &stack->words[repeating - 1], base))
        repeating--;
    out->count = 0;
    for (size_t at = 0; at < count || out->count == 0;) {
        if (out->count == RULE_BLOCKS_MAX)
            return false;
        at += fill_block(&out->blocks[out->count++], stack, base, anywhere, at, count, repeating);
    }
    return true;
}

/* false: it has too many words. */
static bool make_known(const struct known_stacks *s, const struct known_stack *stack, uint64_t base,
                       bool anywhere, struct made *out)
{
    const size_t count = compared_words(s, stack);
    uint64_t extent = 8;
    if (!make_blocks(stack, base, anywhere, count, out))
        return false;
    if (s->compared == 0)
        out->blocks[0] = (struct rule_words){.times = 1};
    out->below = out->outer = false;
    for (size_t i = 0; i < count; i++)
        if (stack->sp - stack->words[i].address <= STACK_RECORD_BELOW && stack->words[i].address != stack->sp)
            out->below = true;
        else if (is_outer(stack, &stack->words[i], base))
            out->outer = true;
        else if (is_far(stack, &stack->words[i], base))
            continue;
        else if (stack->words[i].address - stack->sp + 8 > extent)
            extent = stack->words[i].address - stack->sp + 8;
    out->extent = (uint32_t)extent;
    set_places(s, stack, out);
    return extent <= RULE_STACK_MAX;
}

/* Stores the blocks in the map, the last one first, as each has the index of the next. */
static uint32_t store_blocks(struct known_stacks *s, const struct made *made)
{
    uint32_t next = 0;
    for (size_t i = made->count; i-- > 0;) {
        uint32_t index = s->free_blocks[s->free_at];
        s->free_at = (s->free_at + 1) % VERIFY_BLOCKS;
        s->free_count--;
        s->maps.words[index] = made->blocks[i];
        s->maps.words[index].next = next;
        next = index;
    }
    return next;
}

/* Notes a key that is not in the map yet. */
static bool enter_key(struct known_stacks *s, const struct rule_key *key)
{
    if (!count_up(s->spaces, key->space))
        return false;
    if (!count_up(s->hashes, hash_of(key))) {
        count_down(s->spaces, key->space);
        return false;
    }
    s->keys[(s->key_at + s->key_count++) % VERIFY_KEYS] = *key;
    return true;
}

/* Index of the key's stack with the same words and places; inner: it has no others. RULE_STACKS: none. */
static uint32_t find_equal(const struct known_stacks *s, const struct rule_known *known,
                           const struct made *made, bool inner)
{
    for (uint32_t i = 0; i < known->count; i++)
        if (known->stacks[i].first <= made->first && known->stacks[i].last >= made->last &&
            (!inner || (known->stacks[i].first == made->first && known->stacks[i].last == made->last)) &&
            are_equal(s, known->stacks[i].words, made->blocks, made->count))
            return i;
    return RULE_STACKS;
}

/* Removes the oldest keys until one more key and so many blocks fit. */
static void make_room(struct known_stacks *s, size_t blocks)
{
    while (s->key_count && (s->key_count == VERIFY_KEYS || s->free_count < blocks + BLOCKS_RESTING))
        forget_oldest(s);
}

/* Reads a key's entry, after making space for it and for blocks, which may remove the key itself. Returns
 * whether the key must be added. */
static bool find_key(struct known_stacks *s, const struct rule_key *key, size_t blocks,
                     struct rule_known *known)
{
    make_room(s, blocks);
    return !find_known(s, key, known);
}

/* Writes a key's entry; added: the key is not in the map yet. 1; 0: the map is full; -ENOMEM. */
static int put_key(struct known_stacks *s, const struct rule_key *key, const struct rule_known *known,
                   bool added)
{
    if (added && !enter_key(s, key))
        return -ENOMEM;
    if (s->maps.put(s->maps.known, key, known) == 0)
        return 1;
    if (added) {
        s->key_count--;
        uncount_key(s, key);
    }
    return 0;
}

/* Index of the known row of a stack's PC: its own, or one to be replaced. */
static uint32_t place_of_row(const struct known_stacks *s, struct rule_known *known,
                             const struct known_stack *stack)
{
    const uint64_t mask = (UINT64_C(1) << s->page_bits) - 1, page = stack->ip & ~mask,
                   end = stack->row + stack->row_size;
    const uint16_t first = stack->row_size && stack->row > page ? (uint16_t)(stack->row - page) : 0,
                   last = stack->row_size && end <= page + mask ? (uint16_t)(end - page - 1) : (uint16_t)mask;
    uint32_t at = 0;
    while (at < known->count && (known->stacks[at].first != first || known->stacks[at].last != last))
        at++;
    if (at == RULE_STACKS)
        at = stack->number % RULE_STACKS;
    known->count = at >= known->count ? at + 1 : known->count;
    known->stacks[at].first = first;
    known->stacks[at].last = last;
    return at;
}

/* Stores where stacks with their PC in this row have their return address. */
static int put_row(struct known_stacks *s, const struct rule_key *key, const struct known_stack *stack,
                   uint32_t offset)
{
    struct rule_known known = {0};
    const bool added = find_key(s, key, 0, &known);
    const uint32_t count = known.count, at = place_of_row(s, &known, stack);
    if (at < count && known.stacks[at].number == offset)
        return 1;
    known.stacks[at].number = offset;
    return put_key(s, key, &known, added);
}

/* The repeated words of a stack, counted from SP, with their values. false: too few repeat. */
static bool make_run(const struct known_stack *stack, struct rule_words *block)
{
    struct word_run run = {0};
    size_t at = 0;
    if (stack->count == 0 || stack->words[stack->count - 1].address - stack->sp < RUN_LEAST_BYTES)
        return false;
    while (at < stack->count && stack->words[at].address < stack->sp) /* skips the red zone */
        at++;
    while (at < stack->count && run.words == 0)
        run = run_at(stack, at++, stack->count, true);
    if (run.words == 0 || run.period * run.times < RUN_LEAST_BYTES)
        return false;
    const size_t first = at - 1, most = RULE_WORDS / run.words,
                 wanted = run.period < RUN_BYTES ? RUN_BYTES / run.period : 1;
    run = run_by(run, wanted < most ? wanted : most);
    *block = (struct rule_words){.period = (uint16_t)run.period, .times = RULE_TIMES_MAX};
    for (size_t i = first; i < first + run.words; i++) {
        struct stack_word word = stack->words[i];
        word.low = word.value;
        word.size = 1;
        add_word(block, &word, stack->sp, NULL);
    }
    return true;
}

/* Stores what repeats in stacks with their PC in this row. 0: nothing, or the map is full. */
static int put_run(struct known_stacks *s, const struct known_stack *stack)
{
    const struct rule_key key = {
        .page = stack->ip >> s->page_bits, .depth = RULE_RUNS, .space = stack->space};
    struct rule_known known = {0};
    struct made made = {.count = 1};
    if (!make_run(stack, &made.blocks[0]))
        return 0;
    const bool added = find_key(s, &key, 1, &known);
    const uint32_t at = place_of_row(s, &known, stack), replaced = known.stacks[at].words;
    if (replaced && are_equal(s, replaced, made.blocks, 1))
        return 1;
    const uint32_t stored = store_blocks(s, &made);
    known.stacks[at].number = known.stacks[at].words = stored;
    const int rc = put_key(s, &key, &known, added);
    free_blocks(s, rc > 0 ? replaced : stored);
    return rc;
}

static int put_step(struct known_stacks *s, const struct rule_key *key, uint32_t distance)
{
    struct rule_known known = {0};
    const bool added = find_key(s, key, 0, &known);
    if (!added && known.extent == distance)
        return 1;
    known.extent = distance;
    return put_key(s, key, &known, added);
}

/* Stores the steps to a stack by its return addresses in [from, to), the last of which had `hash`; *key:
 * the final one. by_row: the first address is where the PC's row says. Returns the number of steps, or
 * -ENOMEM. */
static int put_steps(struct known_stacks *s, const struct known_stack *stack, uint64_t from, uint64_t to,
                     uint64_t hash, bool by_row, struct rule_key *key)
{
    unsigned steps = 0;
    int rc = 1;
    for (size_t i = 0; i < stack->count && rc > 0 && steps < RULE_STEPS; i++) {
        const struct stack_word *word = &stack->words[i];
        if (word->in_stack || word->address - from >= to - from)
            continue;
        *key = (struct rule_key){
            .page = hash, .depth = by_row && !steps ? RULE_ROWS : RULE_STEP, .space = stack->space};
        const uint32_t distance = (uint32_t)(word->address - from);
        rc = by_row && !steps ? put_row(s, key, stack, distance) : put_step(s, key, distance);
        hash = rule_hash(hash, word->value);
        from = word->address;
        steps++;
    }
    *key = (struct rule_key){.page = hash, .depth = RULE_CHAIN, .space = stack->space};
    return rc > 0 ? (int)steps : rc;
}

/* Stores the steps to a stack without a base; *key: the final one. 1; 0: there are none; -ENOMEM. */
static int put_way(struct known_stacks *s, const struct known_stack *stack, struct rule_key *key)
{
    const uint64_t size = stack->switch_at ? stack->switch_at : RULE_STACK_MAX;
    return put_steps(s, stack, stack->sp, stack->sp + size, stack->ip >> s->page_bits, true, key);
}

/* Stores that a stack continues on another one, and the steps to that. *key: of the system stack, then of the
 * whole. Returns the same. */
static int put_switched(struct known_stacks *s, const struct known_stack *stack, struct rule_key *key)
{
    struct rule_known known = {0};
    const bool added = find_key(s, key, 0, &known);
    int rc = known.switched;
    known.switched = 1;
    if (!rc && (rc = put_key(s, key, &known, added)) <= 0)
        return rc;
    rc = put_steps(s, stack, stack->sp + stack->switch_at, stack->sp + RULE_STACK_MAX,
                   rule_hash(key->page, key->depth), false, key);
    return rc < 0 ? rc : 1;
}

static struct rule_key key_anywhere(const struct known_stacks *s, const struct known_stack *stack,
                                    uint64_t base)
{
    const struct stack_place *place = place_of(stack, stack->ip);
    return (struct rule_key){
        .page = (stack->ip - place->at) >> s->page_bits, .depth = base - stack->sp, .file = place->number};
}

/* Number of a record with more frames inside of a caller's stack. */
static uint32_t inner_number(const struct known_stack *stack)
{
    return stack->inner ? stack->inner : stack->number;
}

/* Adds to a known stack that this one's record has more frames inside of it. 0 or -ENOMEM. */
static int add_inner(struct known_stacks *s, const struct rule_key *key, const struct known_stack *stack,
                     struct rule_known *known, uint32_t at)
{
    if (at == RULE_STACKS || known->stacks[at].inner)
        return 0;
    known->stacks[at].inner = inner_number(stack);
    if (known->stacks[at].version != stack->version)
        known->stacks[at].version = RULE_MIXED;
    const int rc = put_key(s, key, known, false);
    return rc < 0 ? rc : 0;
}

/* false: out of memory. */
static bool note_kept(struct known_stacks *s, const struct rule_key *key, const struct known_stack *stack)
{
    if (!vec_reserve(s->kept, s->kept_count, s->kept_capacity, 2))
        return false;
    s->kept[s->kept_count++] = (struct kept_key){*key, stack->number};
    if (stack->inner)
        s->kept[s->kept_count++] = (struct kept_key){*key, stack->inner};
    return true;
}

static bool has_much_room(const struct known_stacks *s)
{
    return s->key_count < VERIFY_KEYS / 2 && s->free_count > VERIFY_BLOCKS / 2;
}

int known_stacks_add(struct known_stacks *s, const struct known_stack *stack, struct fathom_error *err)
{
    struct made made;
    struct rule_known known = {0};
    uint64_t base = base_of(s, stack);
    const bool apart = !base && s->compared == STACK_RECORD_ALL; /* it has no depth */
    const bool anywhere = !apart && s->compared == STACK_RECORD_ALL && is_anywhere(stack);
    /* Only the function's own places identify the function that a callee returns to. */
    const bool inner = anywhere && stack->of_caller && stack->code_size;
    const struct rule_key key_there = {
        .page = stack->ip >> s->page_bits, .depth = base - stack->sp, .space = stack->space};
    struct rule_key key = anywhere ? key_anywhere(s, stack, base) : key_there;
    uint32_t stored = 0, replaced = 0;
    if (stack->of_caller && base == stack->sp) /* there is nothing to compare */
        return 0;
    if (stack->version == KNOWN_STACK_ANY && !has_much_room(s)) /* it may never occur */
        return 0;
    /* A stack that was read before its base was known, which is known by now, will be read again, further
     * out. */
    if (!apart && !stack->of_caller && stack->cut && stack->cut <= STACK_RECORD_NO_BASE)
        return 0;
    if (!stack->of_caller && !stack->switch_at && stack->space && s->compared == STACK_RECORD_ALL &&
        put_run(s, stack) < 0)
        return error_memory(err);
    if ((stack->of_caller && (apart || s->compared < STACK_RECORD_ALL)) ||
        !make_known(s, stack, apart ? stack->sp : base, anywhere, &made))
        return 0;
    int rc = apart ? put_way(s, stack, &key) : 1;
    if (rc > 0 && stack->switch_at)
        rc = put_switched(s, stack, &key);
    if (rc <= 0)
        return rc < 0 ? error_memory(err) : 0;
    const bool added = find_key(s, &key, made.count, &known);
    uint32_t at = find_equal(s, &known, &made, inner);
    /* A caller's stack replaces none that was read itself. */
    if (stack->of_caller && (at < RULE_STACKS || known.count == RULE_STACKS))
        return inner && add_inner(s, &key, stack, &known, at) < 0 ? error_memory(err) : 0;
    if (at == RULE_STACKS) { /* replace the last one if there is no space for one more */
        at = known.count < RULE_STACKS ? known.count++ : RULE_STACKS - 1;
        replaced = known.stacks[at].words;
        known.stacks[at].words = stored = store_blocks(s, &made);
        known.stacks[at].number = stack->number;
        known.stacks[at].first = made.first;
        known.stacks[at].last = made.last;
        known.stacks[at].inner = inner ? inner_number(stack) : 0;
        known.stacks[at].version = anywhere ? stack->version : 0;
    }
    known.stacks[at].alias = stack->number;
    known.below |= made.below;
    known.outer |= made.outer;
    if (made.extent > known.extent)
        known.extent = made.extent;
    rc = put_key(s, &key, &known, added);
    if (rc <= 0) { /* no memory, for now */
        free_blocks(s, stored);
        return rc < 0 ? error_memory(err) : 0;
    }
    free_blocks(s, replaced);
    if (stack->version == KNOWN_STACK_ANY && !note_kept(s, &key, stack))
        return error_memory(err);
    return 1;
}

/* Removes from a key the stacks that are announced by this number. */
static void leave_out(struct known_stacks *s, const struct rule_key *key, uint32_t number)
{
    struct rule_known known;
    uint32_t words = 0;
    if (!find_known(s, key, &known))
        return;
    for (uint32_t i = 0; i < known.count; i++) {
        if (known.stacks[i].inner == number)
            known.stacks[i].inner = 0;
        if (known.stacks[i].number != number)
            continue;
        words = known.stacks[i].words;
        known.stacks[i] = known.stacks[--known.count];
        memset(&known.stacks[known.count], 0, sizeof *known.stacks); /* the next stack would free its words */
        break;
    }
    if (s->maps.put(s->maps.known, key, &known) == 0)
        free_blocks(s, words);
}

void known_stacks_retract(struct known_stacks *s, uint32_t number)
{
    for (size_t i = s->kept_count; i-- > 0;) {
        if (number && s->kept[i].number != number)
            continue;
        leave_out(s, &s->kept[i].key, s->kept[i].number);
        s->kept[i] = s->kept[--s->kept_count];
    }
}

bool known_stacks_switch(struct known_stacks *s, uint32_t space, const struct go_stacks *go, uint64_t bias)
{
    const struct rule_switch rule = {.thread = go->thread,
                                     .machine = go->machine,
                                     .system = go->system,
                                     .current = go->current,
                                     .saved = go->saved,
                                     .call = bias + go->call,
                                     .call_size = go->call_size,
                                     .grow = bias + go->grow,
                                     .grow_size = go->grow_size};
    return s->maps.switches >= 0 && s->compared == STACK_RECORD_ALL &&
           s->maps.put(s->maps.switches, &space, &rule) == 0;
}
