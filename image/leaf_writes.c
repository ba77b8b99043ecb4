/* leaf_writes.c - see leaf_writes.h. */
#include "image/leaf_writes.h"

#include "image/block_list.h"
#include "image/code/code.h"

#define BLOCKS_MOST 16u   /* helpers have few */
#define INSNS_MOST  1000u /* and few of these */

struct walk {
    uint64_t blocks[BLOCKS_MOST];
    unsigned count, insns;
    uint16_t written;
};

/* false: it has code that is not followed. */
static bool walk_block(struct walk *w, const struct image *image, uint64_t start)
{
    size_t size;
    const uint8_t *bytes = image_bytes(image, start, &size);
    struct code_insn insn;
    for (uint64_t at = start; bytes && code_read(bytes + (at - start), size - (at - start), at, &insn);
         at += insn.length) {
        w->written |= insn.written;
        if (insn.kind == CODE_CALL || insn.kind == CODE_CALL_INDIRECT || insn.kind == CODE_JUMP_INDIRECT ||
            w->insns++ == INSNS_MOST)
            return false;
        if ((insn.kind == CODE_JUMP || insn.kind == CODE_BRANCH) &&
            !block_list_add(w->blocks, &w->count, BLOCKS_MOST, insn.target))
            return false;
        if (!code_goes_on(&insn))
            return true;
    }
    return false;
}

uint16_t leaf_writes(const struct image *image, uint64_t address)
{
    struct walk w = {.blocks = {address}, .count = 1};
    for (unsigned done = 0; done < w.count; done++)
        if (!walk_block(&w, image, w.blocks[done]))
            return LEAF_WRITES_ALL;
    return w.written;
}
