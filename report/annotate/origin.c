/* origin.c - see origin.h. */
#include "report/annotate/origin.h"

#include "base/hash.h"

struct origin origin_at(struct lines *lines, uint64_t address)
{
    struct line_frame frames[INLINED_MOST_SHOWN];
    size_t count = lines ? lines_at(lines, address, frames, INLINED_MOST_SHOWN) : 0;
    if (!count)
        return (struct origin){0};
    return (struct origin){.file = frames[0].file,
                           .function = frames[0].function,
                           .line = frames[0].line,
                           .inlined = count > 1,
                           .own_file = frames[count - 1].file,
                           .own_line = frames[count - 1].line};
}

bool origin_same(const struct origin *a, const struct origin *b)
{
    return a->file == b->file && a->function == b->function && a->line == b->line && a->inlined == b->inlined;
}

uint64_t origin_key(const struct origin *o)
{
    return hash_u64((uintptr_t)o->file) + hash_u64(hash_u64((uintptr_t)o->function) + o->line) + o->inlined;
}
