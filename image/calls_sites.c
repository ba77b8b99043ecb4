/* calls_sites.c - the calls and tail jumps of one function that has been read; see calls.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/calls_private.h"

/* Entries of tables that are followed, for each instruction of a function: real ones have less than one. */
#define MAX_EDGES 8

static bool is_indirect(const struct code_insn *insn)
{
    return insn->kind == CODE_CALL_INDIRECT || insn->kind == CODE_JUMP_INDIRECT;
}

bool calls_stub_slot(const struct calls *calls, uint32_t stub, uint64_t *slot)
{
    const struct image_function *f = image_function(calls->image, stub);
    size_t size;
    const uint8_t *code = image_bytes(calls->image, f->address, &size);
    if (!code)
        return false;
    if (size > f->size)
        size = f->size;
    struct code_insn insn;
    for (size_t at = 0; at < size && code_read(code + at, size - at, f->address + at, &insn);
         at += insn.length) {
        if (insn.kind != CODE_JUMP_INDIRECT || !insn.rip_relative)
            continue;
        *slot = insn.memory;
        return true;
    }
    return false;
}

/* --- What the code takes and goes through --- */

static int note_slot(struct calls_reader *r, const struct relocation *word)
{
    if (word->symbol && calls_note_symbol(r->calls, word->symbol) < 0)
        return -ENOMEM;
    return word->value
               ? calls_note_taken(r->calls, r->function, image_function_entry(r->calls->image, word->value))
               : 0;
}

/* Notes the function whose address this instruction takes. */
static int note_address(struct calls_reader *r, const struct code_insn *insn)
{
    const struct image *image = r->calls->image;
    /* numbers are addresses only where those are known when a program is linked */
    bool number = insn->effect == CODE_CONSTANT && image->file.type == ET_EXEC;
    if (insn->effect != CODE_ADDRESS && !number) {
        const struct relocation *word = insn->rip_relative && insn->kind == CODE_PLAIN
                                            ? slots_find(&r->calls->slots, insn->memory)
                                            : NULL;
        return word ? note_slot(r, word) : 0;
    }
    uint32_t f = image_function_entry(image, number ? insn->target : insn->memory);
    if (f == IMAGE_NO_FUNCTION || !(r->calls->marks[f] & MARK_STUB))
        return calls_note_taken(r->calls, r->function, f);
    uint64_t slot;
    const struct relocation *word =
        calls_stub_slot(r->calls, f, &slot) ? slots_find(&r->calls->slots, slot) : NULL;
    return word ? note_slot(r, word) : 0;
}

/* Follows a switch: distances of 4 bytes from the table's own start (gcc, clang), up to one that leads out of
 * the function. */
static int follow_distances(struct calls_reader *r, uint32_t jump, uint64_t table)
{
    size_t size;
    int rc = 0;
    const uint8_t *bytes = table ? image_bytes(r->calls->image, table, &size) : NULL;
    for (; bytes && size >= 4 && r->code.edge_count / MAX_EDGES < r->code.count; bytes += 4, size -= 4) {
        int32_t distance;
        memcpy(&distance, bytes, sizeof distance);
        if (!function_code_add_edge(&r->code, jump, table + (uint64_t)(int64_t)distance, &rc))
            break;
    }
    return rc;
}

/* The same for tables of addresses. */
static int follow_entries(struct calls_reader *r, uint32_t jump, uint64_t table)
{
    int rc = 0;
    for (; table && r->code.edge_count / MAX_EDGES < r->code.count; table += 8) {
        const struct relocation *word = slots_find(&r->calls->slots, table);
        if (!word || word->kind != RELOCATION_VALUE ||
            !function_code_add_edge(&r->code, jump, word->value, &rc))
            break;
    }
    return rc;
}

static int add_operand(struct calls_reader *r, struct operand operand)
{
    if (r->operand_count == r->operand_room) {
        size_t room = r->operand_room ? r->operand_room * 2 : 256;
        struct operand *operands = realloc(r->operands, room * sizeof *operands);
        if (!operands)
            return -ENOMEM;
        r->operands = operands;
        r->operand_room = room;
    }
    r->operands[r->operand_count++] = operand;
    return 0;
}

/* What registers hold at branches to places that nothing else leads to, the last few. */
struct carried {
    struct {
        uint32_t to;
        struct operands operands;
    } items[16];
    unsigned next;
};

static bool is_only_way(uint8_t ways)
{
    return ways == (WAY_BRANCH | WAY_ALONE);
}

static void carry_over(struct carried *carried, const struct function_code *code, uint32_t i,
                       const struct operands *operands)
{
    uint32_t to = code->jumps[i];
    if (to == FUNCTION_CODE_NONE || to <= i || !is_only_way(code->ways[to]))
        return;
    unsigned at = carried->next++ % (sizeof carried->items / sizeof *carried->items);
    carried->items[at].to = to;
    carried->items[at].operands = *operands;
}

static void arrive(const struct carried *carried, const struct function_code *code, uint32_t i,
                   struct operands *operands)
{
    operands_forget(operands);
    if (!is_only_way(code->ways[i]))
        return;
    for (unsigned k = 0; k < sizeof carried->items / sizeof *carried->items; k++)
        if (carried->items[k].to == i)
            *operands = carried->items[k].operands;
}

int calls_read_operands(struct calls_reader *r)
{
    struct operands operands;
    struct carried carried = {.next = 0}; /* (no branch leads on to instruction 0) */
    for (uint32_t i = 0; i < r->code.count; i++) {
        const struct code_insn *insn = &r->code.insns[i];
        if (r->code.ways[i])
            arrive(&carried, &r->code, i, &operands);
        if (is_indirect(insn)) {
            struct operand operand = operands_target(&operands, insn);
            uint32_t before = r->code.edge_count;
            int rc = add_operand(r, operand);
            if (rc == 0 && insn->kind == CODE_JUMP_INDIRECT && operand.kind == OPERAND_DISTANCED)
                rc = follow_distances(r, i, operand.value);
            if (rc == 0 && insn->kind == CODE_JUMP_INDIRECT && operand.kind == OPERAND_ENTRY)
                rc = follow_entries(r, i, operand.value);
            if (rc < 0)
                return rc;
            if (r->code.edge_count > before) /* it stays in the function */
                r->operands[r->operand_count - 1].kind = OPERAND_DISTANCED;
        }
        if (note_address(r, insn) < 0)
            return -ENOMEM;
        operands_step(&operands, insn);
        carry_over(&carried, &r->code, i, &operands);
    }
    return 0;
}

/* --- The sites --- */

static int add_site(struct calls *calls, const struct call_site *site)
{
    if (calls->site_count == calls->site_room) {
        size_t room = calls->site_room ? calls->site_room * 2 : 4096;
        struct call_site *sites = realloc(calls->sites, room * sizeof *sites);
        if (!sites)
            return -ENOMEM;
        calls->sites = sites;
        calls->site_room = room;
    }
    calls->sites[calls->site_count++] = *site;
    return 0;
}

static void resolve_slot(const struct calls *calls, uint64_t slot, struct call_site *site)
{
    const struct relocation *word = slots_find(&calls->slots, slot);
    site->kind = CALL_INDIRECT;
    if (!word)
        return;
    if (word->kind == RELOCATION_SYMBOL) {
        site->kind = CALL_IMPORT;
        site->symbol = word->symbol;
    } else if (image_function_entry(calls->image, word->value) != IMAGE_NO_FUNCTION) {
        site->target = word->value;
        site->resolver = word->kind == RELOCATION_RESOLVER;
    }
}

static void resolve_target(const struct calls *calls, uint64_t target, struct call_site *site)
{
    uint32_t f = image_function_at(calls->image, target);
    uint64_t slot;
    site->kind = CALL_DIRECT;
    site->target = f == IMAGE_NO_FUNCTION ? target : image_function(calls->image, f)->address;
    if (f == IMAGE_NO_FUNCTION || !(calls->marks[f] & MARK_STUB) || !calls_stub_slot(calls, f, &slot))
        return;
    const struct relocation *word = slots_find(&calls->slots, slot);
    if (word && word->kind == RELOCATION_SYMBOL) {
        site->kind = CALL_IMPORT;
        site->symbol = word->symbol;
    }
}

static void resolve_operand(const struct calls *calls, struct operand operand, struct call_site *site)
{
    site->kind = CALL_INDIRECT;
    if (operand.kind == OPERAND_SLOT)
        resolve_slot(calls, operand.value, site);
    else if (operand.kind == OPERAND_FIELD)
        site->field = (int32_t)operand.value;
    else if (operand.kind == OPERAND_ADDRESS &&
             image_function_entry(calls->image, operand.value) != IMAGE_NO_FUNCTION)
        site->target = operand.value;
}

/* Whether an indirect jump leaves the function: SP is where it was at its entry, and it is no switch. */
static bool is_tail(const struct calls_reader *r, const struct code_insn *insn, struct operand operand,
                    int32_t depth)
{
    if (operand.kind == OPERAND_SLOT)
        return true;
    if (operand.kind == OPERAND_DISTANCED || insn->notrack || depth != 8)
        return false;
    return operand.kind != OPERAND_ENTRY || operand.value || !(r->calls->marks[r->function] & MARK_LABELS);
}

/* Whether the function runs on into the one that follows it in memory. */
static bool runs_over(const struct calls_reader *r, uint32_t i, int32_t depth)
{
    const struct code_insn *insn = &r->code.insns[i];
    uint64_t end = insn->address + insn->length;
    if (insn->kind != CODE_PLAIN || insn->stack != CODE_SP_SAME || depth != 8 ||
        (i + 1 < r->code.count && r->code.insns[i + 1].address == end))
        return false;
    return image_function_entry(r->calls->image, end) != IMAGE_NO_FUNCTION;
}

static int add_insn(struct calls_reader *r, uint32_t i, int32_t depth, struct operand operand)
{
    const struct code_insn *insn = &r->code.insns[i];
    struct call_site site = {.address = insn->address,
                             .function = r->function,
                             .field = CALL_NO_FIELD,
                             .open = depth < 0,
                             .offset = depth < 0 ? 0 : depth};
    uint64_t next = insn->address + insn->length;
    switch (insn->kind) {
    case CODE_CALL:
        if (insn->target == next) /* pushes its own address */
            return 0;
        site.next = next;
        resolve_target(r->calls, insn->target, &site);
        break;
    case CODE_CALL_INDIRECT:
        site.next = next;
        resolve_operand(r->calls, operand, &site);
        break;
    case CODE_JUMP:
    case CODE_BRANCH:
        if (image_function_at(r->calls->image, insn->target) == r->function)
            return 0;
        site.tail = true;
        resolve_target(r->calls, insn->target, &site);
        break;
    case CODE_JUMP_INDIRECT:
        if (!is_tail(r, insn, operand, depth))
            return 0;
        site.tail = true;
        resolve_operand(r->calls, operand, &site);
        break;
    default:
        if (!runs_over(r, i, depth))
            return 0;
        site.tail = true;
        resolve_target(r->calls, next, &site);
    }
    if (site.tail) {
        site.offset = 0;
        site.open = false;
    }
    return add_site(r->calls, &site);
}

/* Whether the rows of the function's code leave nothing to find out. */
static bool rows_suffice(const struct calls_reader *r, const struct cfi *cfi)
{
    for (uint32_t i = 0; i < r->code.count;) {
        uint64_t address = r->code.insns[i].address, end = cfi_row_end(cfi, address);
        if (cfi_lookup(cfi, address).cfa != CFI_SP)
            return false;
        while (i < r->code.count && r->code.insns[i].address < end && r->code.insns[i].address >= address)
            i++;
    }
    return true;
}

int calls_add_sites(struct calls_reader *r)
{
    const struct cfi *cfi = image_cfi(r->calls->image);
    bool told = rows_suffice(r, cfi);
    if (!told && frame_flow_run(&r->flow, cfi, &r->code) < 0)
        return -ENOMEM;
    size_t indirect = 0;
    for (uint32_t i = 0; i < r->code.count; i++) {
        const struct code_insn *insn = &r->code.insns[i];
        bool last = i + 1 == r->code.count || insn[1].address != insn->address + insn->length;
        if ((insn->kind == CODE_PLAIN || insn->kind == CODE_NOP) && !last)
            continue;
        int32_t depth = told ? cfi_lookup(cfi, insn->address).cfa_offset : r->flow.depths[i];
        struct operand operand = {0};
        if (is_indirect(insn))
            operand = r->operands[indirect++];
        if (add_insn(r, i, depth, operand) < 0)
            return -ENOMEM;
    }
    return 0;
}
