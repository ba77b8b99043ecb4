/* code_places.c - see code_places.h. */
#include "infer/samples/code_places.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"
#include "image/run_time.h"

/* Mapped code. */
struct code {
    const struct image *image;
    uint64_t at;          /* address of the file's offset 0 */
    uint64_t pc, address; /* a PC in it that a stack had; the same as an address in the image */
};

/* A stack's code: this, and that of the outer frames. Stacks share common outer nodes. */
struct node {
    uint32_t outer; /* a node; NOTHING: no more code */
    uint32_t code;
    uint64_t height; /* of the outermost frame in this code */
    uint64_t state;  /* process_state() for which it was last found to be in place; 0: none */
    uint64_t placed; /* hash of the same and of the places, for stacks that were placed */
};
#define NOTHING 0 /* the first node */

struct code_places {
    struct code *codes;
    uint32_t code_count, code_capacity;
    struct node *nodes;
    uint32_t node_count, node_capacity;
    struct table *code_of, *node_of; /* hash of the item -> its number + 1 */
    struct node *stack;              /* of the stack being added, from the innermost on */
    size_t stack_count, stack_capacity;
};

struct code_places *code_places_new(void)
{
    struct code_places *p = allocate(struct code_places, .code_of = table_new(), .node_of = table_new());
    return whole_or_free(
        p,
        p->code_of && p->node_of &&
            vec_push(p->nodes, p->node_count, p->node_capacity, (struct node){.outer = NOTHING}),
        code_places_free);
}

void code_places_free(struct code_places *p)
{
    if (!p)
        return;
    table_free(p->code_of);
    table_free(p->node_of);
    free(p->codes);
    free(p->nodes);
    free(p->stack);
    free(p);
}

/* The number of the code at a frame's PC; CODE_PLACES_NONE: out of memory. */
static uint32_t add_code(struct code_places *p, const struct process *process, const struct place *place,
                         uint64_t pc)
{
    const struct mapping *mapping = process_mapping(process, pc);
    const struct code code = {.image = place->image,
                              .at = mapping ? mapping->start - mapping->offset : 0,
                              .pc = pc,
                              .address = place->address};
    uint64_t key = hash_u64(hash_u64((uintptr_t)code.image) + code.at) + code.pc - code.address;
    if (mapping)
        key = hash_u64(hash_u64(key) + mapping->start) + mapping->end;
    return (uint32_t)table_index(p->code_of, hash_u64(key), p->codes, p->code_count, p->code_capacity, code);
}

/* The node on the stack for code at the same distances: of the same image, mapped at the same offset. NULL: there is none. */
static struct node *find_in_stack(const struct code_places *p, uint32_t number)
{
    const struct code *code = &p->codes[number];
    for (size_t i = 0; i < p->stack_count; i++) {
        const struct code *other = &p->codes[p->stack[i].code];
        if (other->image == code->image && other->at == code->at)
            return &p->stack[i];
    }
    return NULL;
}

static uint32_t add_node(struct code_places *p, const struct node *node)
{
    const uint64_t key = hash_u64(((uint64_t)node->outer << 32 | node->code) + hash_u64(node->height));
    return (uint32_t)table_index(p->node_of, key, p->nodes, p->node_count, p->node_capacity, *node);
}

uint32_t code_places_add(struct code_places *p, const struct process *process,
                         const struct unwind_frame *frames, size_t count, uint64_t height)
{
    p->stack_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct place place = frames[i].place;
        const uint64_t pc = frames[i].pc - (i > 0 && !frames[i].interrupted);
        place.address -= frames[i].pc - pc;
        const struct node node = {.code = add_code(p, process, &place, pc),
                                  .height = height - (frames[i].cfa - frames[0].cfa)};
        if (node.code == CODE_PLACES_NONE)
            return CODE_PLACES_NONE;
        struct node *outer_node = find_in_stack(p, node.code);
        if (outer_node)
            outer_node->height = node.height; /* the rest of its mapping is at a fixed distance */
        else if (!vec_push(p->stack, p->stack_count, p->stack_capacity, node))
            return CODE_PLACES_NONE;
    }
    uint32_t outer = NOTHING;
    for (size_t i = p->stack_count; i-- > 0 && outer != CODE_PLACES_NONE;) {
        p->stack[i].outer = outer;
        outer = add_node(p, &p->stack[i]);
    }
    return outer;
}

/* Whether the process has this code, shifted by this many bytes. */
static bool is_at(const struct process *process, const struct code *from, uint64_t moved)
{
    struct place place;
    /* other code may have replaced it (made_frames.h) */
    return process_place(process, from->pc + moved, &place) &&
           ((place.image == from->image && place.address == from->address) ||
            (image_is_run_time(place.image) && image_is_run_time(from->image)));
}

/* Whether the process has the code in one of the places. */
static bool is_placed(const struct process *process, const struct code *from,
                      const struct stack_places *placed)
{
    bool found = false;
    for (uint32_t i = 0; placed && !found && i < placed->count; i++)
        found = is_at(process, from, placed->at[i] - from->at);
    return found;
}

static uint64_t hash_places(uint64_t state, const struct stack_places *placed)
{
    state = hash_u64(state + placed->depth);
    for (uint32_t i = 0; i < placed->count; i++)
        state = hash_u64(state + placed->at[i]);
    return state;
}

bool code_places_hold(struct code_places *p, uint32_t number, const struct process *process,
                      const struct stack_places *placed)
{
    struct node *stack = &p->nodes[number];
    const uint64_t state = process_state(process), held = placed ? hash_places(state, placed) : state;
    uint64_t *known = placed ? &stack->placed : &stack->state;
    bool checked = !placed;
    if (*known == held)
        return true;
    for (const struct node *node = stack; node != &p->nodes[NOTHING]; node = &p->nodes[node->outer]) {
        const struct code *from = &p->codes[node->code];
        if (placed && placed->depth && node->height >= placed->depth)
            continue; /* of a callee that this stack does not have; an empty stack has the outermost code */
        if (placed ? !is_placed(process, from, placed) : !is_at(process, from, 0))
            return false;
        checked = true;
    }
    if (checked)
        *known = held;
    return checked;
}
