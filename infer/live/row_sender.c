/* row_sender.c - see row_sender.h. */
#include "infer/live/row_sender.h"

#include <errno.h>
#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "image/cfi/cfi.h"
#include "image/run_time.h"

#define AROUND 1u

struct row_sender {
    bool (*send)(void *context, const struct code_rows_key *key, const struct code_rows *rows);
    void *context;
    struct table *sent; /* chunks that were sent; AROUND: so were their neighbours */
    uint64_t clears;    /* how often the BPF map was cleared */
    struct code_rows rows;
};

struct row_sender *row_sender_new(bool (*send)(void *context, const struct code_rows_key *key,
                                               const struct code_rows *rows),
                                  void *context)
{
    struct row_sender *t = allocate(struct row_sender, .send = send, .context = context, .sent = table_new());
    return whole_or_free(t, t->sent, free);
}

void row_sender_free(struct row_sender *t)
{
    if (!t)
        return;
    table_free(t->sent);
    free(t);
}

/* The rule for a row; none for outermost frames and uncertain rows. (Where image/handler_jump.h says that a handler is about to
 * overwrite words, the rule leads to words of no known stack, and all words of a new stack are unwound again.) */
static uint32_t rule_of(const struct cfi_row *row)
{
    const bool from_bp = row->cfa == CFI_BP, saved = row->bp == CFI_BP_AT_CFA;
    const int64_t at = (int64_t)row->cfa_offset - 8,
                  bp = saved ? (int64_t)row->cfa_offset + row->bp_offset : -1;
    if ((row->cfa != CFI_SP && !from_bp) || row->root || row->derived || at < 0 || at > CODE_ROW_RETURN ||
        (row->bp != CFI_BP_SAME && !saved) || (from_bp && bp < 0) || bp >= CODE_ROW_BP)
        return CODE_ROW_NONE;
    /* A slot below SP: BP was restored already. */
    return (uint32_t)at | (bp < 0 ? 0 : (uint32_t)(bp + 1) << CODE_ROW_BP_AT) |
           (from_bp ? CODE_ROW_FROM_BP : 0);
}

struct making {
    uint64_t from; /* the chunk's first address */
    struct code_rows *rows;
};

static void make_row(void *context, uint64_t start, struct cfi_row row)
{
    const struct making *making = context;
    struct code_rows *out = making->rows;
    const uint32_t rule = out->count < CODE_ROWS_MAX - 1 ? rule_of(&row) : CODE_ROW_NONE;
    if (out->count == CODE_ROWS_MAX || (out->count && rule == out->rule[out->count - 1]))
        return;
    out->start[out->count] = (uint16_t)(start - making->from);
    out->rule[out->count++] = rule;
}

/* adjust: the image's addresses minus offsets in the file. */
static void make_rows(const struct image *image, uint64_t adjust, uint32_t chunk, struct code_rows *out)
{
    const uint64_t from = ((uint64_t)chunk << CODE_ROWS_BITS) + adjust;
    struct making making = {from, out};
    out->count = 0;
    cfi_each_row(image_cfi(image), from, from + (1u << CODE_ROWS_BITS), make_row, &making);
    if (out->count == 1 && out->rule[0] == CODE_ROW_NONE)
        out->count = 0;
}

static uint64_t key_of(const struct code_rows_key *key)
{
    return (uint64_t)key->file << 32 | key->chunk;
}

static int send_chunk(struct row_sender *t, const struct image *image, uint64_t adjust,
                      const struct code_rows_key *key)
{
    bool added;
    if (!table_put(t->sent, key_of(key), &added))
        return -ENOMEM;
    if (!added)
        return 0;
    make_rows(image, adjust, key->chunk, &t->rows);
    if (t->rows.count == 0 || t->send(t->context, key, &t->rows))
        return 0;
    table_free(t->sent);
    t->sent = table_new();
    t->clears++;
    return t->sent ? 0 : -ENOMEM;
}

/* Sends the chunk and its two neighbours. */
static int send_around(struct row_sender *t, const struct image *image, uint64_t adjust,
                       const struct code_rows_key *key)
{
    const uint64_t before = t->clears;
    int rc = 0;
    uint64_t *sent = table_find(t->sent, key_of(key));
    if (sent && *sent == AROUND)
        return 0;
    for (uint32_t c = key->chunk ? key->chunk - 1 : 0; c <= key->chunk + 1 && rc == 0; c++)
        rc = send_chunk(t, image, adjust, &(struct code_rows_key){key->file, c});
    sent = rc == 0 && t->clears == before ? table_find(t->sent, key_of(key)) : NULL;
    if (sent)
        *sent = AROUND;
    return rc;
}

int row_sender_send(struct row_sender *t, const struct stack_place *places, size_t place_count,
                    const struct unwind_frame *frames, size_t count)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        const struct image *image = frames[i].place.image;
        const struct stack_place *place = stack_place_of(places, place_count, frames[i].pc);
        if (!place || !image || image_is_run_time(image))
            continue;
        const uint64_t offset = frames[i].pc - place->at, adjust = frames[i].place.address - offset;
        rc = send_around(t, image, adjust,
                         &(struct code_rows_key){place->number, (uint32_t)(offset >> CODE_ROWS_BITS)});
    }
    return rc;
}
