/*
 * tables.c - the tables that a function jumps through, and whether all of its indirect jumps are accounted for;
 * see unit.h.
 *
 * A jump table is found by the address that code takes, and not by following that address to the jump (it may be
 * spilled): constant data whose first words lead to instructions of this function. Other data does so by chance
 * once in many millions. All instructions with a table's address get that of its copy, so it does not matter
 * which of them a jump uses.
 */
#include <errno.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "rewrite/move/unit.h"
#include "image/code/operands.h"

#define FIRST_WORDS 4     /* half of these, or as many in all, must lead into the function */
#define TABLE_MOST  65536 /* entries */
#define STRANGERS   16    /* adjacent entries that lead out of the function */

static bool is_code_of(const struct move_unit *unit, uint64_t address)
{
    return function_code_find(&unit->code, address) != FUNCTION_CODE_NONE;
}

static bool is_inside(const struct move_unit *unit, uint64_t address)
{
    for (uint32_t i = 0; i < unit->part_count; i++)
        if (address - unit->parts[i].address < unit->parts[i].size)
            return true;
    return false;
}

/* Reads where an entry leads; false: not to code, or between instructions of this function. */
static bool follow_entry(const struct move_unit *unit, uint64_t table, const uint8_t *entry, unsigned width,
                         uint64_t *to)
{
    int32_t distance;
    if (width == 4) {
        memcpy(&distance, entry, sizeof distance);
        *to = table + (uint64_t)(int64_t)distance;
    } else {
        memcpy(to, entry, sizeof *to);
    }
    return is_code_of(unit, *to) ||
           (!is_inside(unit, *to) && elf_file_is_code(unit->survey->file, *to - 1, 1));
}

/* How many entries a table at this address has; 0: none. Too many are harmless, too few are not. Another known
 * object may seem to begin inside the table (code that indexes an array from 3 has the address 3 entries before
 * it): from there on the table ends at STRANGERS adjacent entries that lead elsewhere. */
static uint32_t measure_table(const struct move_unit *unit, uint64_t address, unsigned width, bool *certain)
{
    size_t size;
    const uint8_t *bytes = address % width == 0 ? survey_constants(unit->survey, address, &size) : NULL;
    uint64_t end = survey_next_object(unit->survey, address), to;
    uint32_t count = 0, own = 0, first = 0, strangers = 0;
    while (bytes && count < TABLE_MOST && size >= (count + (size_t)1) * width &&
           (strangers < STRANGERS || address + (uint64_t)count * width + width <= end) &&
           follow_entry(unit, address, bytes + (size_t)count * width, width, &to)) {
        bool inside = is_code_of(unit, to);
        strangers = inside ? 0 : strangers + 1;
        own += inside && to != unit->entry;
        first += inside && to != unit->entry && count < FIRST_WORDS;
        count++;
    }
    uint32_t judged = count < FIRST_WORDS ? count : FIRST_WORDS;
    *certain = first == FIRST_WORDS;
    return judged >= 1 && (first * 2 >= judged || own >= FIRST_WORDS) ? count : 0;
}

/* The instruction has this address: adds the table there, if it is one. */
static int note_use(struct move_unit *unit, uint32_t insn, uint64_t address, unsigned width)
{
    for (uint32_t i = 0; i < unit->table_count; i++) {
        if (unit->tables[i].address == address && unit->tables[i].width == width) {
            unit->uses[insn] = i + 1;
            return 0;
        }
    }
    bool certain;
    uint32_t count = measure_table(unit, address, width, &certain);
    if (count == 0)
        return 0;
    if (!vec_push(unit->tables, unit->table_count, unit->table_capacity,
                  (struct move_table){address, count, (uint8_t)width, certain, false}))
        return -ENOMEM;
    unit->uses[insn] = unit->table_count;
    return 0;
}

static int find_uses(struct move_unit *unit, uint32_t i)
{
    const struct code_insn *insn = &unit->code.insns[i];
    bool fixed = unit->survey->file->type == ET_EXEC;
    bool constant = fixed && insn->effect == CODE_CONSTANT;
    uint64_t address = constant ? insn->target : insn->memory;
    if (insn->effect == CODE_ADDRESS || constant) {
        if (is_inside(unit, address) && address != unit->entry && (!constant || is_code_of(unit, address)))
            unit->refusal = MOVE_LABEL_TAKEN;
        int rc = note_use(unit, i, address, 4);
        if (rc == 0 && unit->uses[i] == 0 && fixed)
            rc = note_use(unit, i, address, 8);
        if (rc < 0 || unit->uses[i])
            return rc;
    }
    return fixed && insn->memory_operand && !insn->rip_relative && insn->displacement > 0
               ? note_use(unit, i, (uint64_t)(int64_t)insn->displacement, 8)
               : 0;
}

static bool is_table(const struct move_unit *unit, uint64_t address)
{
    for (uint32_t i = 0; i < unit->table_count; i++)
        if (unit->tables[i].address == address)
            return true;
    return false;
}

static void claim_table(struct move_unit *unit, uint32_t insn, uint64_t address)
{
    for (uint32_t i = 0; i < unit->table_count; i++)
        if (unit->tables[i].address == address) {
            unit->tables[i].claimed = true;
            unit->through[insn] = i + 1;
        }
}

/* Drops tables that no jump was seen to use, if all jumps were understood. */
static void drop_unclaimed(struct move_unit *unit, bool vague)
{
    for (uint32_t i = 0; i < unit->table_count; i++)
        if (!unit->tables[i].claimed && vague && !unit->tables[i].certain)
            unit->refusal = MOVE_JUMP_UNKNOWN;
    for (uint32_t i = 0; i < unit->code.count; i++)
        if (unit->uses[i] && !vague && !unit->tables[unit->uses[i] - 1].claimed)
            unit->uses[i] = 0;
    for (uint32_t i = 0; i < unit->table_count; i++)
        if (!vague && !unit->tables[i].claimed)
            unit->tables[i].count = 0;
}

/* Whether it is a table of functions, or of labels re-pointed by relocations. */
static bool is_pointers(const struct move_unit *unit, uint64_t address)
{
    size_t size;
    uint64_t word;
    if (unit->survey->file->type != ET_EXEC)
        return true;
    const uint8_t *bytes = elf_file_bytes(unit->survey->file, address, ELF_REST, &size);
    if (!bytes || size < sizeof word)
        return true; /* filled in at run time */
    memcpy(&word, bytes, sizeof word);
    return !is_inside(unit, word) || !survey_constants(unit->survey, address, &size);
}

static bool has_labels(const struct move_unit *unit)
{
    const struct survey_label *labels;
    size_t count = survey_labels(unit->survey, unit->function, &labels), own = 0;
    for (size_t i = 0; i < count; i++)
        own += !labels[i].probe;
    return own > 0;
}

/* Whether the indirect jump is known to leave the function, or to use one of the tables or a label that data
 * points to. */
static bool is_accounted(const struct move_unit *unit, const struct code_insn *insn, struct operand operand)
{
    switch (operand.kind) {
    case OPERAND_DISTANCED:
        return operand.value ? is_table(unit, operand.value) : unit->table_count > 0;
    case OPERAND_DISTANCE:
        return false;
    case OPERAND_BEYOND:
        return is_table(unit, operand.value);
    case OPERAND_ENTRY:
        return operand.value == 0 || is_table(unit, operand.value) || is_pointers(unit, operand.value);
    default:
        return !insn->notrack || unit->table_count > 0 || has_labels(unit);
    }
}

/* Whether the jump need not be a tail call, as the frame is allocated or never is. */
static bool may_stay(const struct move_unit *unit, const struct code_insn *insn, bool framed)
{
    struct cfi_row row = cfi_lookup(image_cfi(unit->survey->image), insn->address);
    return !framed || row.cfa != CFI_SP || row.cfa_offset != 8;
}

static bool is_framed(const struct move_unit *unit)
{
    const struct cfi *cfi = image_cfi(unit->survey->image);
    for (uint32_t p = 0; p < unit->part_count; p++) {
        const struct move_part *part = &unit->parts[p];
        struct cfi_row row = cfi_lookup(cfi, part->address);
        if (row.cfa != CFI_SP || row.cfa_offset != 8 ||
            cfi_row_end(cfi, part->address) < part->address + part->size)
            return true;
    }
    return false;
}

static void judge_jumps(struct move_unit *unit)
{
    struct operands operands;
    bool framed = is_framed(unit), vague = false;
    for (uint32_t i = 0; i < unit->code.count; i++) {
        const struct code_insn *insn = &unit->code.insns[i];
        if (unit->code.ways[i])
            operands_forget(&operands);
        if (insn->kind == CODE_JUMP_INDIRECT) {
            struct operand operand = operands_target(&operands, insn);
            bool tabled = operand.value && operand.kind != OPERAND_FIELD && is_table(unit, operand.value);
            if (!is_accounted(unit, insn, operand))
                unit->refusal = MOVE_JUMP_UNKNOWN;
            if (tabled)
                claim_table(unit, i, operand.value);
            vague |= !tabled &&
                     (operand.kind == OPERAND_DISTANCED || operand.kind == OPERAND_UNKNOWN ||
                      operand.kind == OPERAND_BEYOND || operand.kind == OPERAND_ENTRY) &&
                     may_stay(unit, insn, framed);
            unit->open |= !tabled && operand.kind != OPERAND_SLOT && may_stay(unit, insn, framed);
        }
        operands_step(&operands, insn);
    }
    drop_unclaimed(unit, vague);
}

static bool is_tabled(const struct move_unit *unit, const struct survey_label *label)
{
    for (uint32_t i = 0; i < unit->table_count; i++)
        if (label->place - unit->tables[i].address < (uint64_t)unit->tables[i].count * unit->tables[i].width)
            return true;
    return false;
}

/* Whether the words before or behind the label also point into the unit. */
static bool has_neighbour(const struct move_unit *unit, const struct survey_label *label)
{
    const struct survey_label *all;
    size_t count = survey_labels(unit->survey, unit->function, &all);
    size_t at = (size_t)(label - all);
    return (at > 0 && label->place - label[-1].place == 8 && is_code_of(unit, label[-1].value)) ||
           (at + 1 < count && label[1].place - label->place == 8 && is_code_of(unit, label[1].value));
}

/* In a program at a fixed address, a number is a label if a jump can go there and it is not alone. */
bool move_unit_follows(const struct move_unit *unit, const struct survey_label *label)
{
    if (label->probe || is_tabled(unit, label))
        return label->probe;
    return !label->likely || (unit->open && is_code_of(unit, label->value) && has_neighbour(unit, label));
}

/* Whether the function itself refers to the data object that contains the word. */
static bool is_referred(const struct move_unit *unit, const struct survey_label *label)
{
    const struct move_survey *survey = unit->survey;
    size_t beyond = lower_bound(m, 0, survey->object_count, survey->objects[m] <= label->place);
    uint64_t object = beyond ? survey->objects[beyond - 1] : 0;
    for (uint32_t i = 0; i < unit->code.count; i++) {
        const struct code_insn *insn = &unit->code.insns[i];
        if ((insn->rip_relative && insn->memory == object) ||
            (insn->effect == CODE_CONSTANT && insn->target == object) ||
            (insn->memory_operand && (uint64_t)(int64_t)insn->displacement == object))
            return true;
    }
    return false;
}

/* Decides which labels in data are re-pointed: those that can only be used by jumps of this function. */
static void judge_labels(struct move_unit *unit)
{
    const struct survey_label *labels;
    size_t count = survey_labels(unit->survey, unit->function, &labels);
    for (size_t i = 0; i < count; i++) {
        bool follows = move_unit_follows(unit, &labels[i]);
        unit->probes |= labels[i].probe;
        unit->labels |= follows && !labels[i].probe;
        /* may be a label, or is not certain to be none */
        bool doubtful =
            labels[i].likely
                ? !follows && unit->open && !is_tabled(unit, &labels[i]) &&
                      is_code_of(unit, labels[i].value) && is_referred(unit, &labels[i])
                : follows && ((!unit->open && !labels[i].probe) || !is_code_of(unit, labels[i].value));
        if (doubtful)
            unit->refusal = MOVE_POINTED;
    }
}

bool move_unit_is_shared(const struct move_unit *unit, uint32_t table)
{
    uint32_t uses = 0;
    for (uint32_t i = 0; i < unit->code.count && unit->tables[table].width == 4; i++)
        uses += unit->uses[i] == table + 1;
    return uses > 1;
}

bool move_unit_entry(const struct move_unit *unit, const struct move_table *table, uint32_t entry,
                     uint32_t *insn)
{
    size_t size;
    uint64_t to, at = table->address + (uint64_t)entry * table->width;
    const uint8_t *bytes = survey_constants(unit->survey, at, &size);
    for (uint32_t i = 0; i < unit->table_count; i++)
        if (unit->tables[i].address > table->address && unit->tables[i].address <= at)
            return false;
    if (entry >= table->count || !bytes || size < table->width ||
        !follow_entry(unit, table->address, bytes, table->width, &to))
        return false;
    *insn = function_code_find(&unit->code, to);
    return *insn != FUNCTION_CODE_NONE;
}

static bool table_leaves(const struct move_unit *unit, const struct move_table *table)
{
    size_t size;
    uint64_t to;
    const uint8_t *bytes = survey_constants(unit->survey, table->address, &size);
    for (uint32_t k = 0; k < table->count; k++)
        if (!follow_entry(unit, table->address, bytes + (size_t)k * table->width, table->width, &to) ||
            !is_code_of(unit, to))
            return true;
    return false;
}

static void judge_leaving(struct move_unit *unit)
{
    const struct cfi *cfi = image_cfi(unit->survey->image);
    for (uint32_t i = 0; i < unit->code.count; i++) {
        const struct code_insn *insn = &unit->code.insns[i];
        struct cfi_row row = cfi_lookup(cfi, insn->address);
        if ((insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH) &&
            unit->code.jumps[i] == FUNCTION_CODE_NONE)
            unit->leaves |= row.cfa != CFI_SP || row.cfa_offset != 8;
    }
    for (uint32_t i = 0; i < unit->table_count; i++)
        unit->leaves |= table_leaves(unit, &unit->tables[i]);
}

int move_unit_tables(struct move_unit *unit)
{
    uint32_t room = unit->use_capacity;
    if (!vec_reserve(unit->through, 0, room, unit->code.count) ||
        !vec_reserve(unit->uses, 0, unit->use_capacity, unit->code.count))
        return -ENOMEM;
    memset(unit->uses, 0, unit->code.count * sizeof *unit->uses);
    memset(unit->through, 0, unit->code.count * sizeof *unit->through);
    for (uint32_t i = 0; i < unit->code.count; i++)
        if (find_uses(unit, i) < 0)
            return -ENOMEM;
    judge_jumps(unit);
    judge_labels(unit);
    judge_leaving(unit);
    return 0;
}
