/* check.c - reads a new file as any file is read, and compares its moved functions with the old ones; see move.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "rewrite/move/checker.h"

/* The sum of the lea added before an instruction, or after it. */
static int32_t lea_of(const struct checker *c, uint64_t address, enum move_what what)
{
    const struct move_layout layout = {.unit = &c->unit, .plan = c->function};
    return move_layout_lea(&layout, function_code_find(&c->unit.code, address), what);
}

static bool check_lea(struct checker *c, uint64_t old, uint64_t at, int32_t value)
{
    uint8_t lea[8];
    size_t size;
    const uint8_t *bytes = image_bytes(c->after, at, &size);
    unsigned length = value ? move_lea(value, lea) : 0;
    return (bytes && size >= length && memcmp(bytes, lea, length) == 0) ||
           checker_fail(c, old, "no change of SP");
}

/* How far the plan moves the CFA away from SP: at the instruction, or in the code added before it. */
static int32_t shift_at(const struct checker *c, uint64_t address, bool before)
{
    const struct move_part *part =
        &c->unit.parts[move_unit_part(&c->unit, function_code_find(&c->unit.code, address))];
    const struct move_edit *edits = c->function->edits;
    size_t i = lower_bound(m, 0, c->function->edit_count, edits[m].address <= address);
    while (i > 0 && edits[i - 1].address >= part->address) {
        const struct move_edit *edit = &edits[--i];
        if (edit->what == MOVE_CFA_BEFORE ||
            (edit->what == MOVE_CFA && !(before && edit->address == address)))
            return edit->value;
    }
    return 0;
}

static bool check_cfi(struct checker *c, uint64_t old, uint64_t old_insn, int32_t shift, uint64_t new)
{
    struct cfi_row a = cfi_lookup(image_cfi(c->survey->image), old), b = cfi_lookup(image_cfi(c->after), new);
    if (a.cfa == CFI_SP)
        a.cfa_offset += shift;
    return (a.cfa == b.cfa && a.bp == b.bp && a.root == b.root && a.cfa_offset == b.cfa_offset &&
            a.bp_offset == b.bp_offset) ||
           checker_fail(c, old_insn, "another CFI");
}

/* Checks the guards before a call, which is now `new`, behind `code` bytes of code. *bytes: of all guards. */
static bool check_guards(struct checker *c, uint32_t i, const struct code_insn *new, unsigned code,
                         unsigned *bytes)
{
    const struct code_insn *old = &c->unit.code.insns[i];
    int32_t before = c->function->edit_count ? lea_of(c, old->address, MOVE_LEA_BEFORE) : 0;
    const struct move_guards_check check = {c->survey, c->after, c->result, &c->calls.guards,
                                            old,       new,      c->copy};
    uint64_t start;
    *bytes = 0;
    if (old->kind != CODE_CALL_INDIRECT)
        return true;
    if (!move_entry(c->result, old->address, c->copy, &start))
        return checker_fail(c, old->address, "no translation");
    start += code + (before ? move_lea(before, NULL) : 0);
    *bytes = (unsigned)(new->address - start);
    const char *what = move_guards_check(&check, start);
    if (what)
        return checker_fail(c, old->address, what);
    int32_t shift = shift_at(c, old->address, false);
    for (uint64_t at = start; at < new->address; at++)
        if (!check_cfi(c, old->address, old->address, shift, at))
            return false;
    return true;
}

/* Checks the code that is inserted first before the instruction, and its CFI. *bytes: of all of it. */
static bool check_codes(struct checker *c, uint64_t address, unsigned *bytes)
{
    const struct move_code *codes;
    uint64_t start;
    if (!move_codes_of(c->function, address, &codes, bytes))
        return true;
    if (!move_entry(c->result, address, c->copy, &start))
        return checker_fail(c, address, "no translation");
    const char *what = move_codes_check(c->after, c->result, c->function, address, start);
    if (what)
        return checker_fail(c, address, what);
    int32_t shift = shift_at(c, address, true);
    for (unsigned i = 0; i < *bytes; i++)
        if (!check_cfi(c, address, address, shift + (int32_t)move_codes_low(c->function, address, i),
                       start + i))
            return false;
    return true;
}

/* Checks the CFI of an instruction, whose first and last bytes are now at `at` and before at + length, and of
 * what is added to it: before, including `guards` bytes of guards, and after it. */
static bool check_rows(struct checker *c, uint32_t i, int32_t before, int32_t after, uint64_t at,
                       unsigned guards, unsigned length)
{
    const struct code_insn *old = &c->unit.code.insns[i];
    uint64_t end = old->address + old->length;
    int32_t shift = shift_at(c, old->address, false);
    if (before && !check_cfi(c, old->address, old->address, shift_at(c, old->address, true),
                             at - guards - move_lea(before, NULL)))
        return false;
    if (after && !check_cfi(c, end, old->address, shift, at + length))
        return false;
    return check_cfi(c, old->address, old->address, shift, at) &&
           check_cfi(c, end - 1, old->address, shift, at + length - 1);
}

/* Checks that `bytes` bytes of added code come before the instruction. */
static bool check_before(struct checker *c, uint64_t address, uint64_t at, unsigned bytes)
{
    uint64_t start;
    return (move_entry(c->result, address, c->copy, &start) && at - start == bytes) ||
           checker_fail(c, address, "something else before an instruction");
}

static bool check_insn(struct checker *c, uint32_t i)
{
    const struct code_insn *old = &c->unit.code.insns[i];
    struct code_insn new;
    uint64_t at;
    unsigned guards, code;
    if (!move_translate(c->result, old->address, c->copy, false, &at))
        return checker_fail(c, old->address, "no translation");
    bool edits = c->function->edit_count > 0;
    int32_t before = edits ? lea_of(c, old->address, MOVE_LEA_BEFORE) : 0;
    int32_t after = edits ? lea_of(c, old->address, MOVE_LEA_AFTER) : 0;
    unsigned lea = before ? move_lea(before, NULL) : 0;
    if (!checker_compare(c, i, at, &new))
        return false;
    return check_codes(c, old->address, &code) && check_guards(c, i, &new, code, &guards) &&
           check_before(c, old->address, at, code + lea + guards) &&
           check_lea(c, old->address, at - guards - lea, before) &&
           check_lea(c, old->address, at + new.length, after) &&
           check_rows(c, i, before, after, at, guards, new.length);
}

/* Checks that the table that unwinders search leads to each part. */
static bool check_index(struct checker *c, uint64_t part)
{
    const struct elf_file *file = &c->after->file;
    size_t size;
    const uint8_t *index = elf_file_bytes(file, file->eh_frame_header, ELF_REST, &size);
    uint64_t at;
    uint32_t count;
    if (!index || size < 12 || !move_entry(c->result, part, c->copy, &at))
        return checker_fail(c, part, "no .eh_frame_hdr");
    memcpy(&count, index + 8, 4);
    if (count > (size - 12) / 8)
        return checker_fail(c, part, "a damaged .eh_frame_hdr");
    size_t beyond = 0, end = count;
    int32_t entry;
    while (beyond < end) {
        size_t middle = beyond + (end - beyond) / 2;
        memcpy(&entry, index + 12 + 8 * middle, 4);
        if (file->eh_frame_header + (uint64_t)(int64_t)entry <= at)
            beyond = middle + 1;
        else
            end = middle;
    }
    if (beyond == 0)
        return checker_fail(c, part, "no entry of .eh_frame_hdr");
    memcpy(&entry, index + 12 + 8 * (beyond - 1), 4);
    return file->eh_frame_header + (uint64_t)(int64_t)entry == at ||
           checker_fail(c, part, "no entry of .eh_frame_hdr");
}

static bool check_function(struct checker *c)
{
    for (uint32_t i = 0; i < c->unit.code.count; i++)
        if (!check_insn(c, i))
            return false;
    for (uint32_t p = 0; p < c->unit.part_count; p++)
        if (!check_index(c, c->unit.parts[p].address))
            return false;
    return true;
}

#define SHORT_JUMP 2 /* bytes of one with a distance of 8 bits */

/* Checks that the call leads to the copy that the plan says, if there is one; also in code that stays. */
static bool check_call(struct checker *c, const struct move_call *call)
{
    uint64_t at, to;
    size_t size;
    struct code_insn old, new;
    const uint8_t *bytes = image_bytes(c->survey->image, call->site, &size);
    if (!bytes || !code_read(bytes, size, call->site, &old) ||
        (old.kind != CODE_CALL && old.kind != CODE_JUMP && old.kind != CODE_BRANCH))
        return checker_fail(c, call->site, "no call");
    bool stays = !move_translate(c->result, call->site, call->in, false, &at);
    if (stays && call->in)
        return true; /* the caller has no such copy */
    if (stays)
        at = call->site;
    uint64_t target = call->target ? call->target : old.target;
    if (!move_entry(c->result, target, call->copy, &to) && !move_entry(c->result, target, 0, &to))
        to = target; /* the called function stays */
    if (stays && old.length == SHORT_JUMP)
        to = old.target; /* it reaches no copy: the old entry leads there */
    if (!checker_read(c, at, &new) || new.kind != old.kind || new.target != to)
        return checker_fail(c, call->site, "another target");
    return true;
}

static int check_calls(struct checker *c, struct fathom_error *err)
{
    for (size_t i = 0; i < c->plan->call_count; i++)
        if (!check_call(c, &c->plan->calls[i]))
            return error_set(err, EBADMSG, "the new file does not do what was planned for %s: %s at %#llx",
                             image_path(c->survey->image), c->what, (unsigned long long)c->where);
    for (size_t i = 0; i < c->plan->guard_count; i++) {
        const struct move_guard *guard = &c->plan->guards[i];
        uint64_t at;
        if (guard->in == 0 && !move_translate(c->result, guard->site, 0, false, &at))
            return error_set(err, EBADMSG, "%s: the call at %#llx was to get a guard, and was not moved",
                             image_path(c->survey->image), (unsigned long long)guard->site);
    }
    return 0;
}

static uint32_t copy_of(const struct move_plan *plan, size_t index, struct table *seen)
{
    uint64_t *count = table_put(seen, plan->functions[index].address, NULL);
    return count ? (uint32_t)(*count)++ : UINT32_MAX;
}

static int check_all(struct checker *c, struct fathom_error *err)
{
    struct table *seen = table_new();
    int rc = seen ? move_unit_begin(&c->unit, c->survey) : -ENOMEM;
    for (size_t i = 0; i < c->plan->function_count && rc == 0; i++) {
        c->function = &c->plan->functions[i];
        c->copy = copy_of(c->plan, i, seen);
        if (c->copy == UINT32_MAX)
            rc = -ENOMEM;
        if (rc < 0 || c->result->refusals[i] != MOVE_MOVABLE)
            continue;
        rc = move_unit_read(&c->unit, image_function_entry(c->survey->image, c->function->address));
        if (rc == 0 && !check_function(c))
            rc = error_set(err, EBADMSG, "the new file does not do what %s does: %s at %#llx",
                           image_path(c->survey->image), c->what, (unsigned long long)c->where);
    }
    move_unit_free(&c->unit);
    table_free(seen);
    return rc == -ENOMEM ? error_memory(err) : rc;
}

int move_check(const struct move_survey *survey, const struct move_plan *plan,
               const struct move_result *result, struct fathom_error *err)
{
    struct image *after;
    static const struct image_options options = {.no_debug_files = true};
    struct checker c = {.survey = survey, .plan = plan, .result = result};
    int rc = image_open_memory(image_path(survey->image), result->elf, result->size, &options, &after, err);
    if (rc < 0)
        return rc;
    c.after = after;
    c.calls.plan = plan;
    c.calls.calls = move_calls_sort(plan);
    if (!c.calls.calls || move_guards_sort(plan, &c.calls.guards) < 0) {
        rc = error_memory(err);
    } else {
        rc = check_all(&c, err);
        if (rc == 0)
            rc = check_calls(&c, err);
        if (rc == 0 && !checker_addresses(&c))
            rc = error_set(err, EBADMSG, "the new file does not do what %s does: %s at %#llx",
                           image_path(survey->image), c.what, (unsigned long long)c.where);
    }
    free(c.calls.calls);
    free(c.calls.guards.items);
    image_close(after);
    return rc;
}
