/* move.c - the steps that make the new file; see move.h. */
#include "rewrite/move/move.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "rewrite/move/work.h"

/* A function of the plan and its number in it. */
struct order {
    const struct move_function *function;
    uint32_t index, copy;
};

static int by_address(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    return order_of(x->function->address, y->function->address) ?: order_of(x->index, y->index);
}

static int by_copy(const void *a, const void *b)
{
    const struct move_run *x = a, *y = b;
    return order_of(x->copy, y->copy) ?: order_of(x->from, y->from);
}

/* The plan's functions sorted by address, with their copies' numbers. */
static struct order *sort_plan(const struct move_plan *plan)
{
    struct order *order = malloc((plan->function_count + 1) * sizeof *order);
    if (!order)
        return NULL;
    for (size_t i = 0; i < plan->function_count; i++)
        order[i] = (struct order){&plan->functions[i], (uint32_t)i, 0};
    sort_with(order, plan->function_count, by_address);
    for (size_t i = 1; i < plan->function_count; i++)
        if (order[i].function->address == order[i - 1].function->address)
            order[i].copy = order[i - 1].copy + 1;
    return order;
}

/* Whether the edits change the frame, rather than lower SP before some instructions and raise it behind them. */
static bool changes_frame(const struct move_function *f)
{
    bool any = false;
    for (size_t i = 0; i < f->edit_count; i++) {
        const struct move_edit *edit = &f->edits[i], *last = i ? edit - 1 : NULL;
        bool opens = edit->what == MOVE_LEA_BEFORE && i + 1 < f->edit_count &&
                     edit[1].what == MOVE_LEA_AFTER && edit[1].address == edit->address &&
                     edit[1].value == -edit->value;
        bool closes = edit->what == MOVE_LEA_AFTER && last && last->what == MOVE_LEA_BEFORE &&
                      last->address == edit->address && last->value == -edit->value;
        if (edit->what < MOVE_CFA_BEFORE && !opens && !closes)
            return true;
        any |= opens;
    }
    return f->edit_count && !any;
}

/* Why a movable function cannot have this copy. */
static enum move_refusal judge_copy(const struct move_unit *unit, const struct move_function *f,
                                    uint32_t copy)
{
    bool other_frame = changes_frame(f);
    if (copy && unit->labels && !f->crosses)
        return MOVE_CLONED_LABELS;
    if (unit->probes && (copy || other_frame))
        return MOVE_PROBE;
    return unit->leaves && other_frame ? MOVE_LEAVES : MOVE_MOVABLE;
}

/* Emits the copies of one function, one after the other; stops at the first one that is refused. If they lead to
 * each other, all or none are emitted. */
static int emit_function(struct move_work *work, struct move_unit *unit, struct move_layout *layout,
                         const struct order *order, size_t count, struct move_result *result)
{
    uint32_t function = image_function_entry(work->survey->image, order->function->address);
    unit->refusal = MOVE_NOT_A_FUNCTION;
    int rc = function == IMAGE_NO_FUNCTION ? 0 : move_unit_read(unit, function);
    enum move_refusal refusal = unit->refusal;
    const struct move_extent before = move_extent_of(work);
    for (size_t i = 0; i < count && rc == 0; i++) {
        const struct move_function *f = order[i].function;
        if (refusal == MOVE_MOVABLE)
            refusal = judge_copy(unit, f, order[i].copy);
        layout->number = order[i].copy;
        if (refusal == MOVE_MOVABLE)
            rc = move_layout_make(layout, unit, f);
        if (rc == 0 && refusal == MOVE_MOVABLE)
            rc = move_emit(work, layout, &refusal);
        result->refusals[order[i].index] = (uint8_t)refusal;
    }
    if (rc == 0 && refusal != MOVE_MOVABLE && order[count - 1].function->code_count) {
        move_cut_back(work, &before);
        for (size_t i = 0; i < count; i++)
            result->refusals[order[i].index] = (uint8_t)refusal;
    }
    for (size_t p = before.pieces; p < work->piece_count; p++) {
        result->emitted_bytes += work->pieces[p].size;
        result->moved_bytes += p - before.pieces < unit->part_count ? work->pieces[p].old_size : 0;
    }
    return rc;
}

static int emit_all(struct move_work *work, struct move_result *result)
{
    struct move_unit unit;
    struct move_layout layout = {.guards = &work->guards};
    struct order *order = sort_plan(work->plan);
    int rc = move_unit_begin(&unit, work->survey);
    if (!order)
        rc = -ENOMEM;
    for (size_t i = 0, next; i < work->plan->function_count && rc == 0; i = next) {
        for (next = i + 1; next < work->plan->function_count && order[next].copy; next++)
            ;
        rc = emit_function(work, &unit, &layout, order + i, next - i, result);
    }
    move_layout_free(&layout);
    move_unit_free(&unit);
    free(order);
    return rc;
}

static uint64_t place_buffer(struct move_buffer *buffer, uint64_t at, uint64_t alignment)
{
    buffer->address = (at + alignment - 1) & ~(alignment - 1);
    return buffer->address + buffer->size;
}

static int take_runs(struct move_work *work, struct move_result *result)
{
    result->runs = malloc((work->run_count + 1) * sizeof *result->runs);
    if (!result->runs)
        return -ENOMEM;
    for (size_t i = 0; i < work->run_count; i++) {
        struct move_run *run = &result->runs[i];
        *run = work->runs[i].run;
        run->to += work->buffers[work->runs[i].buffer].address;
    }
    result->run_count = work->run_count;
    sort_with(result->runs, result->run_count, by_copy);
    return 0;
}

static int fill_in(struct move_work *work, struct move_result *result, struct fathom_error *err)
{
    const char *path = image_path(work->survey->image);
    if (take_runs(work, result) < 0)
        return error_memory(err);
    switch (move_fix_all(work, result)) {
    case -EOVERFLOW:
        return error_set(err, EOVERFLOW, "%s: its new code is out of reach of the old", path);
    case -EINVAL:
        return error_set(err, EINVAL, "%s: code is to lead to a copy that cannot be made", path);
    default:
        return 0;
    }
}

static int place_all(struct move_work *work, const struct move_output *out, struct move_result *result,
                     struct fathom_error *err)
{
    struct move_buffer *b = work->buffers;
    uint64_t at = place_buffer(&b[BUFFER_START], out->address + out->header_bytes, 64);
    at = place_buffer(&b[BUFFER_HOT], at, 64);
    at = place_buffer(&b[BUFFER_COLD], at, 64);
    at = place_buffer(&b[BUFFER_FAR], at, 64);
    at = place_buffer(&b[BUFFER_DATA], at, 16);
    place_buffer(&b[BUFFER_FRAMES], at, 8);
    int rc = move_frames(work, err);
    if (rc < 0)
        return rc;
    place_buffer(&b[BUFFER_INDEX], b[BUFFER_FRAMES].address + b[BUFFER_FRAMES].size, 4);
    rc = move_index(work, err);
    return rc < 0 ? rc : fill_in(work, result, err);
}

static int by_return(const void *a, const void *b)
{
    const struct move_return *x = a, *y = b;
    return order_of(x->from, y->from) ?: order_of(x->copy, y->copy) ?: order_of(x->target, y->target);
}

static int take_returns(struct move_work *work, struct move_result *result)
{
    result->returns = malloc((work->return_count + 1) * sizeof *result->returns);
    if (!result->returns)
        return -ENOMEM;
    for (size_t i = 0; i < work->return_count; i++) {
        result->returns[i] = work->returns[i].at;
        result->returns[i].to += work->buffers[work->returns[i].buffer].address;
    }
    result->return_count = work->return_count;
    sort_with(result->returns, result->return_count, by_return);
    return 0;
}

/* Sets the new file's own build-id, computed from its contents. */
static void set_build_id(const struct move_survey *survey, struct move_result *result)
{
    struct build_id id = *image_build_id(survey->image);
    if (!id.size || survey->file->build_id_at + id.size > survey->size)
        return;
    uint8_t *at = result->elf + survey->file->build_id_at;
    memset(at, 0, id.size);
    uint64_t hash = checksum_of(result->elf, result->size);
    for (size_t i = 0; i < id.size; i++) {
        id.bytes[i] = (uint8_t)(hash >> 8 * (i % 8));
        hash = i % 8 == 7 ? hash_u64(hash + i) : hash;
    }
    memcpy(at, id.bytes, id.size);
    result->id = id;
}

static int build_file(struct move_work *work, struct move_result *result, struct fathom_error *err)
{
    struct move_output out = {0};
    int rc = move_output_plan(work->survey, &out, err);
    if (rc < 0)
        return rc;
    if (emit_all(work, result) < 0)
        return error_memory(err);
    rc = move_start_put(work);
    if (rc == -ENOTSUP)
        return error_set(
            err, ENOTSUP,
            "%s: nothing in it is executed first: it has neither relative relocations nor DT_INIT",
            image_path(work->survey->image));
    if (rc < 0)
        return error_memory(err);
    rc = place_all(work, &out, result, err);
    if (rc < 0)
        return rc;
    out.bytes = malloc(work->survey->size);
    if (!out.bytes)
        return error_memory(err);
    memcpy(out.bytes, work->survey->data, work->survey->size);
    out.size = work->survey->size;
    if (move_sites(work, out.bytes, &result->repointed) < 0)
        rc = error_set(err, EOVERFLOW, "%s: its new code is out of reach of the old",
                       image_path(work->survey->image));
    move_start_set(work, out.bytes);
    if (rc == 0)
        rc = move_output_write(work, &out, err);
    result->elf = out.bytes;
    result->size = out.size;
    const struct move_buffer *last = &work->buffers[BUFFER_INDEX];
    result->segment_bytes = last->address + last->size - out.address;
    if (rc == 0 && take_returns(work, result) < 0)
        rc = error_memory(err);
    if (rc == 0)
        set_build_id(work->survey, result);
    return rc;
}

static void work_free(struct move_work *work)
{
    for (unsigned b = 0; b < BUFFERS; b++)
        free(work->buffers[b].bytes);
    free(work->fixes);
    free(work->copies);
    free(work->pieces);
    free(work->programs);
    free(work->runs);
    free(work->calls);
    free(work->guards.items);
    free(work->returns);
    free(work->entries);
    free(work->tables);
    free(work->repointed);
}

int move_apply(const struct move_survey *survey, const struct move_plan *plan, struct move_result *out,
               struct fathom_error *err)
{
    struct move_result result = {0};
    struct move_work work = {.survey = survey, .plan = plan};
    result.refusals = calloc(plan->function_count + 1, 1);
    work.calls = move_calls_sort(plan);
    int rc = result.refusals && work.calls ? 0 : error_memory(err);
    for (size_t i = 1; i < plan->call_count && rc == 0; i++)
        if (move_call_compare(&work.calls[i - 1], &work.calls[i]) == 0)
            rc = error_set(err, EINVAL, "the call at %#llx is to go to two copies",
                           (unsigned long long)work.calls[i].site);
    int sorted = rc == 0 ? move_guards_sort(plan, &work.guards) : 0;
    if (sorted == -EINVAL)
        rc = error_set(err, EINVAL, "a guarded call is to go to two copies of one function");
    else if (sorted < 0)
        rc = error_memory(err);
    if (rc == 0)
        rc = build_file(&work, &result, err);
    work_free(&work);
    if (rc < 0)
        move_result_free(&result);
    else
        *out = result;
    return rc;
}

void move_result_free(struct move_result *result)
{
    free(result->elf);
    free(result->refusals);
    free(result->runs);
    free(result->returns);
    *result = (struct move_result){0};
}

/* The run that contains this byte; NULL: none. */
static const struct move_run *find_run(const struct move_result *result, uint64_t from, uint32_t copy)
{
    const struct move_run *r = result->runs;
    size_t beyond =
        lower_bound(i, 0, result->run_count, r[i].copy < copy || (r[i].copy == copy && r[i].from <= from));
    if (beyond == 0 || r[beyond - 1].copy != copy || from - r[beyond - 1].from >= r[beyond - 1].size)
        return NULL;
    return &r[beyond - 1];
}

static const struct move_return *find_return(const struct move_result *result, uint64_t from, uint32_t copy,
                                             uint64_t target)
{
    const struct move_return key = {.from = from, .target = target, .copy = copy}, *r = result->returns;
    size_t i = lower_bound(m, 0, result->return_count, by_return(&r[m], &key) < 0);
    return i < result->return_count && by_return(&r[i], &key) == 0 ? &r[i] : NULL;
}

bool move_translate_return(const struct move_result *result, uint64_t from, uint32_t copy, uint64_t target,
                           uint64_t *to)
{
    const struct move_return *guard = target ? find_return(result, from, copy, target) : NULL;
    if (guard)
        *to = guard->to;
    return guard || move_translate(result, from, copy, true, to);
}

bool move_translate(const struct move_result *result, uint64_t from, uint32_t copy, bool back, uint64_t *to)
{
    const struct move_return *longer = back ? find_return(result, from, copy, 0) : NULL;
    if (longer) {
        *to = longer->to;
        return true;
    }
    const struct move_run *run = find_run(result, from - back, copy);
    if (run)
        *to = run->to + (from - run->from);
    return run;
}

bool move_entry(const struct move_result *result, uint64_t entry, uint32_t copy, uint64_t *to)
{
    const struct move_run *run = find_run(result, entry, copy);
    if (run)
        *to = run->to + (entry - run->from) - (entry == run->from ? run->before : 0);
    return run;
}
