/* compare.c - compares an instruction of a moved function with the old one; see checker.h. */
#include <string.h>

#include "base/search.h"
#include "rewrite/move/checker.h"
#include "image/code/fields.h"

bool checker_fail(struct checker *c, uint64_t where, const char *what)
{
    c->what = what;
    c->where = where;
    return false;
}

const uint8_t *checker_read(const struct checker *c, uint64_t address, struct code_insn *insn)
{
    size_t size;
    const uint8_t *bytes = image_bytes(c->after, address, &size);
    return bytes && code_read(bytes, size, address, insn) ? bytes : NULL;
}

static const struct move_edit *edit_of(const struct checker *c, uint64_t address, enum move_what what)
{
    const struct move_edit *edits = c->function->edits;
    size_t i = lower_bound(m, 0, c->function->edit_count, edits[m].address < address);
    for (; i < c->function->edit_count && edits[i].address == address; i++)
        if (edits[i].what == what)
            return &edits[i];
    return NULL;
}

/* The new address of a jump's target in the same function. */
static bool entry_of(const struct checker *c, uint64_t address, uint64_t *to)
{
    return move_entry(c->result, address, c->copy, to);
}

/* The new address of the target of a branch or call. */
static uint64_t target_of(const struct checker *c, const struct code_insn *insn)
{
    uint64_t to;
    bool own =
        insn->kind != CODE_CALL && function_code_find(&c->unit.code, insn->target) != FUNCTION_CODE_NONE;
    if (own)
        return entry_of(c, insn->target, &to) ? to : 0;
    struct move_call call = move_call_find(&c->calls, insn->address, c->copy);
    uint64_t target = call.target ? call.target : insn->target;
    if (image_function_entry(c->survey->image, target) == IMAGE_NO_FUNCTION)
        return target;
    if (!move_entry(c->result, target, call.copy, &to) && !move_entry(c->result, target, 0, &to))
        return target;
    return to;
}

static bool check_branch(struct checker *c, const struct code_insn *old, const uint8_t *old_bytes,
                         const struct code_insn *new, const uint8_t *bytes)
{
    struct code_fields before, after;
    struct code_insn jump = *new;
    if (new->kind != old->kind || !code_read_fields(old_bytes, old->length, &before) ||
        !code_read_fields(bytes, new->length, &after))
        return checker_fail(c, old->address, "another branch");
    bool loop = before.map == 0 && (before.opcode & 0xfc) == 0xe0;
    if (old->kind == CODE_BRANCH &&
        (loop ? before.opcode != after.opcode : (before.opcode ^ after.opcode) & 0x0f))
        return checker_fail(c, old->address, "another condition");
    uint64_t to = target_of(c, old);
    if (loop && new->target != to && !checker_read(c, new->target, &jump))
        return checker_fail(c, old->address, "a loop that leads nowhere");
    if (jump.target != to)
        return checker_fail(c, old->address, "another target");
    return true;
}

/* Checks that the table's copy leads where the old table does. */
static bool check_table(struct checker *c, uint32_t index, uint64_t at)
{
    const struct move_table *table = &c->unit.tables[index];
    uint32_t copy = c->function->crosses && move_unit_is_shared(&c->unit, index) ? 0 : c->copy;
    size_t size, capacity;
    const uint8_t *old = survey_constants(c->survey, table->address, &size),
                  *new = image_bytes(c->after, at, &capacity);
    if (!old || !new || capacity < (size_t)table->count * table->width)
        return checker_fail(c, table->address, "no copy of a table");
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t from, to, wanted;
        int32_t distances[2];
        if (table->width == 8) {
            memcpy(&from, old + i * (size_t)8, 8);
            memcpy(&to, new + i *(size_t)8, 8);
        } else {
            memcpy(&distances[0], old + i * (size_t)4, 4);
            memcpy(&distances[1], new + i *(size_t)4, 4);
            from = table->address + (uint64_t)(int64_t)distances[0];
            to = at + (uint64_t)(int64_t)distances[1];
        }
        wanted = from;
        if (function_code_find(&c->unit.code, from) != FUNCTION_CODE_NONE &&
            !move_entry(c->result, from, copy, &wanted))
            return checker_fail(c, table->address, "an entry of a table that leads nowhere");
        if (to != wanted)
            return checker_fail(c, table->address, "another entry of a table");
    }
    return true;
}

/* Compares bytes, except for some of them. */
static bool same_bytes(const uint8_t *a, const uint8_t *b, unsigned length, unsigned from, unsigned size)
{
    return memcmp(a, b, from) == 0 && memcmp(a + from + size, b + from + size, length - from - size) == 0;
}

static bool check_address(struct checker *c, uint32_t i, const uint8_t *old_bytes,
                          const struct code_insn *new, const uint8_t *bytes)
{
    const struct code_insn *old = &c->unit.code.insns[i];
    uint32_t table = c->unit.uses[i];
    struct code_fields f;
    if (new->length != old->length || !code_read_fields(old_bytes, old->length, &f))
        return checker_fail(c, old->address, "another instruction");
    bool constant = !old->rip_relative && old->effect == CODE_CONSTANT;
    unsigned from = constant ? f.immediate_at : f.displacement_at;
    unsigned size = constant ? f.immediate_size : f.displacement_size;
    if (!same_bytes(old_bytes, bytes, old->length, from, size))
        return checker_fail(c, old->address, "another instruction");
    uint64_t memory = old->memory;
    if (old->effect == CODE_ADDRESS)
        memory = checker_address(c->survey, c->result, memory);
    if (table == 0)
        return new->memory == memory || checker_fail(c, old->address, "another operand");
    uint64_t at = old->rip_relative ? new->memory
                  : constant        ? new->target
                                    : (uint64_t)(int64_t) new->displacement;
    return check_table(c, table - 1, at);
}

static int64_t immediate_of(const uint8_t *bytes, const struct code_fields *f)
{
    int32_t wide = 0;
    if (f->immediate_size == 1)
        return (int8_t)bytes[f->immediate_at];
    memcpy(&wide, bytes + f->immediate_at, f->immediate_size == 4 ? 4 : 2);
    return f->immediate_size == 4 ? wide : (int16_t)wide;
}

/* Compares an instruction with edits: all but its numbers must be equal. */
static bool check_edited(struct checker *c, const struct code_insn *old, const uint8_t *old_bytes,
                         const struct code_insn *new, const uint8_t *bytes)
{
    const struct move_edit *displacement = edit_of(c, old->address, MOVE_DISPLACEMENT);
    const struct move_edit *immediate = edit_of(c, old->address, MOVE_IMMEDIATE);
    struct code_fields f, g;
    if (!code_read_fields(old_bytes, old->length, &f) || !code_read_fields(bytes, new->length, &g))
        return checker_fail(c, old->address, "another instruction");
    bool wider = f.opcode != g.opcode && (f.opcode | 2) == (g.opcode | 2) && immediate;
    if ((f.opcode != g.opcode && !wider) || f.map != g.map || f.wide != g.wide || f.reg != g.reg ||
        f.has_modrm != g.has_modrm || old->base != new->base || old->index != new->index ||
        old->scale != new->scale || old->kind != new->kind || old->memory_operand != new->memory_operand)
        return checker_fail(c, old->address, "another instruction");
    if (new->displacement != (displacement ? displacement->value : old->displacement) && !f.scaled)
        return checker_fail(c, old->address, "another displacement");
    if (f.immediate_size && f.immediate_size <= 4 &&
        immediate_of(bytes, &g) != (immediate ? immediate->value : immediate_of(old_bytes, &f)))
        return checker_fail(c, old->address, "another immediate");
    return true;
}

bool checker_compare(struct checker *c, uint32_t i, uint64_t at, struct code_insn *new)
{
    const struct code_insn *old = &c->unit.code.insns[i];
    const uint8_t *old_bytes = move_unit_bytes(&c->unit, i), *bytes = checker_read(c, at, new);
    if (!bytes)
        return checker_fail(c, old->address, "no instruction");
    if (old->kind == CODE_CALL || old->kind == CODE_JUMP || old->kind == CODE_BRANCH)
        return check_branch(c, old, old_bytes, new, bytes);
    if (old->rip_relative || c->unit.uses[i])
        return check_address(c, i, old_bytes, new, bytes);
    if (edit_of(c, old->address, MOVE_DISPLACEMENT) || edit_of(c, old->address, MOVE_IMMEDIATE))
        return check_edited(c, old, old_bytes, new, bytes);
    return (new->length == old->length &&memcmp(bytes, old_bytes, new->length) == 0) ||
           checker_fail(c, old->address, "another instruction");
}
