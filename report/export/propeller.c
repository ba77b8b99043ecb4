/*
 * propeller.c - see export.h. The order of functions' basic blocks in memory, for clang (-fbasic-block-sections=list=FILE; LLVM's
 * BasicBlockSectionsProfileReader): the blocks that ran, in one cluster that begins with the entry. clang moves the others elsewhere.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/block_order.h"
#include "base/log.h"
#include "base/search.h"
#include "base/text.h"
#include "base/vec.h"
#include "image/block_map.h"
#include "image/linkage_names.h"
#include "report/export/export.h"
#include "report/export/run_counts.h"
#include "report/text/printer.h"

#define NONE UINT32_MAX
/* Work limits: for all functions (seconds), and for one as a share of the rest, so that some is left for others. */
#define WORK_MOST  (UINT64_C(1) << 30)
#define WORK_SHARE 4u

struct layout {
    struct printer *p;
    const struct run_counts *runs;
    const struct image *image;   /* the current one */
    struct linkage_names *names; /* of the image */
    uint64_t work;
    size_t written, unnamed, rough;
    /* Of the current function: */
    double *counts;               /* of its mapped blocks */
    uint32_t *nodes, *at, *order; /* nodes: number of each mapped block that runs; at: the inverse */
    struct order_block *blocks;
    uint32_t block_count;
    struct order_jump *jumps;
    uint32_t jump_count, jump_capacity;
};

/* The mapped block that contains an instruction or the padding after it. NONE: no block does. */
static uint32_t mapped_at(const struct mapped_function *m, uint64_t address)
{
    const size_t behind = lower_bound(i, (size_t)0, m->count, m->blocks[i].address <= address);
    if (!behind ||
        (behind == m->count && address - m->blocks[behind - 1].address >= m->blocks[behind - 1].size))
        return NONE;
    return (uint32_t)behind - 1;
}

static bool add_jump(struct layout *l, uint32_t from, uint32_t to, double count)
{
    return from == NONE || to == NONE || !(count > 0) ||
           vec_push(l->jumps, l->jump_count, l->jump_capacity, (struct order_jump){from, to, count});
}

/* Counts mapped blocks, and jumps between them, from our own blocks, which may have other boundaries. false: out of memory. */
static bool count_blocks(struct layout *l, const struct mapped_function *m, const struct counted_function *f)
{
    const struct blocks *b = &f->blocks;
    bool good = true;
    l->jump_count = 0;
    for (uint32_t i = 0, last = NONE; i < b->count; i++) {
        const uint32_t at = mapped_at(m, b->addresses[i]);
        const double count = f->counts[b->blocks[i]];
        if (at != NONE)
            l->counts[at] = fmax(l->counts[at], count);
        if (i && b->blocks[i - 1] == b->blocks[i] && at != last)
            good = good && add_jump(l, last, at, count);
        last = at;
    }
    for (uint32_t i = 0; good && i < b->edge_count; i++) {
        const struct block_edge *e = &b->edges[i];
        if (e->from >= b->block_count || e->to >= b->block_count)
            continue;
        const uint64_t last = b->addresses[blocks_first(b, e->from + 1) - 1],
                       first = b->addresses[blocks_first(b, e->to)];
        const uint32_t to = mapped_at(m, first);
        if (to != NONE && m->blocks[to].address == first)
            good = add_jump(l, mapped_at(m, last), to, f->edges[i]);
    }
    return good;
}

static void add_node(struct layout *l, const struct mapped_function *m, uint32_t block)
{
    if (l->nodes[block] != NONE)
        return;
    l->nodes[block] = l->block_count;
    l->at[l->block_count] = block;
    l->blocks[l->block_count++] = (struct order_block){l->counts[block], m->blocks[block].size};
}

/* Finds the blocks that ran, the entry first. */
static void find_nodes(struct layout *l, const struct mapped_function *m, uint32_t entry)
{
    uint32_t kept = 0;
    l->block_count = 0;
    for (uint32_t i = 0; i < m->count; i++)
        l->nodes[i] = NONE;
    add_node(l, m, entry);
    for (uint32_t i = 0; i < m->count; i++)
        if (l->counts[i] > 0)
            add_node(l, m, i);
    for (uint32_t i = 0; i < l->jump_count; i++) {
        const struct order_jump *j = &l->jumps[i];
        if (l->nodes[j->from] != NONE && l->nodes[j->to] != NONE)
            l->jumps[kept++] = (struct order_jump){l->nodes[j->from], l->nodes[j->to], j->count};
    }
    l->jump_count = kept;
}

/* To readers, '/' begins another name, and '!' a cluster. */
static bool can_be_read(const char *name)
{
    return *name != '!' && !strchr(name, '/') && text_is_word(name);
}

/* false: the function has no name that readers can find. */
static bool write_names(struct layout *l, uint64_t address)
{
    const char *name;
    bool any = false;
    for (size_t i = 0; (name = linkage_names_at(l->names, address, i)); i++)
        if (can_be_read(name)) {
            printer_write(l->p, any ? "/%s" : "!%s", name);
            any = true;
        }
    return any;
}

/* The first of the blocks at this block's address: blocks without bytes come before it. */
static uint32_t first_at(const struct mapped_function *m, uint32_t block)
{
    while (block && m->blocks[block - 1].address == m->blocks[block].address && !m->blocks[block - 1].size)
        block--;
    return block;
}

static void write_cluster(struct layout *l, const struct mapped_function *m)
{
    if (!write_names(l, m->address)) {
        l->unnamed++;
        return;
    }
    printer_write(l->p, "\n!!");
    for (uint32_t i = 0; i < l->block_count; i++) {
        const uint32_t block = l->at[l->order[i]];
        for (uint32_t k = first_at(m, block); k <= block; k++)
            printer_write(l->p, i || k < block ? " %u" : "%u", m->blocks[k].id);
    }
    printer_write(l->p, "\n");
    l->written++;
}

static int write_function(void *layout, const struct mapped_function *m, struct fathom_error *err)
{
    struct layout *l = layout;
    const struct counted_function *f = run_counts_at(l->runs, l->image, m->address);
    const uint32_t entry = f && m->count < NONE ? mapped_at(m, m->address) : NONE;
    const size_t count = m->count + 1;
    const uint64_t share = l->work / WORK_SHARE;
    int rc = -ENOMEM;
    /* Readers assume that the entry has number 0. */
    if (entry == NONE || !(f->sampled > 0) || m->blocks[entry].address != m->address ||
        m->blocks[first_at(m, entry)].id != 0)
        return 0;
    l->counts = calloc(count, sizeof *l->counts);
    l->nodes = calloc(count, sizeof *l->nodes);
    l->at = calloc(count, sizeof *l->at);
    l->order = calloc(count, sizeof *l->order);
    l->blocks = calloc(count, sizeof *l->blocks);
    if (l->counts && l->nodes && l->at && l->order && l->blocks && count_blocks(l, m, f)) {
        find_nodes(l, m, entry);
        uint64_t left = share;
        rc = block_order_find(&(struct order_graph){l->blocks, l->block_count, l->jumps, l->jump_count},
                              l->order, &left);
        l->work -= share - left;
    }
    if (rc >= 0) {
        l->rough += rc > 0;
        write_cluster(l, m);
    }
    free(l->counts);
    free(l->nodes);
    free(l->at);
    free(l->order);
    free(l->blocks);
    return rc < 0 ? error_memory(err) : 0;
}

static int write_image(struct layout *l, const struct image *image, struct fathom_error *err)
{
    l->image = image;
    l->names = linkage_names_open(image);
    const int rc = l->names ? block_map_read(image, write_function, l, err) : error_memory(err);
    linkage_names_close(l->names);
    return rc == -ENOENT ? 0 : rc;
}

static int check_written(const struct layout *l, const struct log *log, struct fathom_error *err)
{
    if (!l->written && !l->unnamed)
        return error_set(
            err, ENOENT,
            "no sampled function is in a section .llvm_bb_addr_map, which has the numbers of basic "
            "blocks: compile with clang and -fbasic-block-sections=labels (newer ones: "
            "-fbasic-block-address-map), and record again");
    if (l->unnamed)
        log_write(log, LOG_NOTE,
                  "sampled functions without a name of their own that a compiler would find: %zu",
                  l->unnamed);
    if (l->written + l->unnamed < l->runs->count)
        log_write(log, LOG_NOTE,
                  "sampled functions without numbers of basic blocks (.llvm_bb_addr_map): %zu of %zu",
                  l->runs->count - l->written - l->unnamed, l->runs->count);
    if (l->rough)
        log_write(log, LOG_WARNING,
                  "functions of so many blocks that the best order found so far was taken: %zu", l->rough);
    return 0;
}

int propeller_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct printer p = {.out = out};
    struct run_counts runs;
    struct layout l = {.p = &p, .runs = &runs, .work = WORK_MOST};
    int rc = run_counts_find(report, &runs, err);
    /* Functions are sorted by image. */
    for (size_t i = 0; rc == 0 && i < runs.count; i++)
        if (i == 0 || runs.functions[i].image != runs.functions[i - 1].image)
            rc = write_image(&l, runs.functions[i].image, err);
    rc = rc == 0 ? check_written(&l, report->log, err) : rc;
    free(l.jumps);
    run_counts_clear(&runs);
    return rc == 0 ? printer_finish(&p, err) : rc;
}
