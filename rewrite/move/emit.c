/* emit.c - appends the code and tables of one copy to the new segment; see work.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "rewrite/move/work.h"
#include "image/code/fields.h"

#define HOT_LIKE  64 /* bytes: a copy's place in cache lines, and its loops' alignment, are as before */
#define COLD_LIKE 16
#define TRAP      0xcc /* int3, between functions */

struct emitter {
    struct move_work *work;
    const struct move_layout *layout;
    const struct move_unit *unit;
    uint32_t part;
    struct move_place *places; /* of the parts */
    uint32_t *tables;          /* offsets in BUFFER_DATA of the tables that the code refers to */
};

static struct move_buffer *buffer_of(struct emitter *e)
{
    return &e->work->buffers[e->places[e->part].buffer];
}

static bool put_bytes(struct emitter *e, const void *bytes, size_t n)
{
    return move_append(buffer_of(e), bytes, n) != SIZE_MAX;
}

static struct move_place place_of(const struct emitter *e, uint32_t insn)
{
    uint32_t part = move_unit_part(e->unit, insn);
    return (struct move_place){e->places[part].buffer, e->places[part].offset + e->layout->insns[insn].entry};
}

/* Notes that the last 4 bytes are the distance of a branch to this old address. */
static bool fix_branch(struct emitter *e, uint32_t insn, uint64_t target)
{
    struct move_place at = {e->places[e->part].buffer, (uint32_t)buffer_of(e)->size - 4};
    struct move_fix fix = {.at = at, .from = 4, .kind = FIX_FUNCTION, .target = target};
    const struct code_insn *i = &e->unit->code.insns[insn];
    uint32_t to = i->kind == CODE_CALL ? FUNCTION_CODE_NONE : function_code_find(&e->unit->code, target);
    if (to != FUNCTION_CODE_NONE) {
        fix.kind = FIX_PLACE;
        fix.to = place_of(e, to);
    } else {
        struct move_call call = move_call_find(e->work, i->address, e->layout->number);
        fix.to.offset = call.copy;
        fix.target = call.target ? call.target : target;
    }
    return move_fix(e->work, &fix);
}

static bool put_wide(struct emitter *e, uint32_t i, const uint8_t *bytes, unsigned length)
{
    const struct code_insn *insn = &e->unit->code.insns[i];
    uint8_t out[24];
    unsigned n = 0, opcode = bytes[length - 2];
    if (insn->kind == CODE_JUMP) {
        out[n++] = 0xe9;
    } else if ((opcode & 0xfc) == 0xe0) { /* loop, jrcxz: followed by a jump over a wide jump to the target */
        memcpy(out, bytes, length - 1);
        n = length - 1;
        out[n++] = 2;
        out[n++] = 0xeb;
        out[n++] = 5;
        out[n++] = 0xe9;
    } else {
        out[n++] = 0x0f;
        out[n++] = (uint8_t)(0x80 | (opcode & 0x0f));
    }
    memset(out + n, 0, 4);
    return put_bytes(e, out, n + 4) && fix_branch(e, i, insn->target);
}

static bool put_branch(struct emitter *e, uint32_t i, uint8_t *bytes, unsigned length)
{
    const struct code_insn *insn = &e->unit->code.insns[i];
    if (e->layout->insns[i].wide)
        return put_wide(e, i, bytes, length);
    if (!move_is_short(bytes, length, insn))
        return put_bytes(e, bytes, length) && fix_branch(e, i, insn->target);
    uint32_t to = e->unit->code.jumps[i];
    bytes[length - 1] = (uint8_t)(e->layout->insns[to].entry - (e->layout->insns[i].body + length));
    return put_bytes(e, bytes, length);
}

/* Appends an instruction with an address operand: of a table's copy, or unchanged. */
static bool put_address(struct emitter *e, uint32_t i, const uint8_t *bytes, unsigned length)
{
    const struct code_insn *insn = &e->unit->code.insns[i];
    uint32_t table = e->unit->uses[i];
    struct code_fields f;
    if (!code_read_fields(bytes, length, &f))
        return false;
    struct move_fix fix = {.at = {e->places[e->part].buffer, (uint32_t)buffer_of(e)->size}};
    if (!put_bytes(e, bytes, length))
        return false;
    if (table)
        fix.to = (struct move_place){BUFFER_DATA, e->tables[table - 1]};
    if (insn->rip_relative) {
        fix.at.offset += f.displacement_at;
        fix.from = (int32_t)(length - f.displacement_at);
        fix.kind = table ? FIX_PLACE : FIX_FAR;
        if (!table && insn->effect == CODE_ADDRESS && survey_follows(e->unit->survey, insn->memory))
            fix.kind = FIX_FUNCTION;
        fix.target = insn->memory;
    } else {
        bool constant = insn->effect == CODE_CONSTANT;
        fix.at.offset += constant ? f.immediate_at : f.displacement_at;
        fix.kind = constant && f.immediate_size == 8 ? FIX_SPOT_8 : FIX_PLACE_4;
    }
    return move_fix(e->work, &fix);
}

static bool put_lea(struct emitter *e, uint32_t i, enum move_what what)
{
    uint8_t bytes[8];
    int32_t value = e->layout->plan->edit_count ? move_layout_lea(e->layout, i, what) : 0;
    return value == 0 || put_bytes(e, bytes, move_lea(value, bytes));
}

static bool put_insn(struct emitter *e, uint32_t i)
{
    const struct code_insn *insn = &e->unit->code.insns[i];
    uint8_t bytes[16];
    unsigned length = move_layout_encode(e->layout, i, bytes);
    bool done;
    if (!move_codes_put(e->work, e->layout->plan, insn->address, e->places[e->part].buffer) ||
        !put_lea(e, i, MOVE_LEA_BEFORE) ||
        !move_guards_put(e->work, e->layout, i, bytes, length, e->places[e->part].buffer))
        return false;
    if (insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH || insn->kind == CODE_CALL)
        done = put_branch(e, i, bytes, length);
    else if (insn->rip_relative || e->unit->uses[i])
        done = put_address(e, i, bytes, length);
    else
        done = put_bytes(e, bytes, length);
    return done && put_lea(e, i, MOVE_LEA_AFTER);
}

static bool note_run(struct emitter *e, uint32_t i)
{
    struct move_work *work = e->work;
    const struct code_insn *insn = &e->unit->code.insns[i];
    uint8_t bytes[16];
    bool call = insn->kind == CODE_CALL_INDIRECT;
    unsigned length = call ? move_layout_encode(e->layout, i, bytes) : insn->length;
    uint32_t guards = call ? e->layout->insns[i].size - length : 0;
    uint32_t to = e->places[e->part].offset + e->layout->insns[i].body + guards;
    struct move_return back = {
        .from = insn->address + insn->length, .to = to + length, .copy = e->layout->number};
    if (length != insn->length && !move_note_return(work, &back, e->places[e->part].buffer))
        return false;
    struct work_run *last = work->run_count ? &work->runs[work->run_count - 1] : NULL;
    if (last && last->buffer == e->places[e->part].buffer && last->run.copy == e->layout->number &&
        last->run.from + last->run.size == insn->address && last->run.to + last->run.size == to) {
        last->run.size += insn->length;
        return true;
    }
    struct work_run run = {
        {.from = insn->address,
         .to = to,
         .size = insn->length,
         .copy = e->layout->number,
         .before = (uint8_t)(e->layout->insns[i].body - e->layout->insns[i].entry + guards)},
        e->places[e->part].buffer};
    return vec_push(work->runs, work->run_count, work->run_capacity, run);
}

/* Appends a jump to where the last instruction continues, unless that is a jump; rarely executed, as it is behind
 * a call that does not return. */
static bool put_end(struct emitter *e, const struct move_part *part)
{
    const struct code_insn *last = &e->unit->code.insns[part->first + part->count - 1];
    static const uint8_t jump[ENTRY_JUMP] = {0xe9};
    if (last->kind == CODE_JUMP || last->kind == CODE_JUMP_INDIRECT || last->kind == CODE_RETURN ||
        last->kind == CODE_STOP)
        return true;
    struct move_fix fix = {.from = 4, .kind = FIX_FUNCTION, .target = part->address + part->size};
    uint32_t to = function_code_find(&e->unit->code, fix.target);
    if (!put_bytes(e, jump, sizeof jump))
        return false;
    fix.at = (struct move_place){e->places[e->part].buffer, (uint32_t)buffer_of(e)->size - 4};
    if (to != FUNCTION_CODE_NONE) {
        fix.kind = FIX_PLACE;
        fix.to = place_of(e, to);
    }
    return move_fix(e->work, &fix);
}

static bool put_part(struct emitter *e, uint32_t p)
{
    const struct move_part *part = &e->unit->parts[p];
    e->part = p;
    for (uint32_t i = part->first; i < part->first + part->count; i++)
        if (!put_insn(e, i) || !note_run(e, i))
            return false;
    return put_end(e, part);
}

static uint64_t end_of(const struct move_table *table)
{
    return table->address + (uint64_t)table->count * table->width;
}

/* The largest table of addresses that contains this one entirely, or this one: tables are read on into those
 * behind them. */
static uint32_t holder_of(const struct move_unit *unit, uint32_t index)
{
    const struct move_table *tables = unit->tables;
    uint32_t holder = index;
    for (uint32_t k = 0; k < unit->table_count && tables[index].width == 8; k++)
        if (tables[k].width == 8 && (tables[k].address - tables[index].address) % 8 == 0 &&
            tables[k].address < tables[holder].address && end_of(&tables[k]) >= end_of(&tables[index]))
            holder = k;
    return holder;
}

/* Appends the table's copy; entries that lead out of the function are kept. */
static bool put_table(struct emitter *e, uint32_t index)
{
    const struct move_table *table = &e->unit->tables[index];
    struct move_buffer *data = &e->work->buffers[BUFFER_DATA];
    size_t size;
    const uint8_t *bytes = survey_constants(e->unit->survey, table->address, &size);
    uint32_t start = e->tables[index];
    for (uint32_t k = 0; k < table->count; k++) {
        uint32_t at = start + k * table->width;
        struct move_fix fix = {
            .at = {BUFFER_DATA, at}, .from = -(int32_t)(k * table->width), .kind = FIX_FAR};
        int32_t distance;
        memcpy(&distance, bytes + k * (size_t)table->width, sizeof distance);
        fix.target = table->address + (uint64_t)(int64_t)distance;
        if (table->width == 8) {
            memcpy(&fix.target, bytes + k * (size_t)8, 8);
            memcpy(data->bytes + at, &fix.target, 8);
        }
        uint32_t to = function_code_find(&e->unit->code, fix.target);
        if (to != FUNCTION_CODE_NONE) {
            fix.kind = table->width == 8 ? FIX_SPOT_8 : FIX_PLACE;
            fix.to = place_of(e, to);
        } else if (table->width == 8) {
            continue;
        }
        if (!move_fix(e->work, &fix))
            return false;
    }
    return true;
}

/* Whether the copy uses the first copy's table. */
static bool is_first(const struct emitter *e, uint32_t index)
{
    return e->layout->number > 0 && e->layout->plan->crosses && move_unit_is_shared(e->unit, index);
}

/* Keeps the tables for the function's other copies. */
static bool keep_tables(struct emitter *e)
{
    struct move_work *work = e->work;
    if (!vec_reserve(work->tables, 0, work->table_capacity, e->unit->table_count))
        return false;
    for (uint32_t i = 0; i < e->unit->table_count; i++)
        work->tables[i] = e->tables[i];
    return true;
}

static bool put_tables(struct emitter *e)
{
    struct move_buffer *data = &e->work->buffers[BUFFER_DATA];
    for (uint32_t i = 0; i < e->unit->table_count; i++) {
        const struct move_table *table = &e->unit->tables[i];
        if (is_first(e, i)) {
            e->tables[i] = e->work->tables[i];
            continue;
        }
        if (holder_of(e->unit, i) != i)
            continue;
        if (!move_align(data, 0, table->width))
            return false;
        size_t at = move_append(data, NULL, (size_t)table->count * table->width);
        if (at == SIZE_MAX)
            return false;
        e->tables[i] = (uint32_t)at;
    }
    for (uint32_t i = 0; i < e->unit->table_count; i++) {
        uint32_t holder = holder_of(e->unit, i);
        if (!is_first(e, i))
            e->tables[i] =
                e->tables[holder] + (uint32_t)(e->unit->tables[i].address - e->unit->tables[holder].address);
    }
    return e->layout->number > 0 || keep_tables(e);
}

/* Lets pointers to labels in data, and notes of probes, follow the first copy. */
static bool repoint_labels(struct emitter *e)
{
    const struct survey_label *labels;
    size_t count =
        e->unit->labels || e->unit->probes ? survey_labels(e->unit->survey, e->unit->function, &labels) : 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t to = function_code_find(&e->unit->code, labels[i].value);
        if (to == FUNCTION_CODE_NONE || !move_unit_follows(e->unit, &labels[i]))
            continue;
        struct move_place place = place_of(e, to);
        struct move_work *work = e->work;
        if (!vec_reserve(work->repointed, work->repointed_count, work->repointed_capacity, 2))
            return false;
        work->repointed[work->repointed_count++] = labels[i].offset;
        work->repointed[work->repointed_count++] = (uint64_t)place.buffer << 32 | place.offset;
    }
    return true;
}

/* Chooses the places of all parts first, as branches lead both ways between them. */
static void choose_places(struct emitter *e)
{
    bool far = e->layout->plan->crosses && e->layout->number > 0;
    for (uint32_t p = 0; p < e->unit->part_count; p++) {
        bool hot = p == e->unit->main;
        uint32_t buffer = far ? BUFFER_FAR : hot ? BUFFER_HOT : BUFFER_COLD;
        size_t like = hot ? HOT_LIKE : COLD_LIKE, at = e->work->buffers[buffer].size;
        for (uint32_t q = 0; q < p; q++) /* other parts of the function, which come first */
            if (e->places[q].buffer == buffer)
                at = e->places[q].offset + e->layout->part_sizes[q] + ENTRY_JUMP;
        at += (e->unit->parts[p].address - at) & (like - 1);
        e->places[p] = (struct move_place){buffer, (uint32_t)at};
    }
}

static bool emit_parts(struct emitter *e, struct move_copy *copy)
{
    struct move_work *work = e->work;
    for (uint32_t p = 0; p < e->unit->part_count; p++) {
        const struct move_part *part = &e->unit->parts[p];
        struct move_buffer *buffer = &work->buffers[e->places[p].buffer];
        size_t gap = e->places[p].offset - buffer->size, at = move_append(buffer, NULL, gap);
        if (at == SIZE_MAX)
            return false;
        memset(buffer->bytes + at, TRAP, gap);
        struct move_piece piece = {.address = part->address,
                                   .old_size = part->size,
                                   .place = e->places[p],
                                   .fde = part->fde,
                                   .lsda = NO_LSDA,
                                   .copy = (uint32_t)work->copy_count};
        if (!put_part(e, p))
            return false;
        piece.size = (uint32_t)buffer->size - e->places[p].offset;
        if (!vec_push(work->pieces, work->piece_count, work->piece_capacity, piece))
            return false;
        copy->count++;
    }
    return true;
}

/* Emits the copy's CFI and exceptions; false: not understood (*rc 0) or out of memory. */
static bool emit_unwinding(struct emitter *e, const struct move_copy *copy, enum move_refusal *refusal,
                           int *rc)
{
    for (uint32_t p = 0; p < copy->count; p++) {
        struct move_piece *piece = &e->work->pieces[copy->first + p];
        if (!move_cfa(e->work, e->layout, p, piece, rc)) {
            *refusal = MOVE_CFI_UNKNOWN;
            return false;
        }
        if (piece->fde->lsda && !move_lsda(e->work, e->layout, p, piece, rc)) {
            *refusal = MOVE_EXCEPTIONS;
            return false;
        }
    }
    return true;
}

static int emit_copy(struct emitter *e, struct move_copy *copy, enum move_refusal *refusal)
{
    int rc = 0;
    choose_places(e);
    if (!put_tables(e) || !emit_parts(e, copy))
        return -ENOMEM;
    for (uint32_t i = 0; i < e->unit->table_count; i++)
        if (holder_of(e->unit, i) == i && !is_first(e, i) && !put_table(e, i))
            return -ENOMEM;
    if (!emit_unwinding(e, copy, refusal, &rc) || (e->layout->number == 0 && !repoint_labels(e)))
        return *refusal ? rc : -ENOMEM;
    copy->entry = e->places[e->unit->main];
    return vec_push(e->work->copies, e->work->copy_count, e->work->copy_capacity, *copy) ? 0 : -ENOMEM;
}

int move_emit(struct move_work *work, struct move_layout *layout, enum move_refusal *refusal)
{
    const struct move_unit *unit = layout->unit;
    const struct move_extent before = move_extent_of(work);
    struct move_copy copy = {.address = unit->entry,
                             .number = layout->number,
                             .function = unit->function,
                             .first = (uint32_t)work->piece_count};
    struct emitter e = {.work = work, .layout = layout, .unit = unit};
    *refusal = layout->bad ? MOVE_EDIT : MOVE_MOVABLE;
    if (layout->bad)
        return 0;
    uint32_t places = 0, tables = 0;
    int rc = vec_reserve(e.places, 0, places, unit->part_count) &&
                     vec_reserve(e.tables, 0, tables, unit->table_count + (size_t)1)
                 ? emit_copy(&e, &copy, refusal)
                 : -ENOMEM;
    free(e.places);
    free(e.tables);
    if (rc == 0 && *refusal)
        move_cut_back(work, &before);
    return rc;
}
