/* observations.c - see observations.h. */
#include "infer/samples/observations.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/vec.h"
#include "pathmap/map/trie.h"

#define TABLE_MEMORY (1u << 20) /* bytes of rows in memory */

/* Columns that are a member of the sample (s) or of its leaf frame. Values that a sample lacks repeat the previous row's, which
 * costs nothing. */
#define MEMBERS(COLUMN)                                                                                      \
    COLUMN(EVENT, s->event)                                                                                  \
    COLUMN(MADE, s->made)                                                                                    \
    COLUMN(MADE_FROM, s->made_from)                                                                          \
    COLUMN(IP, s->ip)                                                                                        \
    COLUMN(SP, s->sp)                                                                                        \
    COLUMN(PERIOD, s->period)                                                                                \
    COLUMN(ADDR, s->addr)                                                                                    \
    COLUMN(WEIGHT, s->weight)                                                                                \
    COLUMN(ALLOCATIONS, s->allocations)                                                                      \
    COLUMN(WAIT, s->wait)                                                                                    \
    COLUMN(WAKE, s->wake)                                                                                    \
    COLUMN(WAKER, s->waker)                                                                                  \
    COLUMN(DATA_SRC, s->data_src)                                                                            \
    COLUMN(CGROUP, s->cgroup)                                                                                \
    COLUMN(STACK_NUMBER, s->stack_number)                                                                    \
    COLUMN(SCRIPT, s->script)                                                                                \
    COLUMN(ADDRESS, frame->place.address)                                                                    \
    COLUMN(FUNCTION, frame->place.function)

enum {
    NODE,  /* from struct learned: + 1, 0 for TRIE_NONE */
    STACK, /* the same */
    HELD_BACK,
    LEARNED_COLUMNS, /* those before: the others can be read again from the recording */
    KIND = LEARNED_COLUMNS,
    PID,
    TID,
    TIME,
    FLAGS,
    IMAGE,  /* its number + 1; 0: none */
    REG_IP, /* minus ip */
    CFA,    /* minus sp */
#define COLUMN(name, member) name,
    MEMBERS(COLUMN)
#undef COLUMN
        ALL_COLUMNS
};
_Static_assert(ALL_COLUMNS <= COLUMNS_MOST, "a table has enough columns");

struct observations {
    bool callers;
    bool cut; /* there was no space for all columns: only those before LEARNED_COLUMNS are left */
    struct columns *rows;
    uint64_t last[ALL_COLUMNS];
    struct table *image_numbers; /* address of a struct image -> index + 1 */
    struct image **images;
    uint32_t image_count, image_capacity;
    uint8_t *bytes; /* of the row being added */
    size_t byte_count, byte_capacity;
    struct columns_file *file;
};

struct observations *observations_new(bool callers, struct columns_file *file)
{
    struct observations *o =
        allocate(struct observations, .callers = callers, .file = file,
                 .rows = columns_new(ALL_COLUMNS, TABLE_MEMORY, file), .image_numbers = table_new());
    return whole_or_free(o, o->rows && o->image_numbers, observations_free);
}

void observations_free(struct observations *o)
{
    if (!o)
        return;
    columns_free(o->rows);
    table_free(o->image_numbers);
    free(o->images);
    free(o->bytes);
    free(o);
}

uint64_t observations_count(const struct observations *o)
{
    return columns_rows(o->rows);
}

bool observations_cut(const struct observations *o)
{
    return o->cut;
}

static bool has_row(const struct record *record)
{
    return record->kind <= RECORD_LOST;
}

static uint64_t pack_flags(const struct sample *s, enum unknown_reason reason)
{
    return s->mode | s->has_regs << 2 | s->user_regs << 3 | s->regs_after << 4 | s->stack_cut << 5 |
           s->chain << 6 | s->known << 8 | (uint64_t)s->compared << 16 | (uint64_t)reason << 24;
}

static enum unknown_reason unpack_flags(uint64_t flags, struct sample *s)
{
    s->mode = flags & 3;
    s->has_regs = flags >> 2 & 1;
    s->user_regs = flags >> 3 & 1;
    s->regs_after = flags >> 4 & 1;
    s->stack_cut = flags >> 5 & 1;
    s->chain = flags >> 6 & 3;
    s->known = flags >> 8 & 255;
    s->compared = flags >> 16 & 255;
    return (enum unknown_reason)(flags >> 24);
}

/* The image's number + 1; 0: out of memory. */
static uint64_t image_number(struct observations *o, struct image *image)
{
    if (o->last[IMAGE] && o->images[o->last[IMAGE] - 1] == image)
        return o->last[IMAGE];
    return table_index(o->image_numbers, (uintptr_t)image, o->images, o->image_count, o->image_capacity,
                       image) +
           1;
}

static bool add_bytes(struct observations *o, const void *bytes, size_t size)
{
    if (!vec_reserve(o->bytes, o->byte_count, o->byte_capacity, size))
        return false;
    if (size)
        memcpy(o->bytes + o->byte_count, bytes, size);
    o->byte_count += size;
    return true;
}

/* Sizes of the data after it: call chain, branches, stack. */
struct sample_bytes {
    uint32_t chain, branches, stack;
    uint64_t bp; /* needed to unwind the stack */
};

static bool add_sample_bytes(struct observations *o, const struct sample *s, const struct learned *learned)
{
    const bool callers = o->callers || learned->node == TRIE_NONE;
    struct sample_bytes sizes = {
        .chain = callers || s->mode == SAMPLE_MODE_KERNEL ? s->callchain_count : 0,
        .branches = s->branches ? s->branch_count : 0,
        .stack = learned->held_back ? s->stack_size : 0,
        .bp = s->bp,
    };
    if (!sizes.chain && !sizes.branches && !sizes.stack)
        return true;
    return add_bytes(o, &sizes, sizeof sizes) &&
           add_bytes(o, s->callchain, sizes.chain * sizeof *s->callchain) &&
           add_bytes(o, s->branches, (size_t)sizes.branches * SAMPLE_BRANCH) &&
           add_bytes(o, s->stack, sizes.stack);
}

/* 0 or -ENOMEM. */
static int set_sample(struct observations *o, const struct observation *observation)
{
    const struct sample *s = &observation->record->sample;
    const struct leaf_frame *frame = &observation->frame;
    uint64_t *values = o->last;
    values[IMAGE] = frame->place.image ? image_number(o, frame->place.image) : 0;
    values[FLAGS] = pack_flags(s, frame->reason);
    values[REG_IP] = s->reg_ip - s->ip;
    values[CFA] = frame->reason == UNKNOWN_NOT ? frame->cfa - s->sp : 0;
#define COLUMN(name, member) values[name] = (uint64_t)(member);
    MEMBERS(COLUMN)
#undef COLUMN
    bool good = (values[IMAGE] || !frame->place.image) && add_sample_bytes(o, s, &observation->learned);
    return good ? 0 : -ENOMEM;
}

/* Bytes of a record that changes a process, without the text that it borrows. */
static size_t change_size(const struct record *record)
{
    return record->kind == RECORD_MMAP ? offsetof(struct record, mmap) + sizeof record->mmap
                                       : offsetof(struct record, comm) + sizeof record->comm;
}

/* 0 or -ENOMEM. */
static int set_change(struct observations *o, const struct record *record)
{
    const char *text = record->kind == RECORD_MMAP     ? record->mmap.path
                       : record->kind == RECORD_COMM   ? record->comm.name
                       : record->kind == RECORD_CGROUP ? record->cgroup.path
                                                       : "";
    return add_bytes(o, record, change_size(record)) && add_bytes(o, text, strlen(text) + 1) ? 0 : -ENOMEM;
}

/* Keeps only the columns with what was learned, in memory. 0 or a system error. */
static int cut_rows(struct observations *o)
{
    struct columns *learned = columns_new(LEARNED_COLUMNS, SIZE_MAX, NULL);
    int rc = learned ? columns_stay(o->rows) : -ENOMEM;
    struct columns_cursor *cursor = rc == 0 ? columns_read(o->rows) : NULL;
    struct columns_block block;
    rc = rc == 0 && !cursor ? -ENOMEM : rc;
    while (rc == 0 && (rc = columns_next(cursor, &block)) == 1) {
        rc = 0;
        for (uint32_t i = 0; rc == 0 && i < block.rows; i++) {
            uint64_t values[LEARNED_COLUMNS];
            for (unsigned column = 0; column < LEARNED_COLUMNS; column++)
                values[column] = block.values[column * COLUMNS_ROWS + i];
            rc = columns_append(learned, values, NULL, 0);
        }
    }
    columns_cursor_free(cursor);
    columns_free(rc < 0 ? learned : o->rows);
    o->rows = rc < 0 ? o->rows : learned;
    o->cut = rc >= 0;
    return rc;
}

static int table_error(int rc, struct fathom_error *err)
{
    return rc == -ENOMEM ? error_memory(err)
                         : error_system(err, -rc, "cannot read the temporary file of a recording's samples");
}

int observations_add(struct observations *o, const struct observation *observation, struct fathom_error *err)
{
    const struct record *record = observation->record;
    const struct learned *learned = &observation->learned;
    const bool sample = record->kind == RECORD_SAMPLE;
    uint64_t *values = o->last;
    int rc = 0;
    if (!has_row(record))
        return 0;
    values[NODE] = sample ? (uint32_t)(learned->node + 1) : 0;
    values[STACK] = sample ? learned->stack : 0;
    values[HELD_BACK] = sample && learned->held_back;
    values[KIND] = record->kind;
    values[PID] = record->pid;
    values[TID] = record->tid;
    values[TIME] = record->time;
    o->byte_count = 0;
    if (!o->cut)
        rc = sample ? set_sample(o, observation) : set_change(o, record);
    if (rc == 0)
        rc = columns_append(o->rows, values, o->bytes, o->byte_count);
    if (rc == -ENOSPC)
        rc = cut_rows(o);
    return rc == 0 ? 0 : table_error(rc, err);
}

int observations_end(struct observations *o, struct fathom_error *err)
{
    int rc = columns_end(o->rows);
    if (rc == -ENOSPC)
        rc = cut_rows(o);
    if (rc == 0)
        rc = columns_end(o->rows);
    return rc == 0 ? 0 : table_error(rc, err);
}

/* The value of a row in a block. */
static uint64_t value_at(const struct columns_block *block, unsigned column, uint32_t row)
{
    return block->values[column * COLUMNS_ROWS + row];
}

static struct learned learned_at(const struct columns_block *block, uint32_t row)
{
    return (struct learned){(uint32_t)value_at(block, NODE, row) - 1, (uint32_t)value_at(block, STACK, row),
                            value_at(block, HELD_BACK, row) != 0};
}

struct delivery {
    const struct observations *observations;
    observation_sink *sink;
    void *context;
    struct observation sample, change;
    struct record sample_record, change_record; /* members without a column stay 0 */
    uint64_t *aligned;                          /* a copy of the call chain */
    size_t aligned_capacity;
    uint64_t row, most;
};

/* Sets the sample's call chain to an aligned copy, and its other data. 0 or -ENOMEM. */
static int read_sample_bytes(struct delivery *d, const uint8_t *bytes, size_t size)
{
    struct sample *s = &d->sample_record.sample;
    struct sample_bytes sizes = {0};
    if (size)
        memcpy(&sizes, bytes, sizeof sizes);
    if (!vec_reserve(d->aligned, 0, d->aligned_capacity, sizes.chain))
        return -ENOMEM;
    const uint8_t *branches = bytes + sizeof sizes + sizes.chain * sizeof *d->aligned;
    if (sizes.chain)
        memcpy(d->aligned, bytes + sizeof sizes, sizes.chain * sizeof *d->aligned);
    s->callchain = sizes.chain ? d->aligned : NULL;
    s->callchain_count = sizes.chain;
    s->branches = sizes.branches ? branches : NULL;
    s->branch_count = sizes.branches;
    s->stack = sizes.stack ? branches + (size_t)sizes.branches * SAMPLE_BRANCH : NULL;
    s->stack_size = sizes.stack;
    s->bp = sizes.bp;
    return 0;
}

static void read_sample(struct delivery *d, const struct columns_block *block, uint32_t i)
{
    struct record *record = &d->sample_record;
    struct sample *s = &record->sample;
    struct leaf_frame *frame = &d->sample.frame;
    const uint64_t image = value_at(block, IMAGE, i);
    s->pid = record->pid = (uint32_t)value_at(block, PID, i);
    s->tid = record->tid = (uint32_t)value_at(block, TID, i);
    s->time = record->time = value_at(block, TIME, i);
#define COLUMN(name, member) member = (__typeof__(member))value_at(block, name, i);
    MEMBERS(COLUMN)
#undef COLUMN
    frame->reason = unpack_flags(value_at(block, FLAGS, i), s);
    frame->place.image = image ? d->observations->images[image - 1] : NULL;
    frame->cfa = frame->reason == UNKNOWN_NOT ? s->sp + value_at(block, CFA, i) : 0;
    s->reg_ip = s->ip + value_at(block, REG_IP, i);
    s->row = d->row;
    d->sample.learned = learned_at(block, i);
}

static void read_change(struct record *record, const uint8_t *bytes)
{
    memcpy(record, bytes, offsetof(struct record, mmap));
    const size_t size = change_size(record);
    memcpy(record, bytes, size);
    if (record->kind == RECORD_MMAP)
        record->mmap.path = (const char *)bytes + size;
    else if (record->kind == RECORD_COMM)
        record->comm.name = (const char *)bytes + size;
    else if (record->kind == RECORD_CGROUP)
        record->cgroup.path = (const char *)bytes + size;
}

static int deliver_block(struct delivery *d, const struct columns_block *block, struct fathom_error *err)
{
    const uint8_t *bytes = block->bytes;
    int rc = 0;
    for (uint32_t i = 0; rc >= 0 && i < block->rows && (!d->most || d->row < d->most); i++, d->row++) {
        if (value_at(block, KIND, i) == RECORD_SAMPLE) {
            read_sample(d, block, i);
            rc = read_sample_bytes(d, bytes, block->sizes[i]) < 0 ? error_memory(err)
                                                                  : d->sink(d->context, &d->sample, err);
        } else {
            read_change(&d->change_record, bytes);
            rc = d->sink(d->context, &d->change, err);
        }
        bytes += block->sizes[i];
    }
    return rc < 0 ? rc : 0;
}

static int next_block(struct columns_cursor *cursor, struct columns_block *out, struct fathom_error *err)
{
    int rc = columns_next(cursor, out);
    return rc >= 0 ? rc : table_error(rc, err);
}

int observations_run(struct observations *o, uint64_t most, observation_sink *sink, void *context,
                     struct fathom_error *err)
{
    struct columns_cursor *cursor = columns_read(o->rows);
    struct columns_block block;
    struct delivery d = {.observations = o,
                         .sink = sink,
                         .context = context,
                         .sample_record = {.kind = RECORD_SAMPLE, .type = PERF_RECORD_SAMPLE},
                         .most = most};
    d.sample.record = &d.sample_record;
    d.change.record = &d.change_record;
    int rc = cursor ? 1 : error_memory(err);
    while (rc == 1 && (!most || d.row < most) && (rc = next_block(cursor, &block, err)) == 1) {
        rc = deliver_block(&d, &block, err);
        rc = rc == 0 ? 1 : rc;
    }
    free(d.aligned);
    columns_cursor_free(cursor);
    return rc < 0 ? rc : 0;
}

struct pairing {
    struct columns_cursor *cursor;
    struct columns_block block;
    uint32_t at; /* row in the block */
    uint64_t row;
};

struct pairing *pairing_new(const struct observations *o)
{
    struct pairing *p = calloc(1, sizeof *p);
    return whole_or_free(p, (p->cursor = columns_read(o->rows)), free);
}

void pairing_free(struct pairing *p)
{
    if (!p)
        return;
    columns_cursor_free(p->cursor);
    free(p);
}

int pairing_next(struct pairing *p, const struct record *record, struct learned *out, uint64_t *row,
                 struct fathom_error *err)
{
    if (!has_row(record))
        return 0;
    if (p->at == p->block.rows) {
        int rc = next_block(p->cursor, &p->block, err);
        if (rc <= 0)
            return rc;
        p->at = 0;
    }
    *out = learned_at(&p->block, p->at++);
    *row = p->row++;
    return 1;
}
