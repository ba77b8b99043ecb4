/* unit.c - reads one function and judges whether it can be moved; see unit.h. */
#include "rewrite/move/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

int move_unit_begin(struct move_unit *unit, const struct move_survey *survey)
{
    *unit = (struct move_unit){.survey = survey, .reader = insn_reader_new()};
    return unit->reader ? 0 : -ENOMEM;
}

void move_unit_free(struct move_unit *unit)
{
    insn_reader_free(unit->reader);
    function_code_free(&unit->code);
    free(unit->parts);
    free(unit->spans);
    free(unit->uses);
    free(unit->through);
    free(unit->tables);
    *unit = (struct move_unit){0};
}

uint32_t move_unit_part(const struct move_unit *unit, uint32_t insn)
{
    uint32_t p = 0;
    while (p + 1 < unit->part_count && insn >= unit->parts[p + 1].first)
        p++;
    return p;
}

const uint8_t *move_unit_bytes(const struct move_unit *unit, uint32_t insn)
{
    const struct move_part *part = &unit->parts[move_unit_part(unit, insn)];
    return part->bytes + (unit->code.insns[insn].address - part->address);
}

static void refuse_unit(struct move_unit *unit, enum move_refusal refusal)
{
    if (unit->refusal == MOVE_MOVABLE)
        unit->refusal = refusal;
}

static int find_parts(struct move_unit *unit)
{
    const struct move_survey *survey = unit->survey;
    const struct functions *functions = &survey->image->functions;
    uint32_t first = survey->first[unit->function], end = survey->first[unit->function + 1];
    unit->part_count = 0;
    if (!vec_reserve(unit->parts, 0, unit->part_capacity, end - first) ||
        !vec_reserve(unit->spans, 0, unit->span_capacity, end - first))
        return -ENOMEM;
    for (uint32_t i = first; i < end; i++) {
        const struct image_function *f = &functions->items[survey->parts[i]];
        struct move_part part = {
            .address = f->address, .size = f->size, .fde = survey_fde(survey, f->address)};
        size_t size = 0;
        part.bytes = elf_file_bytes(survey->file, f->address, ELF_REST, &size);
        if (!part.fde || part.fde->size != f->size || !part.bytes || size < f->size)
            refuse_unit(unit, MOVE_NO_CFI);
        else if (cfi_lookup(survey->image->cfi, f->address).cfa == CFI_SIGNAL_FRAME)
            refuse_unit(unit, MOVE_SIGNAL_FRAME);
        if (f->address == unit->entry)
            unit->main = unit->part_count;
        unit->spans[unit->part_count] = (struct function_part){f->address, f->size};
        unit->parts[unit->part_count++] = part;
    }
    return 0;
}

/* Whether the instruction is at its place and both decoders agree on it. */
static bool is_understood(struct move_unit *unit, const struct move_part *part, const struct code_insn *insn)
{
    /* the padded call of __tls_get_addr (psABI, section 6.2): REX.W makes the operand size prefixes void */
    static const uint8_t padded_call[] = {0x66, 0x66, 0x48, 0xe8};
    struct insn other;
    uint64_t at = insn->address - part->address;
    if (insn->length == sizeof padded_call + 4 && at + insn->length <= part->size &&
        memcmp(part->bytes + at, padded_call, sizeof padded_call) == 0)
        return insn->kind == CODE_CALL;
    if (at + insn->length > part->size ||
        !insn_read(unit->reader, part->bytes + at, part->size - at, insn->address, &other))
        return false;
    /* ud2 and hlt stop, int3 may go on under a debugger, int 0x80 is a system call */
    bool trap = other.flow == INSN_SPECIAL && (other.bytes[0] == 0xcc || other.bytes[0] == 0xcd);
    if (other.length != insn->length || !other.movable || (other.flow == INSN_SPECIAL && !trap))
        return false;
    bool jumps = insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH || insn->kind == CODE_CALL;
    if (jumps != other.direct || (jumps && insn->target != other.target))
        return false;
    return insn->rip_relative == other.rip_relative && (!insn->rip_relative || insn->memory == other.memory);
}

static int read_code(struct move_unit *unit)
{
    if (function_code_read(&unit->code, unit->survey->image, unit->spans, unit->part_count) < 0)
        return -ENOMEM;
    uint32_t i = 0;
    for (uint32_t p = 0; p < unit->part_count; p++) {
        struct move_part *part = &unit->parts[p];
        part->first = i;
        for (; i < unit->code.count && unit->code.insns[i].address - part->address < part->size; i++)
            if (unit->refusal == MOVE_MOVABLE && !is_understood(unit, part, &unit->code.insns[i]))
                refuse_unit(unit, MOVE_CODE_UNKNOWN);
        part->count = i - part->first;
        if (part->count == 0)
            refuse_unit(unit, MOVE_CODE_UNKNOWN);
    }
    return 0;
}

/* Whether the old entry has room for endbr64, if it has that, and the jump, also using padding behind the
 * function. */
static bool has_room(const struct move_unit *unit)
{
    const struct move_part *part = &unit->parts[unit->main];
    const struct functions *functions = &unit->survey->image->functions;
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint32_t need = ENTRY_JUMP;
    if (part->size >= sizeof endbr && memcmp(part->bytes, endbr, sizeof endbr) == 0)
        need += sizeof endbr;
    if (part->size >= need)
        return true;
    uint32_t next = functions_find(functions, part->address) + 1;
    if (next < functions->count && functions->items[next].address < part->address + need)
        return false;
    size_t size;
    const uint8_t *bytes = elf_file_bytes(unit->survey->file, part->address, ELF_REST, &size);
    struct code_insn insn;
    for (uint32_t at = part->size; at < need; at += insn.length)
        if (size < need || !code_read(bytes + at, size - at, part->address + at, &insn) ||
            (insn.kind != CODE_NOP && bytes[at] != 0xcc))
            return false;
    return true;
}

int move_unit_read(struct move_unit *unit, uint32_t function)
{
    const struct move_survey *survey = unit->survey;
    const struct image_function *f = image_function(survey->image, function);
    unit->function = function;
    unit->entry = f->address;
    unit->refusal = MOVE_MOVABLE;
    unit->main = unit->table_count = 0;
    unit->labels = unit->probes = unit->open = unit->leaves = false;
    if (f->owner != function || image_function_is_stub(survey->image, function)) {
        refuse_unit(unit, MOVE_NOT_A_FUNCTION);
        return 0;
    }
    if (survey->marks[function] & SURVEY_ENTERED)
        refuse_unit(unit, MOVE_ENTERED);
    if (survey->marks[function] & SURVEY_POINTED)
        refuse_unit(unit, MOVE_POINTED);
    if (find_parts(unit) < 0)
        return -ENOMEM;
    if (unit->refusal == MOVE_MOVABLE && !has_room(unit))
        refuse_unit(unit, MOVE_TOO_SHORT);
    if (unit->refusal != MOVE_MOVABLE)
        return 0;
    int rc = read_code(unit);
    return rc < 0 || unit->refusal != MOVE_MOVABLE ? rc : move_unit_tables(unit);
}

int move_refusal_of(const struct move_survey *survey, uint32_t function, enum move_refusal *out)
{
    struct move_unit unit;
    int rc = move_unit_begin(&unit, survey);
    if (rc == 0)
        rc = move_unit_read(&unit, function);
    *out = unit.refusal;
    move_unit_free(&unit);
    return rc;
}
