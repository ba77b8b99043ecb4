/* code_places.c - see code_places.h. */
#include "infer/samples/code_places.h"

#include <stdlib.h>

#include "base/vec.h"

struct place_of_code {
    uint64_t pc;
    const struct image *image;
};

struct stack_code {
    uint32_t first, count; /* places */
    uint64_t state;        /* process_state() with which it held last; 0: none */
};

struct code_places {
    struct place_of_code *places;
    uint32_t place_count, place_capacity;
    struct stack_code *stacks;
    uint32_t stack_count, stack_capacity;
};

struct code_places *code_places_new(void)
{
    return calloc(1, sizeof(struct code_places));
}

void code_places_free(struct code_places *p)
{
    if (!p)
        return;
    free(p->places);
    free(p->stacks);
    free(p);
}

static bool has_image(const struct code_places *p, const struct stack_code *stack, const struct image *image)
{
    for (uint32_t i = stack->first; i < stack->first + stack->count; i++)
        if (p->places[i].image == image)
            return true;
    return false;
}

uint32_t code_places_add(struct code_places *p, const struct unwind_frame *frames, size_t count)
{
    struct stack_code stack = {.first = p->place_count};
    for (size_t i = 0; i < count; i++) {
        const struct unwind_frame *frame = &frames[i];
        if (has_image(p, &stack, frame->place.image))
            continue; /* a file's mappings are at fixed distances */
        if (!vec_push(p->places, p->place_count, p->place_capacity,
                      (struct place_of_code){frame->pc, frame->place.image}))
            return CODE_PLACES_NONE;
        stack.count++;
    }
    return vec_push(p->stacks, p->stack_count, p->stack_capacity, stack) ? p->stack_count - 1
                                                                         : CODE_PLACES_NONE;
}

bool code_places_hold(struct code_places *p, uint32_t number, const struct process *process)
{
    struct stack_code *stack = &p->stacks[number];
    const uint64_t state = process_state(process);
    if (stack->state == state)
        return true;
    for (uint32_t i = stack->first; i < stack->first + stack->count; i++) {
        struct place place;
        if (!process_place(process, p->places[i].pc, &place) || place.image != p->places[i].image)
            return false;
    }
    stack->state = state;
    return true;
}
