/* codes.c - code inserted before instructions of a copy; see work.h. */
#include <string.h>

#include "base/search.h"
#include "rewrite/move/work.h"

size_t move_codes_of(const struct move_function *plan, uint64_t address, const struct move_code **first,
                     unsigned *bytes)
{
    size_t at = lower_bound(i, 0, plan->code_count, plan->codes[i].address < address), count = 0;
    *first = plan->code_count ? plan->codes + at : NULL;
    for (*bytes = 0; at + count < plan->code_count && (*first)[count].address == address; count++)
        *bytes += (*first)[count].size;
    return count;
}

static bool put_fix(struct move_work *work, const struct move_code_fix *f, uint32_t buffer, size_t start)
{
    struct move_fix fix = {.at = {buffer, (uint32_t)start + f->at},
                           .to = {f->behind, f->copy},
                           .target = f->target,
                           .from = f->from - f->at};
    fix.kind = f->kind == MOVE_TO_BODY ? FIX_CODE : f->kind == MOVE_TO_CODE ? FIX_ENTRY : FIX_FAR;
    return move_fix(work, &fix);
}

bool move_codes_put(struct move_work *work, const struct move_function *plan, uint64_t address,
                    uint32_t buffer)
{
    const struct move_code *codes;
    unsigned bytes;
    size_t count = move_codes_of(plan, address, &codes, &bytes);
    for (size_t i = 0; i < count; i++) {
        size_t start = move_append(&work->buffers[buffer], codes[i].bytes, codes[i].size);
        if (start == SIZE_MAX)
            return false;
        for (unsigned f = 0; f < codes[i].fix_count; f++)
            if (!put_fix(work, &codes[i].fixes[f], buffer, start))
                return false;
    }
    return true;
}

/* Whether the four bytes of a distance in a new file lead where they should. */
static bool leads_there(const struct move_result *result, const struct move_code_fix *fix,
                        const uint8_t *bytes, uint64_t code)
{
    int32_t distance;
    uint64_t to = fix->target;
    memcpy(&distance, bytes + fix->at, sizeof distance);
    if (fix->kind == MOVE_TO_BODY && !move_translate(result, fix->target, fix->copy, false, &to))
        return false;
    if (fix->kind == MOVE_TO_CODE && !move_entry(result, fix->target, fix->copy, &to))
        return false;
    to += fix->kind == MOVE_TO_CODE ? fix->behind : 0;
    return code + fix->from + (uint64_t)(int64_t)distance == to;
}

static const char *check_one(const struct image *after, const struct move_result *result,
                             const struct move_code *code, uint64_t at)
{
    size_t size;
    const uint8_t *bytes = image_bytes(after, at, &size);
    unsigned from = 0;
    if (!bytes || size < code->size)
        return "no code before an instruction";
    for (unsigned f = 0; f <= code->fix_count; f++) {
        unsigned end = f < code->fix_count ? code->fixes[f].at : code->size;
        if (end < from || memcmp(bytes + from, code->bytes + from, end - from) != 0)
            return "other code before an instruction";
        if (f < code->fix_count && !leads_there(result, &code->fixes[f], bytes, at))
            return "code before an instruction that leads elsewhere";
        from = end + 4;
    }
    return NULL;
}

const char *move_codes_check(const struct image *after, const struct move_result *result,
                             const struct move_function *plan, uint64_t address, uint64_t at)
{
    const struct move_code *codes;
    unsigned bytes;
    size_t count = move_codes_of(plan, address, &codes, &bytes);
    const char *what = NULL;
    for (size_t i = 0; i < count && !what; at += codes[i++].size)
        what = check_one(after, result, &codes[i], at);
    return what;
}

uint32_t move_codes_low(const struct move_function *plan, uint64_t address, unsigned offset)
{
    const struct move_code *codes;
    unsigned bytes;
    size_t count = move_codes_of(plan, address, &codes, &bytes);
    for (size_t i = 0; i < count; offset -= codes[i++].size)
        if (offset < codes[i].size)
            return offset >= codes[i].low_from && offset < codes[i].low_to ? codes[i].low : 0;
    return 0;
}
