/* stack_keeper.c - see stack_keeper.h. */
#include "infer/live/stack_keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"
#include "infer/live/stack_cache.h"
#include "infer/samples/cid.h"
#include "perfdata/announced.h"
#include "perfdata/stack_record.h"
#include "perfdata/walks.h"

#define PROGRAMS_MOST 256u
#define ITEMS_MOST    (1u << 20) /* of all programs together: 50 MB */
#define STATES_MOST   65536u     /* process states with a cached program */
#define NO_PROGRAM    UINT64_MAX

struct program {
    char *path;
    struct build_id id;
    struct kept_stacks *kept;
    uint32_t first,
        count; /* numbers of the stacks known from earlier recordings: the first one, and how many */
    bool begun;
};

struct stack_keeper {
    struct program *programs;
    uint32_t count, capacity;
    struct table *by_state; /* process_state() -> index, or NO_PROGRAM */
    uint32_t numbered;      /* number of stacks that have a number */
    size_t items;           /* in all programs */
    struct kept_frame frames[UNWIND_MAX_FRAMES];
};

struct stack_keeper *stack_keeper_new(void)
{
    struct stack_keeper *k = calloc(1, sizeof *k);
    return whole_or_free(k, (k->by_state = table_new()), free);
}

void stack_keeper_free(struct stack_keeper *k)
{
    if (!k)
        return;
    for (uint32_t i = 0; i < k->count; i++) {
        kept_stacks_free(k->programs[i].kept);
        free(k->programs[i].path);
    }
    free(k->programs);
    table_free(k->by_state);
    free(k);
}

static int find_program(struct stack_keeper *k, const char *path, const struct build_id *id, uint64_t *out)
{
    *out = NO_PROGRAM;
    for (uint32_t i = 0; i < k->count; i++)
        if (build_id_equal(&k->programs[i].id, id) && strcmp(k->programs[i].path, path) == 0)
            *out = i;
    if (*out != NO_PROGRAM || k->count == PROGRAMS_MOST)
        return 0;
    struct program program = {.path = strdup(path), .id = *id};
    if (!program.path || !vec_push(k->programs, k->count, k->capacity, program)) {
        free(program.path);
        return -ENOMEM;
    }
    *out = k->count - 1;
    return 0;
}

/* The process's program: 1; 0: it has none; -ENOMEM. */
static int program_of(struct stack_keeper *k, const struct process *process, struct program **out)
{
    const struct build_id *id;
    bool added;
    struct table *fresh = table_count(k->by_state) < STATES_MOST ? NULL : table_new();
    if (fresh) { /* most cached states are of processes that have ended */
        table_free(k->by_state);
        k->by_state = fresh;
    }
    uint64_t *index = table_put(k->by_state, process_state(process), &added);
    if (!index)
        return -ENOMEM;
    if (added) {
        *index = NO_PROGRAM;
        const struct mapping *mapping = process_program_mapping(process, &id);
        if (mapping && find_program(k, mapping->path, id, index) < 0)
            return -ENOMEM;
    }
    if (*index == NO_PROGRAM)
        return 0;
    *out = &k->programs[*index];
    return 1;
}

int stack_keeper_add(struct stack_keeper *k, const struct process *process,
                     const struct file_numbers *numbers, const struct known_stack *known,
                     const struct unwind_frame *frames, size_t count, size_t *index)
{
    struct program *program;
    const size_t callee = *index;
    int rc = program_of(k, process, &program);
    *index = KEPT_STACKS_MOST;
    if (rc <= 0 || !program->kept || k->items >= ITEMS_MOST)
        return rc < 0 ? rc : 0;
    k->items -= kept_stacks_items(program->kept);
    rc = kept_stacks_add(program->kept, numbers, known, frames, count, callee, index);
    k->items += kept_stacks_items(program->kept);
    return rc;
}

/* Makes all kept stacks of a program known. */
static int make_all_known(const struct program *p,
                          int (*know)(void *context, const struct known_stack *stack,
                                      struct fathom_error *err),
                          void *context, struct fathom_error *err)
{
    const uint32_t first = STACK_NUMBER_KEPT + 2 * p->first;
    struct known_stack stack;
    size_t callee;
    int rc = 0;
    for (uint32_t i = 0; i < p->count && rc >= 0; i++) {
        if (!kept_stacks_at(p->kept, i, &stack, &callee))
            return error_memory(err);
        stack.number = first + 2 * i;
        stack.inner = callee < i ? first + 2 * (uint32_t)callee : 0;
        stack.version = KNOWN_STACK_ANY;
        rc = know(context, &stack, err);
    }
    return rc < 0 ? rc : 0;
}

int stack_keeper_begin(struct stack_keeper *k, const struct process *process, struct file_numbers *numbers,
                       int (*know)(void *context, const struct known_stack *stack, struct fathom_error *err),
                       void *context, struct fathom_error *err)
{
    struct program *p;
    int rc = program_of(k, process, &p);
    if (rc <= 0 || p->begun)
        return rc < 0 ? error_memory(err) : 0;
    p->begun = true;
    rc = k->items < ITEMS_MOST ? stack_cache_get(p->path, &p->id, &p->kept) : 0;
    if (rc == 0 && !(p->kept = kept_stacks_new()))
        rc = -ENOMEM;
    if (rc > 0 && kept_stacks_number(p->kept, numbers) < 0)
        rc = -ENOMEM;
    if (rc < 0)
        return error_memory(err);
    p->first = k->numbered;
    p->count = (uint32_t)kept_stacks_count(p->kept);
    k->numbered += p->count;
    k->items += kept_stacks_items(p->kept);
    return make_all_known(p, know, context, err);
}

uint32_t stack_keeper_number(struct stack_keeper *k, const struct process *process, uint64_t ip, uint64_t at)
{
    struct program *p;
    const struct build_id *id;
    const struct mapping *mapping = process_mapping_unopened(process, ip, &id);
    if (!mapping || !id || !mapping->path || mapping->start - mapping->offset != at ||
        program_of(k, process, &p) <= 0 || !p->kept)
        return 0;
    return kept_stacks_file(p->kept, mapping->path, id);
}

/* The program whose stack has this number, and the stack's index in it; NULL: none. */
static const struct program *find_number(const struct stack_keeper *k, uint32_t number, uint32_t *index)
{
    const uint32_t place = (number - STACK_NUMBER_KEPT) / 2;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct program *p = &k->programs[i];
        *index = place - p->first;
        if (*index < p->count)
            return p;
    }
    return NULL;
}

/* Whether an address is in the code of a file whose offset 0 is at `at`. */
static bool is_code_at(const struct process *process, uint64_t address, uint64_t at,
                       const struct numbered_file *file)
{
    const struct build_id *id;
    const struct mapping *mapping = process_mapping_unopened(process, address, &id);
    struct place place;
    if (mapping && !id && process_place(process, address, &place)) /* the kernel's own code */
        id = image_build_id(place.image);
    return mapping && id && mapping->start - mapping->offset == at && build_id_equal(id, &file->id) &&
           mapping->path && strcmp(mapping->path, file->path) == 0;
}

/* Finds where the process has this code, among the announced places. */
static bool find_code(const struct process *process, const struct stack_places *placed,
                      const struct kept_frame *frame, bool exact, struct unwind_frame *out)
{
    for (uint32_t i = 0; i < placed->count; i++) {
        out->pc = placed->at[i] + frame->offset;
        if (is_code_at(process, out->pc - !exact, placed->at[i], frame->file))
            return true;
    }
    return false;
}

/* Whether the CFA is computed in the same way at both places, from memory and not from SP and BP alone: the BPF program
 * compares PCs only there. */
static bool has_same_cfa_rule(const struct place *place, const struct place *kept)
{
    struct cfi_span span, kept_span;
    if (place->image != kept->image || place->function != kept->function)
        return false;
    const struct cfi *cfi = image_cfi(place->image);
    const struct cfi_row row = cfi_lookup_span(cfi, place->address, &span),
                         other = cfi_lookup_span(cfi, kept->address, &kept_span);
    if (row.cfa == CFI_UNSUPPORTED)
        return span.start == kept_span.start;
    return cfi_in_memory(&row) && row.cfa == other.cfa && row.cfa_offset == other.cfa_offset &&
           row.cfa_add == other.cfa_add;
}

/* Whether the sample's innermost frame is the kept one with this CFA, and not another function's in its place. */
static bool is_innermost(const struct process *process, const struct sample *sample,
                         const struct kept_frame *from, uint64_t cfa)
{
    const struct leaf_frame leaf = leaf_frame_of(process, sample);
    struct unwind_frame kept;
    struct place place;
    if (leaf.reason == UNKNOWN_NOT)
        return leaf.cfa == cfa;
    return leaf.reason == UNKNOWN_CFI && !sample->regs_after && cfa > sample->sp &&
           find_code(process, sample->placed, from, true, &kept) && process_place(process, kept.pc, &place) &&
           has_same_cfa_rule(&leaf.place, &place);
}

size_t stack_keeper_walk(struct stack_keeper *k, const struct process *process, struct sample *sample,
                         struct unwind_frame *frames)
{
    uint32_t index;
    const struct program *p = find_number(k, sample->stack_number, &index);
    const struct stack_places *placed = sample->placed;
    if (!p || !placed)
        return 0;
    const size_t count = kept_stacks_frames(p->kept, index, k->frames);
    for (size_t i = 0; i < count; i++) {
        const struct kept_frame *from = &k->frames[i];
        frames[i] = (struct unwind_frame){.cfa = placed->base - (uint64_t)(int64_t)from->height,
                                          .interrupted = from->marks & WALKED_INTERRUPTED,
                                          .derived = from->marks & WALKED_DERIVED};
        if (i > 0 && !find_code(process, placed, from, frames[i].interrupted, &frames[i]))
            return 0;
    }
    if (!count || !is_innermost(process, sample, &k->frames[0], frames[0].cfa))
        return 0;
    frames[0].pc = sample->reg_ip;
    kept_stacks_use(p->kept, index);
    if (placed->depth != placed->base - sample->sp)
        sample->stack_number++;
    return count;
}

void stack_keeper_save(const struct stack_keeper *k, const struct log *log, const struct log *notes)
{
    struct fathom_error err = {0};
    for (uint32_t i = 0; i < k->count; i++) {
        const struct program *p = &k->programs[i];
        size_t stacks;
        if (!p->kept || !kept_stacks_changed(p->kept))
            continue;
        const int rc = stack_cache_put(p->path, &p->id, p->kept, &stacks, &err);
        if (rc < 0)
            log_write(log, LOG_WARNING, "known stacks are not kept for later recordings: %s", err.text);
        else
            log_write(notes, LOG_NOTE,
                      rc ? "%zu of %zu stacks of %s are kept for later recordings"
                         : "%zu of %zu stacks of %s are kept: there is no directory for "
                           "them, or they are too many",
                      stacks, kept_stacks_count(p->kept), p->path);
    }
}
