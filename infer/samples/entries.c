/* entries.c - see entries.h. */
#include "infer/samples/entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"
#include "infer/samples/function_numbers.h"
#include "pathmap/map/partial.h"
#include "process/frame.h"
#include "process/partial.h"
#include "process/unwind.h"

#define DEPTH_MAX    (1u << 20) /* frames of one stack */
#define STACKS_MAX   16         /* per thread: its own, alternate ones, coroutines' */
#define START_HEIGHT 8          /* of `_start`, see process/process.h */

struct shadow_frame {
    uint64_t return_address; /* 0: unknown */
    uint32_t node;           /* TRIE_NONE: its path is unknown */
    uint32_t height;
    uint32_t function; /* of the trie */
};

struct shadow_stack {
    uint64_t base;
    bool doubtful; /* records were lost while it had frames */
    struct shadow_frame *frames;
    uint32_t depth, capacity;
};

struct thread {
    struct shadow_stack *stacks[STACKS_MAX]; /* most recently used first */
    unsigned stack_count;
};

struct entries {
    struct trie *trie;           /* borrowed */
    const struct image *program; /* borrowed, may be NULL */
    struct processes *processes;
    struct function_numbers *numbers; /* for the trie */
    struct table *threads;            /* TID -> struct thread * */
    struct entries_summary summary;
};

struct entries *entries_new(struct image_cache *images, struct trie *trie, const struct image *program,
                            const struct log *log)
{
    struct entries *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->trie = trie;
    e->program = program;
    e->processes = processes_new(images, log);
    e->numbers = function_numbers_new(trie);
    e->threads = table_new();
    if (!e->processes || !e->numbers || !e->threads) {
        entries_free(e);
        e = NULL;
    } else {
        trie_leave_out(trie);
    }
    return e;
}

static void thread_clear(struct thread *t)
{
    for (unsigned i = 0; i < t->stack_count; i++) {
        free(t->stacks[i]->frames);
        free(t->stacks[i]);
    }
    t->stack_count = 0;
}

void entries_free(struct entries *e)
{
    if (!e)
        return;
    size_t cursor = 0;
    uint64_t tid, value;
    while (e->threads && table_next(e->threads, &cursor, &tid, &value)) {
        thread_clear((struct thread *)(uintptr_t)value);
        free((struct thread *)(uintptr_t)value);
    }
    table_free(e->threads);
    function_numbers_free(e->numbers);
    processes_free(e->processes);
    free(e);
}

struct entries_summary entries_summary(const struct entries *e)
{
    return e->summary;
}

static struct thread *thread_find(const struct entries *e, uint32_t tid)
{
    const uint64_t *value = table_find(e->threads, tid);
    return value ? (struct thread *)(uintptr_t)*value : NULL;
}

/* NULL: out of memory. */
static struct thread *thread_get(struct entries *e, uint32_t tid)
{
    struct thread *t = thread_find(e, tid);
    if (t)
        return t;
    t = calloc(1, sizeof *t);
    return whole_or_free(t, table_set(e->threads, tid, (uintptr_t)t), free);
}

static bool shadow_push(struct shadow_stack *s, struct shadow_frame frame)
{
    return vec_push(s->frames, s->depth, s->capacity, frame);
}

/* The shadow stack of the stack with this base. NULL: out of memory, or the thread has too many. */
static struct shadow_stack *thread_stack(struct thread *t, uint64_t base)
{
    unsigned i = 0;
    while (i < t->stack_count && t->stacks[i]->base != base)
        i++;
    if (i == t->stack_count) {
        if (i == STACKS_MAX || !(t->stacks[i] = calloc(1, sizeof *t->stacks[i])))
            return NULL;
        t->stacks[i]->base = base;
        t->stack_count++;
    }
    struct shadow_stack *found = t->stacks[i];
    memmove(t->stacks + 1, t->stacks, i * sizeof *t->stacks);
    t->stacks[0] = found;
    return found;
}

/* The trie's number of a hooked function, whose image is marked as hooked; TRIE_NONE: out of memory. */
static uint32_t hooked_number(struct entries *e, const struct image *image, uint32_t function)
{
    uint32_t number = function_number(e->numbers, image, function);
    if (number != TRIE_NONE)
        trie_set_hooked(e->trie, function_number_image(e->numbers, image));
    return number;
}

/* The number of a place's function; TRIE_NONE: it was never entered. */
static uint32_t entered_number(struct entries *e, const struct place *place)
{
    uint32_t image = function_number_image(e->numbers, place->image);
    return trie_find_function(e->trie, image, image_function(place->image, place->function)->address);
}

/* The word at an address of the stack, if the dump contains it. */
static bool dumped_word(const struct sample *sample, uint64_t address, uint64_t *word)
{
    const struct frame frame = {.dump = sample};
    return address >= sample->sp && frame_read(&frame, address, word);
}

/* Whether a frame's return address is still where it was, as far as the dump tells. */
static bool frame_is_alive(const struct shadow_stack *s, const struct shadow_frame *frame,
                           const struct sample *sample)
{
    uint64_t word;
    return !frame->return_address || !dumped_word(sample, s->base - frame->height - 8, &word) ||
           word == frame->return_address;
}

/* Drops frames that have returned. Returns the trie's site: where the innermost remaining frame made the call, or 0.
 * *confirmed: the return address is in that frame's function. */
static uint64_t shadow_return(struct entries *e, struct shadow_stack *s, const struct process *process,
                              const struct sample *sample, const struct shadow_frame *entered,
                              bool *confirmed)
{
    *confirmed = false;
    while (s->depth && (s->frames[s->depth - 1].height >= entered->height ||
                        !frame_is_alive(s, &s->frames[s->depth - 1], sample)))
        s->depth--;
    struct place place;
    if (!entered->return_address || !process_place(process, entered->return_address - 1, &place) ||
        place.function == IMAGE_NO_FUNCTION)
        return 0;
    uint32_t caller = entered_number(e, &place);
    if (caller == TRIE_NONE)
        return 0;
    for (uint32_t i = s->depth; i-- > 0;) {
        if (s->frames[i].function == caller) {
            s->depth = i + 1;
            *confirmed = true;
            return place.address + 1;
        }
    }
    return 0;
}

/* Adds the thread's first frame, which is entered without an event. */
static int add_start_frame(struct entries *e, struct shadow_stack *s)
{
    uint64_t start;
    uint32_t index =
        image_entry(e->program, &start) ? image_function_entry(e->program, start) : IMAGE_NO_FUNCTION;
    if (index == IMAGE_NO_FUNCTION)
        return 0;
    uint32_t function = hooked_number(e, e->program, index);
    uint32_t node =
        function == TRIE_NONE ? TRIE_NONE : trie_child(e->trie, TRIE_ROOT, function, START_HEIGHT, 0);
    if (node == TRIE_NONE || !shadow_push(s, (struct shadow_frame){0, node, START_HEIGHT, function}))
        return -1;
    trie_add(e->trie, node, 1, 0);
    return 0;
}

/* The parent of an outermost frame: for a handler on an alternate stack the root for these. TRIE_NONE: out of memory. */
static uint32_t root_of(struct entries *e, const struct process *process, const struct shadow_frame *frame)
{
    return frame->height == UNWIND_SIGNAL_HEIGHT && unwind_is_handler(process, frame->return_address)
               ? partial_node(e->trie, PARTIAL_SIGNAL)
               : TRIE_ROOT;
}

static int enter_function(struct entries *e, struct shadow_stack *s, const struct process *process,
                          const struct sample *sample, const struct place *place)
{
    struct shadow_frame frame = {.node = TRIE_NONE, .height = (uint32_t)(s->base - sample->sp - 8)};
    frame.function = hooked_number(e, place->image, place->function);
    if (frame.function == TRIE_NONE)
        return -1;
    dumped_word(sample, sample->sp, &frame.return_address);
    bool confirmed;
    uint64_t site = shadow_return(e, s, process, sample, &frame, &confirmed);
    if (s->depth == DEPTH_MAX) {
        e->summary.failed++;
        return 0;
    }
    if (s->depth <= 1)
        s->doubtful = false; /* an outermost frame never returns before the stack ends */
    const uint32_t root = s->depth ? TRIE_ROOT : root_of(e, process, &frame),
                   parent = s->depth ? s->frames[s->depth - 1].node : root;
    if (root == TRIE_NONE)
        return -1;
    if (parent == TRIE_NONE || (s->doubtful && !confirmed)) {
        e->summary.doubtful++;
    } else {
        frame.node = trie_child(e->trie, parent, frame.function, frame.height, site);
        if (frame.node == TRIE_NONE)
            return -1;
        trie_add(e->trie, frame.node, 1, 0);
        if (root != TRIE_ROOT)
            trie_add(e->trie, root, 1, 0);
        e->summary.entered++;
    }
    return shadow_push(s, frame) ? 0 : -1;
}

/* Whether it is the first handler on an alternate stack, as far as is known: it interrupted code on another stack. */
static bool is_signal(const struct process *process, const struct sample *sample, uint64_t return_address)
{
    uint64_t interrupted, base, other;
    return unwind_is_handler(process, return_address) &&
           dumped_word(sample, sample->sp + 8 + UCONTEXT_SP, &interrupted) &&
           (process_stack_base(process, sample->tid, sample->sp, &base) == STACK_UNKNOWN ||
            process_stack_base(process, sample->tid, interrupted, &other) == STACK_UNKNOWN || base != other);
}

/* The base of the stack on which the function is entered: 1; 0 if it cannot be determined. A coroutine's or an alternate stack
 * begins with its outermost frame: one that nothing called, or else the first one seen. */
static int find_base(struct process *process, const struct sample *sample, uint64_t *base,
                     struct fathom_error *err)
{
    uint64_t return_address, outermost = sample->sp + 8;
    enum stack_kind kind = process_stack_base(process, sample->tid, sample->sp, base);
    if (kind == STACK_OWN)
        return 1;
    if (!process_has_stack(process, sample->tid) || outermost < PROCESS_STACK_REACH)
        return kind != STACK_UNKNOWN;
    const bool known = dumped_word(sample, sample->sp, &return_address),
               signal = known && is_signal(process, sample, return_address);
    if (kind == STACK_SHARED && !signal && !(known && unwind_begins(process, return_address)))
        return 1;
    *base = signal ? unwind_signal_base(outermost) : outermost;
    int rc = process_begin_shared_stack(process, *base, err);
    return rc < 0 ? rc : 1;
}

static int learn_sample(struct entries *e, const struct sample *sample, struct fathom_error *err)
{
    struct process *process = process_at(e->processes, sample);
    struct place place;
    uint64_t base;
    if (!process || !sample->has_regs || !process_place(process, sample->reg_ip, &place) ||
        place.function == IMAGE_NO_FUNCTION || sample->sp > UINT64_MAX - 8) {
        e->summary.failed++;
        return 0;
    }
    int found = find_base(process, sample, &base, err);
    if (found < 0)
        return found;
    if (!found) {
        e->summary.failed++; /* it ended before its stack could be located */
        return 0;
    }
    if (base < sample->sp + 8 || base - sample->sp - 8 > UINT32_MAX) {
        e->summary.failed++;
        return 0;
    }
    struct thread *t = thread_get(e, sample->tid);
    if (!t)
        return error_memory(err);
    bool first = t->stack_count == 0;
    struct shadow_stack *s = thread_stack(t, base);
    if (!s) {
        e->summary.failed++;
        return 0;
    }
    if (first && sample->pid == sample->tid && place.image == e->program && add_start_frame(e, s) < 0)
        return error_memory(err);
    return enter_function(e, s, process, sample, &place) < 0 ? error_memory(err) : 0;
}

/* A new process runs on a copy of the stacks of the thread that forked. */
static int copy_thread(struct entries *e, const struct record *record)
{
    const struct thread *from = thread_find(e, record->fork.parent_tid);
    struct thread *to = thread_get(e, record->tid);
    if (!to)
        return -1;
    thread_clear(to);
    for (unsigned i = from ? from->stack_count : 0; i-- > 0;) {
        const struct shadow_stack *old = from->stacks[i];
        struct shadow_stack *s = thread_stack(to, old->base);
        if (!s)
            return -1;
        s->doubtful = old->doubtful;
        for (uint32_t f = 0; f < old->depth; f++) {
            if (!shadow_push(s, old->frames[f]))
                return -1;
        }
    }
    return 0;
}

static void mark_doubtful(struct entries *e)
{
    size_t cursor = 0;
    uint64_t tid, value;
    while (table_next(e->threads, &cursor, &tid, &value)) {
        struct thread *t = (struct thread *)(uintptr_t)value;
        for (unsigned i = 0; i < t->stack_count; i++)
            t->stacks[i]->doubtful = t->stacks[i]->depth > 1;
    }
}

int entries_learn(void *context, const struct record *record, struct fathom_error *err)
{
    struct entries *e = context;
    struct thread *t;
    switch (record->kind) {
    case RECORD_SAMPLE:
        return learn_sample(e, &record->sample, err);
    case RECORD_LOST:
        e->summary.lost += record->lost;
        mark_doubtful(e);
        break;
    case RECORD_FORK:
        if (record->pid != record->fork.parent_pid && copy_thread(e, record) < 0)
            return error_memory(err);
        break;
    case RECORD_EXIT:
        t = thread_find(e, record->tid);
        if (t)
            thread_clear(t);
        break;
    case RECORD_COMM:
        t = record->comm.exec ? thread_find(e, record->tid) : NULL;
        if (t)
            thread_clear(t);
        break;
    default:
        break;
    }
    return processes_apply(e->processes, record, err);
}
