/* code_places.c - see code_places.h. */
#include "infer/samples/code_places.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

struct place_of_code {
    uint64_t pc;
    uint64_t at;      /* where the file's offset 0 would lie */
    uint64_t address; /* the PC as the image's */
    uint64_t height;  /* of its outermost frame */
    const struct image *image;
};

struct stack_code_places {
    uint32_t first, count; /* places */
    uint64_t state;        /* process_state() with which it held last; 0: none */
    uint64_t placed;       /* likewise, with the places: a hash */
};

struct code_places {
    struct place_of_code *places;
    uint32_t place_count, place_capacity;
    struct stack_code_places *stacks;
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

/* Where the file's offset 0 would lie of which code is mapped at an address; 0: none is. */
static uint64_t file_at(const struct process *process, uint64_t pc)
{
    const struct mapping *mapping = process_mapping(process, pc);
    return mapping ? mapping->start - mapping->offset : 0;
}

/* The place that says of all code at its distances where it is: of its image, from the same offsets on. NULL: there is none. */
static struct place_of_code *find_place(const struct code_places *p, const struct stack_code_places *stack,
                                        const struct place_of_code *place)
{
    for (uint32_t i = stack->first; i < stack->first + stack->count; i++)
        if (p->places[i].image == place->image && p->places[i].at == place->at)
            return &p->places[i];
    return NULL;
}

uint32_t code_places_add(struct code_places *p, const struct process *process,
                         const struct unwind_frame *frames, size_t count, uint64_t height)
{
    struct stack_code_places stack = {.first = p->place_count};
    for (size_t i = 0; i < count; i++) {
        const struct place *code = &frames[i].place;
        const uint64_t pc = frames[i].pc - (i > 0 && !frames[i].interrupted);
        const struct place_of_code place = {.pc = pc,
                                            .at = file_at(process, pc),
                                            .address = code->address - (frames[i].pc - pc),
                                            .height = height - (frames[i].cfa - frames[0].cfa),
                                            .image = code->image};
        struct place_of_code *had = find_place(p, &stack, &place);
        if (had)
            had->height = place.height; /* its mappings are at fixed distances */
        else if (!vec_push(p->places, p->place_count, p->place_capacity, place))
            return CODE_PLACES_NONE;
        else
            stack.count++;
    }
    return vec_push(p->stacks, p->stack_count, p->stack_capacity, stack) ? p->stack_count - 1
                                                                         : CODE_PLACES_NONE;
}

/* Whether the process has the code of this place, moved by so many bytes. */
static bool is_at(const struct process *process, const struct place_of_code *from, uint64_t moved)
{
    struct place place;
    return process_place(process, from->pc + moved, &place) && place.image == from->image &&
           place.address == from->address;
}

/* Whether it has it in one of the places. */
static bool is_placed(const struct process *process, const struct place_of_code *from,
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
    struct stack_code_places *stack = &p->stacks[number];
    const uint64_t state = process_state(process), held = placed ? hash_places(state, placed) : state;
    uint64_t *known = placed ? &stack->placed : &stack->state;
    bool checked = !placed;
    if (*known == held)
        return true;
    for (uint32_t i = stack->first; i < stack->first + stack->count; i++) {
        const struct place_of_code *from = &p->places[i];
        if (placed && from->height >= placed->depth)
            continue; /* of a callee that this stack has not */
        if (placed ? !is_placed(process, from, placed) : !is_at(process, from, 0))
            return false;
        checked = true;
    }
    if (checked)
        *known = held;
    return checked;
}
