/* walks.c - see walks.h. */
#include "perfdata/walks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/vec.h"
#include "perfdata/stack_record.h"

/* threads in the same slot replace each other: their next stacks are written whole */
#define SLOTS     1024u
#define FRAMES_AT sizeof(struct stack_frames)
#define FRAME_MAX (3 * BYTES_ULEB_MAX + 1)

struct stack {
    struct walked_frame *frames; /* outermost first */
    size_t count, capacity;
    uint32_t tid;
    uint32_t number; /* 0: the slot is empty */
    uint32_t chain;  /* consecutive stacks that refer to others, including this one */
    uint64_t time;   /* of the last stack in this slot, of any thread */
};

struct walks {
    struct stack last[SLOTS];
    struct stack late; /* the last stack that was not stored */
};

struct walks *walks_new(void)
{
    return calloc(1, sizeof(struct walks));
}

void walks_free(struct walks *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        free(w->last[i].frames);
    free(w->late.frames);
    free(w);
}

/* The thread's slot, which it takes over. */
static struct stack *stack_of(struct walks *w, uint32_t tid)
{
    struct stack *stack = &w->last[hash_u64(tid) % SLOTS];
    if (stack->tid != tid)
        stack->number = 0;
    stack->tid = tid;
    return stack;
}

static bool are_equal(const struct walked_frame *a, const struct walked_frame *b)
{
    return a->pc == b->pc && a->cfa == b->cfa && a->marks == b->marks;
}

/* Stores the frames from `shared` on. */
static bool store_frames(struct stack *stack, size_t shared, const struct walked *walked)
{
    if (!vec_reserve(stack->frames, shared, stack->capacity, walked->count - shared))
        return false;
    if (walked->count > shared)
        memcpy(stack->frames + shared, walked->frames + shared,
               (walked->count - shared) * sizeof *stack->frames);
    stack->count = walked->count;
    return true;
}

/* Writes frames and marks; NULL: no space. */
static uint8_t *put_frames(const struct walked *walked, struct stack_frames *head, uint8_t *out,
                           const uint8_t *end)
{
    struct walked_frame around = head->shared ? walked->frames[head->shared - 1] : (struct walked_frame){0};
    size_t marked_at = head->shared;
    for (size_t i = head->shared; i < walked->count; i++) {
        const struct walked_frame *frame = &walked->frames[i];
        if ((size_t)(end - out) < FRAME_MAX)
            return NULL;
        out = bytes_put_uleb(out, zigzag(frame->pc - around.pc));
        out = bytes_put_uleb(out, around.cfa - frame->cfa);
        around = *frame;
    }
    for (size_t i = head->shared; i < walked->count; i++) {
        if (!walked->frames[i].marks)
            continue;
        if ((size_t)(end - out) < FRAME_MAX)
            return NULL;
        out = bytes_put_uleb(out, i - marked_at);
        *out++ = walked->frames[i].marks;
        marked_at = i + 1;
        head->marked++;
    }
    return out;
}

size_t walks_write(struct walks *w, uint32_t tid, uint64_t time, uint32_t number, const struct walked *walked,
                   uint8_t *out, size_t size)
{
    struct stack *last = stack_of(w, tid);
    const bool late = !time || time < last->time;
    size_t shared = 0;
    if (walked->count > STACK_FRAMES_MAX || size < FRAMES_AT + 8)
        return 0;
    if (!late && last->number && last->chain < WALKS_CHAIN)
        while (shared < last->count && shared < walked->count &&
               are_equal(&last->frames[shared], &walked->frames[shared]))
            shared++;
    struct stack_frames head = {.outer = shared ? last->number : 0,
                                .shared = (uint16_t)shared,
                                .count = (uint16_t)(walked->count - shared),
                                .end = walked->end,
                                .flags = (walked->has_back ? STACK_FRAMES_BACK : 0) |
                                         (late ? STACK_FRAMES_LATE : 0) |
                                         (walked->kept ? STACK_FRAMES_KEPT : 0),
                                .switch_at = walked->switch_at,
                                .back = walked->back};
    uint8_t *end = put_frames(walked, &head, out + FRAMES_AT, out + size - 8);
    if (!end || (!late && !store_frames(last, shared, walked)))
        return 0;
    memcpy(out, &head, sizeof head);
    for (; (end - out) % 8; end++)
        *end = 0;
    if (!late) {
        last->number = number;
        last->time = time;
        last->chain = shared ? last->chain + 1 : 0;
    }
    return (size_t)(end - out);
}

/* Reads the further frames; false: damaged. */
static bool read_frames(struct bytes *part, const struct stack_frames *head, struct walked_frame *frames)
{
    struct walked_frame around = head->shared ? frames[head->shared - 1] : (struct walked_frame){0};
    const size_t count = head->shared + (size_t)head->count;
    size_t marked = head->shared;
    for (size_t i = head->shared; i < count && !part->failed; i++) {
        around.pc += unzigzag(bytes_uleb(part));
        around.cfa -= bytes_uleb(part);
        frames[i] = (struct walked_frame){around.pc, around.cfa, 0};
    }
    for (uint32_t i = 0; i < head->marked && !part->failed; i++) {
        const uint64_t passed = bytes_uleb(part);
        if (passed >= count - marked)
            return false;
        marked += passed;
        frames[marked++].marks = bytes_u8(part);
    }
    return !part->failed;
}

int walks_read(struct walks *w, uint32_t tid, uint32_t number, const uint8_t *data, size_t size,
               struct walked *out)
{
    struct stack_frames head;
    if (size < sizeof head)
        return -EBADMSG;
    memcpy(&head, data, sizeof head);
    struct bytes part = bytes_of(data + sizeof head, size - sizeof head);
    struct stack *stack = head.flags & STACK_FRAMES_LATE ? &w->late : stack_of(w, tid);
    const size_t count = head.shared + (size_t)head.count;
    const bool found =
        !head.shared || (head.outer && head.outer == stack->number && head.shared <= stack->count);
    stack->number = 0;
    if (count > STACK_FRAMES_MAX || head.count > bytes_left(&part))
        return -EBADMSG;
    if (!found)
        return 0;
    if (!vec_reserve(stack->frames, head.shared, stack->capacity, head.count))
        return -ENOMEM;
    if (!read_frames(&part, &head, stack->frames))
        return -EBADMSG;
    stack->count = count;
    stack->number = head.flags & STACK_FRAMES_LATE ? 0 : number;
    *out = (struct walked){.frames = stack->frames,
                           .count = count,
                           .back = head.back,
                           .has_back = head.flags & STACK_FRAMES_BACK,
                           .kept = head.flags & STACK_FRAMES_KEPT,
                           .switch_at = head.switch_at,
                           .end = head.end};
    return 1;
}
