/* stack_learner.c - see stack_learner.h. */
#include "infer/live/stack_learner.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/cfi/cfi.h"
#include "image/return_range.h"
#include "image/run_time.h"
#include "infer/live/feed.h"
#include "infer/live/file_numbers.h"
#include "infer/live/script_finder.h"
#include "infer/live/row_sender.h"
#include "infer/live/spaces.h"
#include "perfdata/announced.h"
#include "perfdata/stack_record.h"
#include "process/frame.h"
#include "process/unwind.h"

#define WALKED_MAX  32768u /* frames, of one new stack and of its callers' stacks together */
#define REGISTER_BP 6u     /* bit in a mask of registers */

struct stack_learner {
    struct stack_learner_input in;
    struct feed *feed;
    atomic_bool ends; /* no more stacks are learned */
    bool next;        /* the next sample belongs to a stack record that was taken */
    /* Used by the feed's thread only. */
    struct announced *announced;
    struct spaces *spaces;
    /* space and image -> ns: until then, Go stacks may have been copied before the recorder knew where they are */
    struct table *reported;
    struct file_numbers *files;
    struct stack_place places[STACK_PLACED_MAX]; /* of the stack being learned */
    size_t place_count;
    size_t keeper_index;           /* index of the last stack, as from stack_keeper_add() */
    struct row_sender *rows;       /* NULL: not wanted */
    struct script_finder *scripts; /* NULL: not wanted */
    struct unwind_frame frames[UNWIND_MAX_FRAMES];
    struct unwind_words words;
};

struct code_range {
    uint64_t start, end;
};

/* Whether these bytes contain a call, or may do so. */
static bool has_call(const struct image *image, uint64_t at, uint64_t end)
{
    uint64_t first, last;
    return !image_calls_between(image, at, end, &first, &last) || first <= last;
}

/* The range of code in which a stack with this innermost frame is known. It is empty if the whole page is meant. But if the
 * function also makes calls with less on its stack than here (other calls pass arguments there), the callee of such a call can
 * have the same SP with all words of this stack in place: its extra frame would neither be verified nor read. Then the range is
 * that of the function, from the first to the last row with the same CFA. The same applies if the code has to stand alone: for
 * a caller's stack, or if rows describe other code of the page. */
static struct code_range code_of(const struct place *place, bool alone)
{
    const struct cfi *cfi = image_cfi(place->image);
    const struct image_function *function = image_function(place->image, place->function);
    const struct cfi_row row = cfi_lookup(cfi, place->address);
    uint64_t limit = function->address + function->size, at = function->address;
    struct code_range range = {place->address, place->address + 1};
    if (image_is_run_time(place->image)) /* any code called with the same BP */
        return (struct code_range){place->address, place->address};
    alone = alone || row.cfa != CFI_SP;
    for (unsigned rows = 0; at < limit && rows < RETURN_RANGE_ROWS; rows++) {
        struct cfi_span span;
        const struct cfi_row other = cfi_lookup_span(cfi, at, &span);
        const uint64_t next = span.end < limit ? span.end : limit;
        if (other.cfa == row.cfa && other.cfa_offset == row.cfa_offset && other.cfa_add == row.cfa_add &&
            (row.cfa != CFI_UNSUPPORTED || (place->address >= at && place->address < next))) {
            range.start = at < range.start ? at : range.start;
            range.end = next > range.end ? next : range.end;
        }
        alone = alone || (other.cfa == CFI_SP && other.cfa_offset < row.cfa_offset &&
                          has_call(place->image, at, next));
        at = next;
    }
    return alone || at < limit ? range : (struct code_range){place->address, place->address};
}

/* Whether the same words would end any walk in the same way. */
static bool is_known_end(enum unwind_end end)
{
    return end == UNWIND_ROOT || end == UNWIND_CUT || end == UNWIND_NO_MAPPING || end == UNWIND_NO_CFI ||
           end == UNWIND_UNSUPPORTED || end == UNWIND_SWITCHED || end == UNWIND_SIGNAL;
}

/* Sets the register that the last walk depended on. false: it depended on more than one. */
static bool set_register(const struct stack_learner *l, const struct sample *sample, struct known_stack *out)
{
    const uint64_t bp = UINT64_C(1) << REGISTER_BP, used = l->words.registers | (l->words.has_bp ? bp : 0),
                   below = used - 1;
    if (!used)
        return true;
    if (used & below || !(used & STACK_RECORD_REGISTERS))
        return false;
    out->reg = (uint8_t)(1 + __builtin_popcountll(STACK_RECORD_REGISTERS & below));
    out->value = sample->bp;
    if (used != bp)
        memcpy(&out->value, sample->registers + 8 * __builtin_popcountll(sample->register_mask & below),
               sizeof out->value);
    return true;
}

#define REPORTED_NS 1000000000u /* after this time all stacks are read as the recorder was told */

/* If the walk ended in Go code, tells the recorder once per space where its threads have their stacks. *early: this stack may
 * have been copied before that took effect, so it will be read again, whole. 0 or negative. */
static int report_go_stacks(struct stack_learner *l, const struct sample *sample, uint32_t space,
                            const struct unwind_frame *frame, bool *early, struct fathom_error *err)
{
    struct go_stacks go;
    const struct place *outermost = &frame->place;
    bool added;
    uint64_t *until = table_put(l->reported, hash_u64(space) ^ (uintptr_t)outermost->image, &added);
    if (!until)
        return error_memory(err);
    if (added)
        *until = image_go_stacks(outermost->image, &go) &&
                         l->in.stacks_are(l->in.context, space, &go, frame->pc - outermost->address)
                     ? sample->time + REPORTED_NS
                     : 0;
    *early = sample->time < *until;
    return 0;
}

/* Finds the places of the files with the code of these frames. None if there are too many, or if the BPF program that read the
 * stack had another place for the PC's file: the process had other code then. 0 or -ENOMEM. */
static int find_places(struct stack_learner *l, const struct process *process, const struct sample *sample,
                       size_t count, struct fathom_error *err)
{
    const struct stack_code *code = sample->code;
    l->place_count = 0;
    if (!l->in.number || !code || !code->at)
        return 0;
    const int found = file_numbers_places(l->files, process, l->frames, count, l->places);
    if (found <= 0 || l->places[0].at != code->at)
        return found < 0 ? error_memory(err) : 0;
    l->place_count = (size_t)found;
    if (stack_file_is_told(&code->file))
        l->in.number(l->in.context, &code->file, l->places[0].number);
    if (l->rows && row_sender_send(l->rows, l->places, l->place_count, l->frames, count) < 0)
        return error_memory(err);
    return 0;
}

/* The frames of a stack, the innermost first, and how its walk ended. */
struct walked_stack {
    const struct unwind_frame *frames; /* in the learner */
    size_t count;
    enum unwind_end end;
};

static struct walked_stack walk_stack(struct stack_learner *l, const struct process *process,
                                      const struct sample *sample)
{
    struct walked_stack w = {.frames = l->frames};
    w.count = unwind_words(process, sample, l->frames, UNWIND_MAX_FRAMES, &l->words, &w.end);
    return w;
}

/* Makes the stack that was walked last known. Returns 1; 0: it did not become known, or its callers' stacks would be cut off as
 * well; or a negative result of the callbacks. */
static int make_known(struct stack_learner *l, const struct process *process, const struct sample *sample,
                      uint32_t space, bool of_caller, const struct walked_stack *w, struct fathom_error *err)
{
    if (w->count == 0 || !is_known_end(w->end) || l->words.partial)
        return 0;
    bool early = false;
    int rc = of_caller ? 0 : find_places(l, process, sample, w->count, err);
    if (rc < 0)
        return rc;
    rc = report_go_stacks(l, sample, space, &w->frames[w->count - 1], &early, err);
    if (rc < 0 || (early && (w->end == UNWIND_SWITCHED ||
                             (w->end == UNWIND_CUT && sample->stack_size <= STACK_RECORD_NO_BASE))))
        return rc;
    const struct place *place = &w->frames[0].place;
    if (place->function == IMAGE_NO_FUNCTION)
        return 0;
    const struct code_range code = code_of(place, of_caller || l->place_count > 0);
    const struct cfi_span row = image_row_span(place->image, place->function, place->address);
    struct known_stack known = {.space = space,
                                .tid = sample->tid,
                                .ip = sample->reg_ip,
                                .sp = sample->sp,
                                .number = sample->stack_number,
                                .of_caller = of_caller,
                                .switch_at = sample->stack_switch,
                                .cut = w->end == UNWIND_CUT ? sample->stack_size : 0,
                                .code = sample->reg_ip - (place->address - code.start),
                                .code_size = code.end - code.start,
                                .row = sample->reg_ip - (place->address - row.start),
                                .row_size = row.end - row.start,
                                .words = l->words.words,
                                .count = l->words.count,
                                .places = l->places,
                                .place_count = l->place_count,
                                .base = sample->code ? sample->code->base : 0,
                                .version = sample->code ? sample->code->version : 0};
    if (!set_register(l, sample, &known))
        return 0;
    rc = l->in.know(l->in.context, &known, err);
    if (l->in.keeper && rc > 0 && w->end == UNWIND_ROOT && l->place_count > 0) {
        if (stack_keeper_add(l->in.keeper, process, l->files, &known, w->frames, w->count, &l->keeper_index) <
            0)
            return error_memory(err);
    } else {
        l->keeper_index = KEPT_STACKS_MOST;
    }
    return rc < 0 || w->end != UNWIND_CUT ? rc : 0;
}

/* The sample as it would be right after the frame's call returned. A caller's frame beyond the bytes copied from SP on is among
 * the outermost bytes. */
static struct sample sample_at_caller(const struct sample *sample, const struct unwind_frame *frame)
{
    struct sample caller = *sample;
    const struct frame dump = {.dump = sample};
    const bool beyond = frame->cfa - sample->sp > sample->stack_size;
    const uint64_t skipped = frame->cfa - (beyond ? sample->outer_at : sample->sp);
    frame_read(&dump, frame->cfa - 8, &caller.reg_ip);
    caller.sp = frame->cfa;
    caller.bp = frame->caller_bp;
    caller.below = NULL;
    caller.registers = NULL; /* registers other than BP are unknown */
    caller.register_mask = 0;
    caller.stack = (beyond ? sample->outer : sample->stack) + skipped;
    caller.stack_size = (beyond ? STACK_RECORD_OUTER : sample->stack_size) - (uint32_t)skipped;
    caller.outer = beyond ? NULL : sample->outer;
    return caller;
}

/* Whether a walk that begins at this caller, so that its PC is exact, has the same frames as the callee's walk. */
static bool walks_alike_from(const struct process *process, const struct unwind_frame *caller)
{
    struct place place;
    struct cfi_row exact, row;
    return !caller->interrupted && unwind_place(process, caller->pc, true, &place, &exact) &&
           place.image == caller->place.image && place.function == caller->place.function &&
           unwind_place(process, caller->pc, false, &place, &row) && cfi_row_same(&exact, &row) &&
           exact.derived == row.derived;
}

/* Reduces the words of the last walk to those that a walk from this caller on depends on: a BP that was saved further in is the
 * caller's own register now. false: they cannot be determined without a walk. */
static bool reduce_words(struct unwind_words *words, const struct sample *callee, const struct sample *caller)
{
    size_t from = 0, count = 0;
    while (from < words->count &&
           (words->words[from].in_stack || words->words[from].address != caller->sp - 8))
        from++;
    if (from == words->count || words->registers)
        return false;
    words->has_bp &= caller->bp == callee->bp;
    for (size_t i = from + 1; i < words->count; i++) {
        const struct stack_word *word = &words->words[i];
        if (word->address >= caller->sp)
            words->words[count++] = *word;
        else if (word->is_bp && word->value == caller->bp)
            words->has_bp = true;
        else
            return false;
    }
    words->count = count;
    return true;
}

/* The walk from the next frame on; *sample becomes the caller's. A walk that ended for lack of a register may go further from
 * there, as BP is known. */
static struct walked_stack walk_from_caller(struct stack_learner *l, const struct process *process,
                                            struct sample *sample, const struct walked_stack *w)
{
    const struct sample callee = *sample;
    *sample = sample_at_caller(&callee, &w->frames[0]);
    if (w->end != UNWIND_UNSUPPORTED && walks_alike_from(process, &w->frames[1]) &&
        reduce_words(&l->words, &callee, sample))
        return (struct walked_stack){w->frames + 1, w->count - 1, w->end};
    return walk_stack(l, process, sample);
}

/* Makes the kept stacks of the process's program known and reports the number of the sample's file, before files are opened:
 * during that time more stacks would be new. */
static int begin_program(struct stack_learner *l, const struct process *process, const struct sample *sample,
                         struct fathom_error *err)
{
    const struct stack_code *code = sample->code;
    if (!l->in.keeper)
        return 0;
    const int rc = stack_keeper_begin(l->in.keeper, process, l->files, l->in.know, l->in.context, err);
    if (rc < 0 || !code || !stack_file_is_told(&code->file) || !l->in.number)
        return rc;
    const uint32_t number = stack_keeper_number(l->in.keeper, process, sample->reg_ip, code->at);
    if (number)
        l->in.number(l->in.context, &code->file, number);
    return 0;
}

/* Reports the frames of a kept stack when the first sample has it. */
static void report_kept(struct stack_learner *l, struct processes *processes, const struct sample *sample)
{
    const struct process *process = process_find(processes, sample->pid);
    struct sample at = *sample;
    const size_t count = process ? stack_keeper_walk(l->in.keeper, process, &at, l->frames) : 0;
    if (count)
        l->in.walked(l->in.walks, sample, at.stack_number, l->frames, count, UNWIND_ROOT);
}

/* Makes a new stack and its callers' stacks known: each is where it will be when its call returns. Stops at one that is known
 * already: so are its callers'. */
static int learn_stack(struct stack_learner *l, struct processes *processes, const struct sample *sample,
                       struct fathom_error *err)
{
    const struct process *process = process_find(processes, sample->pid);
    if (!process || !sample->stack)
        return 0;
    struct sample at = announced_as_read(sample);
    const uint32_t space = spaces_of(l->spaces, process);
    if (space == 0)
        return error_memory(err);
    int rc = begin_program(l, process, &at, err);
    if (rc < 0)
        return rc;
    struct walked_stack w = walk_stack(l, process, &at);
    if (l->in.walked)
        l->in.walked(l->in.walks, &at, at.stack_number, w.frames, w.count, w.end);
    l->keeper_index = KEPT_STACKS_MOST;
    l->place_count = 0;
    rc = make_known(l, process, &at, space, false, &w, err);
    if (l->scripts &&
        script_finder_see(l->scripts, process, w.frames, w.count, l->places, l->place_count) < 0)
        return error_memory(err);
    for (size_t walked = w.count; rc > 0 && !at.stack_switch && w.count > 1 && walked < WALKED_MAX &&
                                  !w.frames[1].interrupted; /* nothing returns to an interrupted frame */
         walked += w.count) {
        w = walk_from_caller(l, process, &at, &w);
        rc = make_known(l, process, &at, space, true, &w, err);
    }
    return rc < 0 ? rc : 0;
}

/* Whether the new mapping puts other code in place of a part of the old one. */
static bool is_replaced(const struct mapping *old, const struct build_id *id, const struct record_mmap *mmap)
{
    const struct build_id none = {0}, now = process_build_id(mmap);
    return !old->path || !mmap->path || strcmp(old->path, mmap->path) != 0 ||
           mmap->offset - old->offset != mmap->address - old->start || !build_id_equal(id ? id : &none, &now);
}

static bool replaces_code(const struct process *process, const struct record_mmap *mmap)
{
    const struct mapping *old;
    const struct build_id *id;
    for (size_t i = 0; mmap->executable && (old = process_mapping_at(process, i, &id)); i++)
        if (old->start < mmap->address + mmap->length && mmap->address < old->end &&
            is_replaced(old, id, mmap))
            return true;
    return false;
}

/* Whether a record invalidates what was known of its process. */
static bool is_change(struct processes *processes, const struct record *record)
{
    const struct process *process;
    switch (record->kind) {
    case RECORD_COMM:
        return record->comm.exec;
    case RECORD_EXIT:
        return record->pid == record->tid;
    case RECORD_MMAP:
        process = process_find(processes, record->pid);
        return process && replaces_code(process, &record->mmap);
    default:
        return false;
    }
}

/* Records without a time describe processes that ran before: they may have other code by now. */
static int take_fork(struct stack_learner *l, struct processes *processes, const struct record *record,
                     struct fathom_error *err)
{
    const struct process *parent = process_find(processes, record->fork.parent_pid);
    if (!parent || record->time == 0 || record->pid == record->fork.parent_pid)
        return 0;
    return spaces_fork(l->spaces, parent, record->pid) ? 0 : error_memory(err);
}

static int take_sample(struct stack_learner *l, struct processes *processes, const struct sample *sample,
                       struct fathom_error *err)
{
    if (sample->known == SAMPLE_STACK_NEW)
        return l->ends ? 0 : learn_stack(l, processes, sample, err);
    if (l->in.keeper && sample->known == SAMPLE_STACK_SAME && sample->stack_number >= STACK_NUMBER_KEPT &&
        l->in.wants(l->in.walks, sample->stack_number))
        report_kept(l, processes, sample);
    return 0;
}

int stack_learner_take(struct stack_learner *l, struct processes *processes, const struct record *record,
                       struct fathom_error *err)
{
    if (l->scripts)
        script_finder_take(l->scripts, processes, record);
    if (record->kind == RECORD_SAMPLE)
        return take_sample(l, processes, &record->sample, err);
    if (is_change(processes, record))
        spaces_leave(l->spaces, record->pid);
    return record->kind == RECORD_FORK ? take_fork(l, processes, record, err) : 0;
}

static int take_record(void *learner, struct processes *processes, const struct record *given,
                       struct fathom_error *err)
{
    struct stack_learner *l = learner;
    struct record record = *given;
    int rc = announced_take(l->announced, &record, err);
    return rc == 0 ? stack_learner_take(l, processes, &record, err) : rc < 0 ? rc : 0;
}

/* Takes stack records, and the samples that they belong to. */
static enum feed_choice choose_sample(void *learner, const struct event *event, size_t queued)
{
    struct stack_learner *l = learner;
    bool wanted = event->stacks ? queued <= STACK_LEARNER_QUEUE : l->next;
    l->next = event->stacks && wanted;
    return l->next ? FEED_HOLD : wanted ? FEED_TAKE : FEED_LEAVE;
}

static void clear_learner(struct stack_learner *l)
{
    announced_free(l->announced);
    spaces_free(l->spaces);
    file_numbers_free(l->files);
    row_sender_free(l->rows);
    script_finder_free(l->scripts);
    table_free(l->reported);
    unwind_words_free(&l->words);
    free(l);
}

int stack_learner_new(const struct stack_learner_input *input, struct stack_learner **out,
                      struct fathom_error *err)
{
    struct stack_learner *l = calloc(1, sizeof *l);
    if (!l)
        return error_memory(err);
    l->in = *input;
    l->announced = announced_new(input->events, input->count);
    l->spaces = spaces_new(&(struct spaces_input){input->place, input->forget, input->context});
    l->reported = table_new();
    l->files = file_numbers_new();
    l->rows = input->rows ? row_sender_new(input->rows, input->context) : NULL;
    l->scripts = input->script ? script_finder_new(&(struct script_finder_input){
                                     input->script, input->script_file, input->context})
                               : NULL;
    if (l->announced && l->spaces && l->reported && l->files && (l->rows || !input->rows) &&
        (l->scripts || !input->script)) {
        announced_leave_places(l->announced);
        *out = l;
        return 0;
    }
    clear_learner(l);
    return error_memory(err);
}

int stack_learner_start(const struct stack_learner_input *input, struct stack_learner **out,
                        struct fathom_error *err)
{
    struct stack_learner *l;
    int rc = stack_learner_new(input, &l, err);
    if (rc < 0)
        return rc;
    rc = feed_start(&(struct feed_input){.events = input->events,
                                         .count = input->count,
                                         .choose = choose_sample,
                                         .take = take_record,
                                         .context = l},
                    &l->feed, err);
    if (rc < 0)
        clear_learner(l);
    else
        *out = l;
    return rc;
}

int stack_learner_add(struct stack_learner *l, const void *records, size_t size, struct fathom_error *err)
{
    return feed_add(l->feed, records, size, err);
}

uint64_t stack_learner_looked(struct stack_learner *l)
{
    return feed_looked(l->feed);
}

void stack_learner_stop(struct stack_learner *l, struct image_cache **images)
{
    if (l)
        l->ends = true;
    feed_stop(l ? l->feed : NULL, images);
    if (!l)
        return;
    clear_learner(l);
}
