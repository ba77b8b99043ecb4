/*
 * kept_stacks_file.c - kept stacks as a file: "FKST", the version, and a checksum of the rest: 4, 4 and 8 bytes in the byte
 * order of this machine, which the files do not leave. Then files, words, frames and stacks: of each kind their number and the
 * items, as ULEB128. Nodes are numbered from 1; a node stores its number minus that of its outer node, and its height minus
 * that node's.
 */
#include "infer/live/kept_stacks_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/vec.h"

#define MAGIC      0x54534b46u /* "FKST" */
#define VERSION    2u
#define HEAD_SIZE  16u
#define ITEM_MAX   (10 * BYTES_ULEB_MAX + BUILD_ID_MAX) /* bytes of one item of any kind */
#define ROOM_LEAST (KEPT_STACKS_MOST / 4)
#define LEFT_OUT   UINT32_MAX

/* Stand in for an item's new number, until these are given. */
enum mark { UNMARKED, STAYS, UNTRUSTED };

/* Each item has a mark, and then its new number. */
struct writing {
    const struct kept_stacks *from;
    uint64_t *stamps; /* by file */
    uint32_t *files, *words, *frames, *stacks;
    uint8_t *data;
    size_t size, capacity;
};

static bool make_room(struct writing *w)
{
    return vec_reserve(w->data, w->size, w->capacity, ITEM_MAX);
}

static void put_value(struct writing *w, uint64_t value)
{
    w->size = (size_t)(bytes_put_uleb(w->data + w->size, value) - w->data);
}

static bool put_count(struct writing *w, uint64_t count)
{
    const bool fits = make_room(w);
    if (fits)
        put_value(w, count);
    return fits;
}

/* Numbers the items that stay, in order. Returns how many. */
static uint32_t number_items(uint32_t *marks, uint32_t from, uint32_t count, uint32_t first)
{
    uint32_t next = first;
    for (uint32_t i = from; i < count; i++)
        marks[i] = marks[i] == STAYS ? next++ : LEFT_OUT;
    return next - first;
}

/* Marks the nodes that are in an untrusted file, and those inside of them. */
static void mark_nodes_untrusted(const struct writing *w, const struct kept_nodes *n, uint32_t *marks)
{
    for (uint32_t i = 1; i < n->count; i++)
        if ((!n->at[i].in_stack && !w->stamps[n->at[i].file]) || marks[n->at[i].outer] == UNTRUSTED)
            marks[i] = UNTRUSTED;
}

static void mark_untrusted(struct writing *w, kept_stacks_stamp *stamp)
{
    const struct kept_stacks *k = w->from;
    for (uint32_t i = 0; i < k->file_count; i++)
        w->stamps[i] = stamp(&k->files[i]) == k->files[i].stamp ? k->files[i].stamp : 0;
    mark_nodes_untrusted(w, &k->words, w->words);
    mark_nodes_untrusted(w, &k->frames, w->frames);
}

static bool is_trusted(const struct writing *w, uint32_t stack)
{
    const struct kept_stack *s = &w->from->stacks[stack];
    return w->words[s->word] != UNTRUSTED && w->frames[s->frame] != UNTRUSTED;
}

/* Marks the stacks that stay. */
static void mark_stacks(struct writing *w)
{
    const struct kept_stacks *k = w->from;
    uint32_t many =
        k->stack_count + ROOM_LEAST > KEPT_STACKS_MOST ? k->stack_count + ROOM_LEAST - KEPT_STACKS_MOST : 0;
    for (uint32_t i = 0; i < k->stack_count; i++) {
        const bool leave = many && !k->stacks[i].used;
        many -= leave;
        w->stacks[i] = leave || !is_trusted(w, i) ? UNMARKED : STAYS;
    }
    for (uint32_t i = k->stack_count; i-- > 0;) {
        const uint32_t callee = k->stacks[i].callee;
        if (w->stacks[i] == STAYS && callee < KEPT_STACKS_MOST && is_trusted(w, callee))
            w->stacks[callee] = STAYS;
    }
}

/* Marks what the nodes that stay refer to. */
static void mark_nodes_staying(struct writing *w, const struct kept_nodes *n, uint32_t *marks)
{
    for (uint32_t i = n->count; i-- > 1;)
        if (marks[i] == STAYS) {
            marks[n->at[i].outer] = STAYS;
            if (!n->at[i].in_stack)
                w->files[n->at[i].file] = STAYS;
        }
}

/* Marks the stacks that stay, and everything that they refer to. */
static void mark_staying(struct writing *w)
{
    const struct kept_stacks *k = w->from;
    mark_stacks(w);
    for (uint32_t i = 0; i < k->stack_count; i++)
        if (w->stacks[i] == STAYS)
            w->words[k->stacks[i].word] = w->frames[k->stacks[i].frame] = STAYS;
    mark_nodes_staying(w, &k->words, w->words);
    mark_nodes_staying(w, &k->frames, w->frames);
}

static bool put_files(struct writing *w, uint32_t count)
{
    const struct kept_stacks *k = w->from;
    bool fits = put_count(w, count);
    for (uint32_t i = 0; fits && i < k->file_count; i++) {
        const struct numbered_file *file = &k->files[i];
        if (w->files[i] == LEFT_OUT)
            continue;
        const size_t length = strlen(file->path) + 1;
        if (!vec_reserve(w->data, w->size, w->capacity, length + ITEM_MAX))
            return false;
        memcpy(w->data + w->size, file->path, length);
        w->size += length;
        put_value(w, file->id.size);
        memcpy(w->data + w->size, file->id.bytes, file->id.size);
        w->size += file->id.size;
        put_value(w, zigzag(file->adjust));
        put_value(w, w->stamps[i]);
    }
    return fits;
}

/* numbers: the nodes' new ones, `count` in all. */
static bool put_nodes(struct writing *w, const struct kept_nodes *n, const uint32_t *numbers, uint32_t count)
{
    const bool words = n == &w->from->words;
    bool fits = put_count(w, count);
    for (uint32_t i = 1; fits && i < n->count; i++) {
        const struct kept_node *node = &n->at[i];
        if (numbers[i] == LEFT_OUT)
            continue;
        if (!(fits = make_room(w)))
            break;
        put_value(w, numbers[i] - (node->outer ? numbers[node->outer] : 0));
        put_value(w, zigzag((uint64_t)((int64_t)node->height - n->at[node->outer].height)));
        if (words)
            put_value(w, (uint64_t)node->size << 1 | node->in_stack);
        put_value(w, node->in_stack ? 0 : w->files[node->file]);
        put_value(w, node->in_stack ? zigzag(node->offset) : node->offset);
        if (!words)
            put_value(w, node->marks);
    }
    return fits;
}

static bool put_stacks(struct writing *w, uint32_t count)
{
    const struct kept_stacks *k = w->from;
    bool fits = put_count(w, count);
    for (uint32_t i = 0; fits && i < k->stack_count; i++) {
        const struct kept_stack *s = &k->stacks[i];
        if (w->stacks[i] == LEFT_OUT)
            continue;
        if (!(fits = make_room(w)))
            break;
        put_value(w, s->word ? w->words[s->word] : 0);
        put_value(w, w->frames[s->frame]);
        put_value(w, s->callee < KEPT_STACKS_MOST && w->stacks[s->callee] != LEFT_OUT
                         ? 1 + w->stacks[s->callee]
                         : 0);
        put_value(w, s->depth);
        put_value(w, s->code_before);
        put_value(w, s->code_size);
        put_value(w, s->reg);
        put_value(w, zigzag(s->value));
    }
    return fits;
}

/* Returns how many stacks were written; -ENOMEM. */
static int put_all(struct writing *w, kept_stacks_stamp *stamp)
{
    const struct kept_stacks *k = w->from;
    mark_untrusted(w, stamp);
    mark_staying(w);
    const uint32_t files = number_items(w->files, 0, k->file_count, 0),
                   words = number_items(w->words, 1, k->words.count, 1),
                   frames = number_items(w->frames, 1, k->frames.count, 1),
                   stacks = number_items(w->stacks, 0, k->stack_count, 0);
    if (!make_room(w))
        return -ENOMEM;
    w->size = HEAD_SIZE;
    if (!put_files(w, files) || !put_nodes(w, &k->words, w->words, words) ||
        !put_nodes(w, &k->frames, w->frames, frames) || !put_stacks(w, stacks))
        return -ENOMEM;
    const uint32_t head[] = {MAGIC, VERSION};
    const uint64_t sum = checksum_of(w->data + HEAD_SIZE, w->size - HEAD_SIZE);
    memcpy(w->data, head, sizeof head);
    memcpy(w->data + sizeof head, &sum, sizeof sum);
    return (int)stacks;
}

int kept_stacks_write(const struct kept_stacks *k, kept_stacks_stamp *stamp, void **data, size_t *size,
                      size_t *stacks)
{
    struct writing w = {.from = k,
                        .stamps = calloc(k->file_count + 1u, sizeof *w.stamps),
                        .files = calloc(k->file_count + 1u, sizeof *w.files),
                        .words = calloc(k->words.count, sizeof *w.words),
                        .frames = calloc(k->frames.count, sizeof *w.frames),
                        .stacks = calloc(k->stack_count + 1u, sizeof *w.stacks)};
    const int rc = w.stamps && w.files && w.words && w.frames && w.stacks ? put_all(&w, stamp) : -ENOMEM;
    free(w.stamps);
    free(w.files);
    free(w.words);
    free(w.frames);
    free(w.stacks);
    if (rc < 0)
        free(w.data);
    *data = rc < 0 ? NULL : w.data;
    *size = w.size;
    *stacks = rc < 0 ? 0 : (size_t)rc;
    return rc < 0 ? rc : 0;
}

/* The number of items of a kind, each of at least `least` bytes; more than can follow are taken as damage. */
static uint32_t take_count(struct bytes *b, uint32_t most, size_t least)
{
    const uint64_t count = bytes_uleb(b);
    if (count > most || count > bytes_left(b) / least)
        b->failed = true;
    return b->failed ? 0 : (uint32_t)count;
}

/* A value below a limit; others are damage. */
static uint32_t take_below(struct bytes *b, uint64_t limit)
{
    const uint64_t value = bytes_uleb(b);
    if (value >= limit)
        b->failed = true;
    return b->failed ? 0 : (uint32_t)value;
}

/* The outer node of the node with this number. */
static uint32_t take_outer(struct bytes *b, uint32_t own)
{
    const uint32_t back = take_below(b, own + 1ul);
    if (back == 0)
        b->failed = true;
    return own - back;
}

/* The length of the chain from a node outwards, from that of its outer node. */
static uint16_t take_length(struct bytes *b, uint16_t outer)
{
    b->failed |= outer >= UNWIND_MAX_FRAMES;
    return (uint16_t)(outer + 1);
}

/* -ESTALE: a file is another one now. */
static int take_files(struct kept_stacks *k, struct bytes *b, kept_stacks_stamp *stamp)
{
    const uint32_t count = take_count(b, FILES_MOST, 4);
    bool same = true;
    for (uint32_t i = 0; i < count; i++) {
        struct numbered_file file = {.path = bytes_string(b)};
        file.id.size = (uint8_t)take_below(b, BUILD_ID_MAX + 1);
        const uint8_t *id = bytes_take(b, file.id.size);
        if (id)
            memcpy(file.id.bytes, id, file.id.size);
        file.adjust = unzigzag(bytes_uleb(b));
        file.stamp = bytes_uleb(b);
        if (b->failed)
            break;
        if (!kept_stacks_add_file(k, &file))
            return -ENOMEM;
        same = same && file.stamp == stamp(&file);
    }
    return same ? 0 : -ESTALE;
}

static int take_nodes(struct kept_stacks *k, struct kept_nodes *n, struct bytes *b)
{
    const uint32_t count = take_count(b, NODES_MOST - 1, 5);
    if (!vec_reserve(n->at, 1, n->capacity, count))
        return -ENOMEM;
    for (uint32_t i = 1; i <= count && !b->failed; i++) {
        struct kept_node node = {.outer = take_outer(b, i)};
        const struct kept_node *outer = &n->at[node.outer];
        node.length = take_length(b, outer->length);
        node.height = (int32_t)(uint32_t)((uint64_t)outer->height + unzigzag(bytes_uleb(b)));
        const uint64_t size = n == &k->words ? bytes_uleb(b) : 0;
        node.size = (uint32_t)(size >> 1);
        node.in_stack = size & 1;
        node.file = take_below(b, node.in_stack ? 1 : k->file_count);
        node.offset = bytes_uleb(b);
        if (node.in_stack)
            node.offset = unzigzag(node.offset);
        if (n == &k->frames)
            node.marks = (uint8_t)take_below(b, 256);
        n->at[n->count++] = node;
    }
    return 0;
}

static int take_stacks(struct kept_stacks *k, struct bytes *b)
{
    const uint32_t count = take_count(b, KEPT_STACKS_MOST, 8);
    if (!vec_reserve(k->stacks, 0, k->stack_capacity, count))
        return -ENOMEM;
    for (uint32_t i = 0; i < count && !b->failed; i++) {
        struct kept_stack s = {.word = take_below(b, k->words.count)};
        s.frame = take_below(b, k->frames.count);
        const uint32_t callee = take_below(b, i + 1ul);
        s.callee = callee ? callee - 1 : KEPT_STACKS_MOST;
        s.depth = take_below(b, DEPTH_MAX);
        s.code_before = take_below(b, UINT32_MAX);
        s.code_size = take_below(b, UINT32_MAX);
        s.reg = (uint8_t)take_below(b, STACK_RECORD_REGISTER_COUNT + 1);
        s.value = unzigzag(bytes_uleb(b));
        b->failed |= s.frame == 0;
        k->stacks[k->stack_count++] = s;
    }
    return 0;
}

int kept_stacks_read(const void *data, size_t size, kept_stacks_stamp *stamp, struct kept_stacks **out)
{
    uint32_t head[2];
    uint64_t sum;
    if (size < HEAD_SIZE)
        return -EBADMSG;
    memcpy(head, data, sizeof head);
    memcpy(&sum, (const char *)data + sizeof head, sizeof sum);
    if (head[0] != MAGIC || head[1] != VERSION ||
        sum != checksum_of((const char *)data + HEAD_SIZE, size - HEAD_SIZE))
        return -EBADMSG;
    struct bytes b = bytes_of((const char *)data + HEAD_SIZE, size - HEAD_SIZE);
    struct kept_stacks *k = kept_stacks_new();
    int rc = k ? take_files(k, &b, stamp) : -ENOMEM;
    rc = rc ? rc : take_nodes(k, &k->words, &b);
    rc = rc ? rc : take_nodes(k, &k->frames, &b);
    rc = rc ? rc : take_stacks(k, &b);
    if (rc == 0 && (b.failed || bytes_left(&b)))
        rc = -EBADMSG;
    if (rc < 0)
        kept_stacks_free(k);
    else
        *out = k;
    return rc;
}
