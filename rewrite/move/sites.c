/* sites.c - re-points direct calls and jumps in code that stays, and pointers, to the moved functions; see
 * work.h. */
#include <errno.h>
#include <string.h>

#include "rewrite/move/work.h"
#include "image/code/fields.h"

/* The function's bytes in the new file; NULL: none. */
static uint8_t *bytes_at(const struct move_work *work, uint8_t *elf, uint64_t address, uint64_t size)
{
    size_t left;
    const uint8_t *bytes = elf_file_bytes(work->survey->file, address, ELF_REST, &left);
    return bytes && size <= left ? elf + (bytes - work->survey->file->data) : NULL;
}

static bool write_distance(uint8_t *at, uint64_t from, uint64_t to)
{
    int64_t distance = (int64_t)(to - from);
    int32_t value = (int32_t)distance;
    memcpy(at, &value, sizeof value);
    return distance == value;
}

/* Changes the operand if it is the address of a function whose pointers follow it. */
static bool repoint_address(const struct move_work *work, const struct code_insn *insn, uint8_t *bytes)
{
    struct code_fields f;
    const struct move_copy *copy = move_copy_find(work, insn->memory, 0);
    if (!copy || !survey_follows(work->survey, insn->memory) || !code_read_fields(bytes, insn->length, &f))
        return true;
    return write_distance(bytes + f.displacement_at, insn->address + insn->length,
                          move_place_address(work, copy->entry));
}

static bool repoint_insn(const struct move_work *work, const struct code_insn *insn, uint8_t *bytes,
                         uint64_t *count)
{
    struct code_fields f;
    if (insn->effect == CODE_ADDRESS)
        return repoint_address(work, insn, bytes);
    if (insn->kind != CODE_CALL && insn->kind != CODE_JUMP && insn->kind != CODE_BRANCH)
        return true;
    struct move_call call = move_call_find(work, insn->address, 0);
    uint64_t target = call.target ? call.target : insn->target;
    const struct move_copy *copy = move_copy_find(work, target, call.copy);
    if (!copy)
        copy = move_copy_find(work, target, 0);
    if ((!copy && !call.target) || !code_read_fields(bytes, insn->length, &f) || f.immediate_size != 4)
        return true; /* (short ones go through the old entry) */
    ++*count;
    return write_distance(bytes + f.immediate_at, insn->address + insn->length,
                          copy ? move_place_address(work, copy->entry) : target);
}

static bool repoint_function(const struct move_work *work, uint8_t *elf, const struct image_function *f,
                             uint64_t *count)
{
    uint8_t *bytes = bytes_at(work, elf, f->address, f->size);
    struct code_insn insn;
    for (uint32_t at = 0; bytes && at < f->size; at += insn.length)
        if (!code_read(bytes + at, f->size - at, f->address + at, &insn))
            return true; /* the rest is not code */
        else if (!repoint_insn(work, &insn, bytes + at, count))
            return false;
    return true;
}

static bool put_entry(const struct move_work *work, uint8_t *elf, const struct move_copy *copy)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t *bytes = bytes_at(work, elf, copy->address, ENTRY_JUMP);
    if (!bytes)
        return true;
    uint64_t at = copy->address;
    if (memcmp(bytes, endbr, sizeof endbr) == 0) {
        bytes += sizeof endbr;
        at += sizeof endbr;
    }
    bytes[0] = 0xe9;
    return write_distance(bytes + 1, at + ENTRY_JUMP, move_place_address(work, copy->entry));
}

/* Writes data words: addresses of functions, and of labels. */
static void put_words(const struct move_work *work, uint8_t *elf)
{
    const struct move_survey *survey = work->survey;
    for (size_t i = 0; i < survey->pointer_count; i++) {
        const struct survey_pointer *pointer = &survey->pointers[i];
        const struct move_copy *copy = move_copy_find(work, pointer->value, 0);
        uint64_t address = copy ? move_place_address(work, copy->entry) : 0;
        if (copy && survey_follows(survey, pointer->value))
            memcpy(elf + pointer->offset, &address, sizeof address);
    }
    for (size_t i = 0; i + 1 < work->repointed_count; i += 2) {
        struct move_place place = {(uint32_t)(work->repointed[i + 1] >> 32),
                                   (uint32_t)work->repointed[i + 1]};
        uint64_t address = move_place_address(work, place);
        memcpy(elf + work->repointed[i], &address, sizeof address);
    }
}

int move_sites(const struct move_work *work, uint8_t *elf, uint64_t *repointed)
{
    const struct functions *functions = &work->survey->image->functions;
    *repointed = 0;
    for (uint32_t i = 0; i < functions->count; i++) {
        const struct image_function *f = &functions->items[i];
        if (!move_copy_find(work, functions->items[f->owner].address, 0) &&
            !repoint_function(work, elf, f, repointed))
            return -EOVERFLOW;
    }
    for (size_t i = 0; i < work->copy_count; i++)
        if (work->copies[i].number == 0 && !put_entry(work, elf, &work->copies[i]))
            return -EOVERFLOW;
    put_words(work, elf);
    return 0;
}
