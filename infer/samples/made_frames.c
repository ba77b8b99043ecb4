/* made_frames.c - see made_frames.h. */
#include "infer/samples/made_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "image/run_time.h"

struct made_frame {
    uint64_t pc; /* in the code: of the call, not after it */
    uint32_t height;
    bool returns; /* a callee returns here */
};

struct stack {
    size_t first, count; /* frames */
    uint64_t state;      /* process_state() for which the path's functions are right */
};

struct made_frames {
    struct made_frame *frames;
    size_t frame_count, frame_capacity;
    struct stack *stacks; /* by number - 1 */
    uint32_t stack_count, stack_capacity;
    uint32_t *functions; /* of the path being renamed; its nodes, innermost first */
    size_t function_capacity;
    uint32_t *nodes;
    size_t node_count, node_capacity;
};

struct made_frames *made_frames_new(void)
{
    return calloc(1, sizeof(struct made_frames));
}

void made_frames_free(struct made_frames *m)
{
    if (!m)
        return;
    free(m->frames);
    free(m->stacks);
    free(m->functions);
    free(m->nodes);
    free(m);
}

int made_frames_add(struct made_frames *m, const struct process *process, const struct unwind_frame *stack,
                    size_t count, uint32_t height, uint32_t *number)
{
    struct stack added = {.first = m->frame_count, .state = process_state(process)};
    *number = MADE_FRAMES_NONE;
    if (!process_code_changes(process))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const bool returns = i > 0 && !stack[i].interrupted;
        const struct made_frame frame = {stack[i].pc - returns,
                                         height - (uint32_t)(stack[i].cfa - stack[0].cfa), returns};
        if (image_is_run_time(stack[i].place.image) &&
            !vec_push(m->frames, m->frame_count, m->frame_capacity, frame))
            return -ENOMEM;
    }
    added.count = m->frame_count - added.first;
    if (!added.count)
        return 0;
    if (!vec_push(m->stacks, m->stack_count, m->stack_capacity, added))
        return -ENOMEM;
    *number = m->stack_count;
    return 0;
}

static const struct made_frame *find_frame(const struct made_frames *m, const struct stack *stack,
                                           uint32_t height)
{
    for (size_t i = 0; i < stack->count; i++)
        if (m->frames[stack->first + i].height == height)
            return &m->frames[stack->first + i];
    return NULL;
}

/* Reads the functions and nodes of a path. */
static int read_path(struct made_frames *m, const struct trie *trie, uint32_t leaf)
{
    uint64_t site;
    m->node_count = 0;
    for (uint32_t node = leaf; node != TRIE_ROOT;) {
        if (!vec_push(m->nodes, m->node_count, m->node_capacity, node))
            return -ENOMEM;
        if (!trie_at_height(trie, node, trie_height(trie, node), &node, &site))
            break;
    }
    return trie_path(trie, leaf, &m->functions, &m->function_capacity);
}

/* The new path so far, with the present functions. */
struct renaming {
    const struct process *process;
    struct trainer *trainer;
    struct trie *trie;
    uint32_t node, before; /* the last node, and the one above it */
    uint64_t returned;     /* return address in the last node's code, if that is new; else 0 */
};

/* Adds what replaces an old node. 0 or -ENOMEM. */
static int rename_node(struct renaming *r, const struct made_frame *made, uint32_t old, uint32_t function)
{
    const uint32_t height = trie_height(r->trie, old);
    struct place place;
    uint32_t parent;
    uint64_t site = 0;
    trie_at_height(r->trie, old, height, &parent, &site);
    site = r->returned ? r->returned : site;
    r->returned = 0;
    if (made && process_place(r->process, made->pc, &place) && place.function != IMAGE_NO_FUNCTION) {
        function = trainer_function(r->trainer, &place);
        r->returned = made->returns ? place.address + 1 : 0;
    }
    r->before = r->node;
    r->node = function == TRIE_NONE ? TRIE_NONE : trie_child(r->trie, r->node, function, height, site);
    return r->node == TRIE_NONE ? -ENOMEM : 0;
}

int made_frames_rename(struct made_frames *m, uint32_t number, const struct process *process,
                       struct trainer *trainer, struct trie *trie, struct trainer_path *path)
{
    struct renaming r = {process, trainer, trie, TRIE_ROOT, TRIE_ROOT, 0};
    struct stack *stack = number == MADE_FRAMES_NONE ? NULL : &m->stacks[number - 1];
    if (!stack || stack->state == process_state(process))
        return 0;
    const int depth = read_path(m, trie, path->leaf);
    if (depth < 0 || (size_t)depth != m->node_count)
        return depth < 0 ? depth : 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->node_count; i++) {
        const uint32_t old = m->nodes[m->node_count - 1 - i];
        rc = rename_node(&r, find_frame(m, stack, trie_height(trie, old)), old, m->functions[i]);
    }
    if (rc < 0)
        return rc;
    path->leaf = r.node;
    path->callers = r.before;
    stack->state = process_state(process);
    return 0;
}
