/* blocks.c - see blocks.h. */
#include "image/blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "image/switch_tables.h"

struct blocks_reader {
    struct function_parts parts;
    struct function_code code;
    struct switch_tables tables;
    struct slots slots;
    struct no_return no_return;
};

/* Whether control goes on to the next instruction. */
static bool goes_on(struct blocks_reader *r, uint32_t i)
{
    return function_code_goes_on(&r->code, i) && !no_return_calls(&r->no_return, &r->code.insns[i]);
}

static bool push_edge(struct blocks *b, uint32_t from, uint32_t to)
{
    return vec_push(b->edges, b->edge_count, b->edge_capacity, (struct block_edge){from, to});
}

/* Where control goes after a block's last instruction. passed: how many edges of tables are of earlier instructions. false: out of memory. */
static bool add_edges(struct blocks_reader *r, struct blocks *b, uint32_t last, uint32_t *passed)
{
    const struct function_code *code = &r->code;
    const uint8_t kind = code->insns[last].kind;
    const uint32_t from = b->blocks[last], jump = code->jumps[last];
    const bool next = goes_on(r, last), jumps = kind == CODE_JUMP || kind == CODE_BRANCH;
    bool good = true, known = false;
    for (; *passed < code->edge_count && code->edges[*passed].from <= last; ++*passed) {
        known = true;
        good = good && push_edge(b, from, b->blocks[code->edges[*passed].to]);
    }
    if (jumps)
        good = good && push_edge(b, from, jump == FUNCTION_CODE_NONE ? BLOCK_OUTSIDE : b->blocks[jump]);
    else if (!next && !known)
        good = good && push_edge(b, from, kind == CODE_JUMP_INDIRECT ? BLOCK_ANY : BLOCK_OUTSIDE);
    return good && (!next || push_edge(b, from, from + 1));
}

/* Those from outside, and to blocks that no edge leads to: by jumps whose table is not known, if there are some. false: out of memory. */
static bool add_entries(struct blocks_reader *r, struct blocks *b, uint64_t entry)
{
    uint8_t *entered = calloc((size_t)b->block_count + 1, 1);
    bool any = false, good = entered;
    for (uint32_t i = 0; good && i < b->edge_count; i++) {
        any |= b->edges[i].to == BLOCK_ANY;
        if (b->edges[i].to < b->block_count)
            entered[b->edges[i].to] = 1;
    }
    for (uint32_t i = 0; good && i < b->count; i++) {
        const uint32_t to = b->blocks[i];
        const bool first = i == 0 || b->blocks[i - 1] != to, enters = b->addresses[i] == entry;
        if (first && (!entered[to] || enters || r->code.ways[i] & WAY_POINTED))
            good = push_edge(b, any && !enters ? BLOCK_ANY : BLOCK_OUTSIDE, to);
    }
    free(entered);
    return good;
}

static int compare_edges(const void *a, const void *b)
{
    const struct block_edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static bool find_edges(struct blocks_reader *r, struct blocks *b, uint64_t entry)
{
    uint32_t passed = 0;
    bool good = true;
    for (uint32_t i = 0; good && i < b->count; i++)
        if (i + 1 == b->count || b->blocks[i + 1] != b->blocks[i])
            good = add_edges(r, b, i, &passed);
    if (!good || !add_entries(r, b, entry))
        return false;
    uint32_t kept = 0;
    if (b->edge_count)
        qsort(b->edges, b->edge_count, sizeof *b->edges, compare_edges);
    for (uint32_t i = 0; i < b->edge_count; i++)
        if (kept == 0 || compare_edges(&b->edges[kept - 1], &b->edges[i]) != 0)
            b->edges[kept++] = b->edges[i];
    b->edge_count = kept;
    return true;
}

static bool find_calls(const struct function_code *code, struct blocks *b)
{
    for (uint32_t i = 0; i < code->count; i++) {
        const struct code_insn *insn = &code->insns[i];
        const bool leaves =
            (insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH) && code->jumps[i] == FUNCTION_CODE_NONE;
        if ((code_is_call(insn) || leaves) &&
            !vec_push(b->calls, b->call_count, b->call_capacity,
                      (struct block_call){i, insn->kind == CODE_CALL_INDIRECT ? 0 : insn->target}))
            return false;
    }
    return true;
}

struct blocks_reader *blocks_open(const struct image *image)
{
    struct blocks_reader *r = calloc(1, sizeof *r);
    if (r && (no_return_open(image, &r->slots, &r->no_return) < 0 ||
              function_parts_open(image, &r->no_return, &r->parts) < 0)) {
        blocks_close(r);
        r = NULL;
    }
    return r;
}

void blocks_close(struct blocks_reader *r)
{
    if (!r)
        return;
    function_parts_close(&r->parts);
    function_code_free(&r->code);
    switch_tables_close(&r->tables);
    no_return_close(&r->no_return);
    slots_free(&r->slots);
    free(r);
}

int blocks_read(struct blocks_reader *r, uint32_t function, struct blocks *out)
{
    const struct function_code *code = &r->code;
    *out = (struct blocks){0};
    int rc = function_parts_all(&r->parts, function);
    if (rc == 0)
        rc = function_code_read(&r->code, r->parts.image, r->parts.items, r->parts.count);
    if (rc == 0)
        rc = switch_tables_read(&r->tables, &r->code, &r->parts, &r->slots);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < code->edge_count; i++)
        code->ways[code->edges[i].to] |= WAY_BRANCH;
    out->addresses = calloc((size_t)code->count + 1, sizeof *out->addresses);
    out->blocks = calloc((size_t)code->count + 1, sizeof *out->blocks);
    if (!out->addresses || !out->blocks)
        return -ENOMEM;
    bool begins = true;
    for (uint32_t i = 0; i < code->count; i++) {
        out->block_count += begins || code->ways[i] & (WAY_BRANCH | WAY_ALONE | WAY_POINTED);
        out->addresses[i] = code->insns[i].address;
        out->blocks[i] = out->block_count - 1;
        begins = code->insns[i].kind == CODE_BRANCH || !goes_on(r, i);
    }
    out->count = code->count;
    const bool good =
        find_calls(code, out) && find_edges(r, out, image_function(r->parts.image, function)->address);
    return good ? 0 : -ENOMEM;
}

void blocks_free(struct blocks *blocks)
{
    free(blocks->addresses);
    free(blocks->edges);
    free(blocks->calls);
    free(blocks->blocks);
    *blocks = (struct blocks){0};
}

uint32_t blocks_first(const struct blocks *b, uint32_t block)
{
    return lower_bound(i, (uint32_t)0, b->count, b->blocks[i] < block);
}

uint32_t blocks_find(const struct blocks *b, uint64_t address)
{
    const size_t n = lower_bound(i, 0, b->count, b->addresses[i] <= address);
    return n ? (uint32_t)n - 1 : UINT32_MAX;
}
