/* kept_stacks.c - see kept_stacks.h. */
#include "infer/live/kept_stacks_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/vec.h"
#include "perfdata/walks.h"

/* Bits of the offset in an address from kept_stacks_at(). */
#define FILE_BITS  40u
#define BASE       (UINT64_C(1) << 63)
#define NUMBER_MAX ((1u << (63 - FILE_BITS)) - 1) /* of a file's number */

#define PAGE_BITS 12u

static bool begin_nodes(struct kept_nodes *n)
{
    n->number_of = table_new();
    return n->number_of && vec_push(n->at, n->count, n->capacity, (struct kept_node){0});
}

struct kept_stacks *kept_stacks_new(void)
{
    struct kept_stacks *k =
        allocate(struct kept_stacks, .paths = names_new(), .file_of = table_new(), .stack_of = table_new());
    return whole_or_free(
        k, k->paths && k->file_of && k->stack_of && begin_nodes(&k->words) && begin_nodes(&k->frames),
        kept_stacks_free);
}

void kept_stacks_free(struct kept_stacks *k)
{
    if (!k)
        return;
    names_free(k->paths);
    table_free(k->file_of);
    table_free(k->words.number_of);
    table_free(k->frames.number_of);
    table_free(k->stack_of);
    free(k->files);
    free(k->numbers);
    free(k->words.at);
    free(k->frames.at);
    free(k->stacks);
    free(k->scratch);
    free(k);
}

size_t kept_stacks_count(const struct kept_stacks *k)
{
    return k->stack_count;
}

size_t kept_stacks_items(const struct kept_stacks *k)
{
    return (size_t)k->stack_count + k->words.count + k->frames.count;
}

bool kept_stacks_changed(const struct kept_stacks *k)
{
    return k->changed;
}

bool kept_stacks_add_file(struct kept_stacks *k, const struct numbered_file *file)
{
    struct numbered_file own = *file;
    own.path = names_text(k->paths, names_intern(k->paths, file->path));
    return own.path && vec_push(k->files, k->file_count, k->file_capacity, own);
}

/* The index of the file with this number: 1; 0: there are too many files; -ENOMEM. */
static int file_of(struct kept_stacks *k, const struct file_numbers *numbers, uint32_t number, uint32_t *out)
{
    bool added;
    uint64_t *index = table_put(k->file_of, number, &added);
    if (!index)
        return -ENOMEM;
    if (added) {
        const bool room = k->file_count < FILES_MOST && number <= NUMBER_MAX;
        *index = k->file_count;
        if (!room || !vec_reserve(k->numbers, k->file_count, k->number_capacity, 1) ||
            !kept_stacks_add_file(k, file_numbers_at(numbers, number))) {
            table_remove(k->file_of, number);
            return room ? -ENOMEM : 0;
        }
        k->numbers[*index] = number;
    }
    *out = (uint32_t)*index;
    return 1;
}

static bool is_same(const struct kept_node *a, const struct kept_node *b)
{
    return a->outer == b->outer && a->height == b->height && a->size == b->size && a->file == b->file &&
           a->offset == b->offset && a->marks == b->marks && a->in_stack == b->in_stack;
}

static uint64_t hash_node(const struct kept_node *node)
{
    return hash_u64(hash_u64(node->offset + node->file) +
                    ((uint64_t)node->outer << 32 | (uint32_t)node->height));
}

/* The number of a node, added if it is new; NODES_FULL: too many nodes. */
static uint32_t put_node(struct kept_nodes *n, const struct kept_node *node)
{
    bool added;
    uint64_t *number = table_put(n->number_of, hash_node(node), &added);
    if (!number)
        return NODES_FULL;
    if (!added && is_same(&n->at[*number], node))
        return (uint32_t)*number;
    if (n->count == NODES_MOST || !vec_push(n->at, n->count, n->capacity, *node)) {
        if (added)
            table_remove(n->number_of, hash_node(node));
        return NODES_FULL;
    }
    *number = n->count - 1;
    return n->count - 1;
}

/* A stack that is being added, and the file of each of its places. */
struct adding {
    const struct known_stack *known;
    uint32_t files[STACK_PLACED_MAX];
};

/* false: the word is an address in no file. */
static bool make_word(const struct kept_stacks *k, const struct adding *a, const struct stack_word *word,
                      uint32_t outer, struct kept_node *out)
{
    const struct known_stack *s = a->known;
    *out = (struct kept_node){.outer = outer,
                              .length = (uint16_t)(k->words.at[outer].length + 1),
                              .height = (int32_t)(s->base - word->address),
                              .size = word->size,
                              .in_stack = word->in_stack,
                              .offset = s->base - word->low};
    if (word->in_stack || out->length > UNWIND_MAX_FRAMES)
        return word->in_stack && out->length <= UNWIND_MAX_FRAMES;
    const struct stack_place *place = stack_place_of(s->places, s->place_count, word->low);
    if (!place)
        return false;
    out->file = a->files[place - s->places];
    out->offset = word->low - place->at;
    return true;
}

static bool make_frame(const struct kept_stacks *k, const struct adding *a, const struct unwind_frame *frame,
                       bool exact, uint32_t outer, struct kept_node *out)
{
    const struct known_stack *s = a->known;
    const int64_t height = (int64_t)(s->base - frame->cfa);
    const struct stack_place *place =
        stack_place_of(s->places, s->place_count, frame->pc - (exact || frame->interrupted ? 0 : 1));
    if (!place || height != (int32_t)height || k->frames.at[outer].length == UNWIND_MAX_FRAMES)
        return false;
    *out = (struct kept_node){.outer = outer,
                              .length = (uint16_t)(k->frames.at[outer].length + 1),
                              .file = a->files[place - s->places],
                              .offset = frame->pc - place->at,
                              .height = (int32_t)height,
                              .marks = (uint8_t)((frame->interrupted ? WALKED_INTERRUPTED : 0) |
                                                 (frame->derived ? WALKED_DERIVED : 0))};
    return true;
}

/* The node of the stack's innermost word; NODES_FULL: it cannot be stored. */
static uint32_t put_words(struct kept_stacks *k, const struct adding *a)
{
    uint32_t node = 0;
    struct kept_node word;
    for (size_t i = a->known->count; i-- > 0 && node != NODES_FULL;)
        node = make_word(k, a, &a->known->words[i], node, &word) ? put_node(&k->words, &word) : NODES_FULL;
    return node;
}

static uint32_t put_frames(struct kept_stacks *k, const struct adding *a, const struct unwind_frame *frames,
                           size_t count)
{
    uint32_t node = 0;
    struct kept_node frame;
    for (size_t i = count; i-- > 0 && node != NODES_FULL;)
        node = make_frame(k, a, &frames[i], i == 0, node, &frame) ? put_node(&k->frames, &frame) : NODES_FULL;
    return node;
}

/* Hash of what the collector finds it by (its page of code and depth), of its words and of the code that it stands for. */
static uint64_t hash_stack(const struct kept_stacks *k, const struct kept_stack *s)
{
    const struct kept_node *leaf = &k->frames.at[s->frame];
    const uint64_t code = s->code_size ? leaf->offset - s->code_before : 0;
    return hash_u64(hash_u64(hash_u64(leaf->offset >> PAGE_BITS) + leaf->file +
                             ((uint64_t)s->depth << 32 | s->word)) +
                    code) +
           s->code_size + hash_u64(s->value + s->reg);
}

static int add_stack(struct kept_stacks *k, const struct kept_stack *stack, size_t *out)
{
    const uint32_t before = k->stack_count;
    const size_t index =
        table_index(k->stack_of, hash_stack(k, stack), k->stacks, k->stack_count, k->stack_capacity, *stack);
    if (index == SIZE_MAX)
        return -ENOMEM;
    k->changed |= k->stack_count > before;
    *out = index;
    return 0;
}

/* Whether the collector can recognise it wherever its files are mapped, and its values fit. */
static bool can_be_kept(const struct kept_stacks *k, const struct known_stack *s)
{
    return k->stack_count < KEPT_STACKS_MOST && s->place_count && !s->switch_at && !s->cut &&
           s->base - s->sp < DEPTH_MAX && s->base > s->sp && s->code_size <= UINT32_MAX &&
           s->ip - s->code <= UINT32_MAX;
}

int kept_stacks_add(struct kept_stacks *k, const struct file_numbers *numbers,
                    const struct known_stack *known, const struct unwind_frame *frames, size_t count,
                    size_t callee, size_t *index)
{
    struct adding a = {.known = known};
    *index = KEPT_STACKS_MOST;
    if (!can_be_kept(k, known) || (known->of_caller && callee >= k->stack_count))
        return 0;
    for (size_t i = 0; i < known->place_count; i++) {
        const int rc = file_of(k, numbers, known->places[i].number, &a.files[i]);
        if (rc <= 0)
            return rc;
    }
    struct kept_stack stack = {.callee = known->of_caller ? (uint32_t)callee : KEPT_STACKS_MOST,
                               .depth = (uint32_t)(known->base - known->sp),
                               .reg = known->reg,
                               .value = known->reg ? known->base - known->value : 0,
                               .code_before = (uint32_t)(known->ip - known->code),
                               .code_size = (uint32_t)known->code_size,
                               .used = true};
    stack.word = put_words(k, &a);
    stack.frame = put_frames(k, &a, frames, count);
    return stack.word == NODES_FULL || stack.frame == NODES_FULL ? 0 : add_stack(k, &stack, index);
}

static bool number_nodes(struct kept_nodes *n)
{
    bool done = true;
    for (uint32_t i = 1; done && i < n->count; i++)
        done = table_set(n->number_of, hash_node(&n->at[i]), i);
    return done;
}

int kept_stacks_number(struct kept_stacks *k, struct file_numbers *numbers)
{
    bool done = vec_reserve(k->numbers, 0, k->number_capacity, k->file_count);
    for (uint32_t i = 0; done && i < k->file_count; i++) {
        k->numbers[i] = file_numbers_put(numbers, &k->files[i]);
        done = k->numbers[i] && k->numbers[i] <= NUMBER_MAX && table_set(k->file_of, k->numbers[i], i);
    }
    done = done && number_nodes(&k->words) && number_nodes(&k->frames);
    for (uint32_t i = 0; done && i < k->stack_count; i++)
        done = table_set(k->stack_of, hash_stack(k, &k->stacks[i]), i + 1ul);
    return done ? 0 : -ENOMEM;
}

uint32_t kept_stacks_file(const struct kept_stacks *k, const char *path, const struct build_id *id)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < k->file_count; i++) {
        if (!build_id_equal(&k->files[i].id, id) || strcmp(k->files[i].path, path) != 0)
            continue;
        if (number) /* the file is mapped at several distances */
            return 0;
        number = k->numbers[i];
    }
    return number;
}

/* Gives the file an address of its own in the stack's process, which has at most STACK_PLACED_MAX. Returns the address of an
 * offset in the file. */
static uint64_t place(struct kept_stacks *k, struct known_stack *out, uint32_t file, uint64_t offset)
{
    const uint64_t at = (uint64_t)k->numbers[file] << FILE_BITS;
    if (!stack_place_of(k->places, out->place_count, at) && out->place_count < STACK_PLACED_MAX)
        k->places[out->place_count++] =
            (struct stack_place){at, at + (UINT64_C(1) << FILE_BITS), at, k->numbers[file]};
    return at + offset;
}

bool kept_stacks_at(struct kept_stacks *k, size_t index, struct known_stack *out, size_t *callee)
{
    const struct kept_stack *from = &k->stacks[index];
    const struct kept_node *leaf = &k->frames.at[from->frame];
    *callee = from->callee;
    *out = (struct known_stack){.sp = BASE - from->depth,
                                .base = BASE,
                                .reg = from->reg,
                                .value = from->reg ? BASE - from->value : 0,
                                .of_caller = from->callee < KEPT_STACKS_MOST,
                                .places = k->places};
    out->ip = place(k, out, leaf->file, leaf->offset);
    out->code = out->ip - from->code_before;
    out->code_size = from->code_size;
    for (uint32_t node = from->word; node; node = k->words.at[node].outer) {
        const struct kept_node *w = &k->words.at[node];
        struct stack_word word = {
            .address = BASE - (uint32_t)w->height, .size = w->size, .in_stack = w->in_stack};
        word.low = w->in_stack ? BASE - w->offset : place(k, out, w->file, w->offset);
        if (!vec_push(k->scratch, out->count, k->scratch_capacity, word))
            return false;
    }
    out->words = k->scratch;
    return true;
}

size_t kept_stacks_frames(const struct kept_stacks *k, size_t index, struct kept_frame *out)
{
    size_t count = 0;
    for (uint32_t node = k->stacks[index].frame; node && count < UNWIND_MAX_FRAMES;
         node = k->frames.at[node].outer) {
        const struct kept_node *from = &k->frames.at[node];
        out[count++] = (struct kept_frame){&k->files[from->file], from->offset, from->height, from->marks};
    }
    return count;
}

void kept_stacks_use(struct kept_stacks *k, size_t index)
{
    k->stacks[index].used = k->changed = true;
}
