/* The rules that are sent for finding return addresses, against a look-up of each of its bytes. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "image/cfi/cfi.h"
#include "infer/live/row_sender.h"
#include "tests/infer/world.h"

enum { NUMBER = 7 };

static struct world *w;
static struct row_sender *sender;
static struct code_rows last;
static struct code_rows_key last_key;
static unsigned sent;
static uint32_t wanted; /* chunk */
static bool has_space;
static unsigned refused; /* the number of the chunk that is, once; 0: none */

static bool take(void *context, const struct code_rows_key *key, const struct code_rows *rows)
{
    (void)context;
    sent++;
    if (key->chunk == wanted) {
        last = *rows;
        last_key = *key;
    }
    return has_space && sent != refused;
}

static void begin(void)
{
    w = world_open();
    sender = row_sender_new(take, NULL);
    cr_assert_not_null(sender);
    has_space = true;
    sent = refused = 0;
}

static void end(void)
{
    row_sender_free(sender);
    world_close(w);
}

TestSuite(row_sender, .init = begin, .fini = end);

/* Tells the rows around this function of the C library. */
static struct place tell(uint64_t pc, struct stack_place *place)
{
    struct unwind_frame frame = {.pc = pc};
    cr_assert(process_place(w->self.process, pc, &frame.place));
    const struct mapping *mapping = process_mapping(w->self.process, pc);
    *place = (struct stack_place){mapping->start, mapping->end, mapping->start - mapping->offset, NUMBER};
    wanted = (uint32_t)((pc - place->at) >> CODE_ROWS_BITS);
    cr_assert_eq(row_sender_send(sender, place, 1, &frame, 1), 0);
    return frame.place;
}

static uint32_t rule_at(uint32_t at)
{
    uint32_t i = 0;
    while (i + 1 < last.count && last.start[i + 1] <= at)
        i++;
    return last.count && last.start[i] <= at ? last.rule[i] : CODE_ROW_NONE;
}

Test(row_sender, rows_are_those_of_a_look_up)
{
    struct stack_place place;
    const struct place code = tell((uintptr_t)a64l, &place);
    const struct cfi *cfi = image_cfi(code.image);
    cr_assert_eq(sent, 3u, "those before and behind it, too");
    cr_expect_eq(last_key.file, (uint32_t)NUMBER);
    cr_expect_eq(last_key.chunk, ((uintptr_t)a64l - place.at) >> CODE_ROWS_BITS);
    const uint64_t adjust = code.address - ((uintptr_t)a64l - place.at);
    const uint64_t from = ((uint64_t)last_key.chunk << CODE_ROWS_BITS) + adjust;
    unsigned by_sp = 0, with_bp = 0;
    for (uint32_t at = 0; at < 1u << CODE_ROWS_BITS; at++) {
        const struct cfi_row row = cfi_lookup(cfi, from + at);
        const uint32_t rule = rule_at(at);
        if (rule == CODE_ROW_NONE)
            continue;
        cr_assert(row.cfa == CFI_SP || row.cfa == CFI_BP, "at %u", at);
        cr_assert_eq(rule & CODE_ROW_FROM_BP, row.cfa == CFI_BP ? CODE_ROW_FROM_BP : 0, "at %u", at);
        cr_assert_eq((int32_t)(rule & CODE_ROW_RETURN), row.cfa_offset - 8, "at %u", at);
        const uint32_t bp = rule >> CODE_ROW_BP_AT & CODE_ROW_BP;
        cr_assert(!bp || (int32_t)bp - 1 == row.cfa_offset + row.bp_offset, "at %u", at);
        by_sp += row.cfa == CFI_SP;
        with_bp += bp > 0;
    }
    cr_expect_gt(by_sp, 8192u, "most code has such rows");
    cr_expect_gt(with_bp, 100u);
}

Test(row_sender, a_chunk_is_told_once)
{
    struct stack_place place;
    tell((uintptr_t)a64l, &place);
    tell((uintptr_t)a64l, &place);
    cr_expect_eq(sent, 3u);
    tell((uintptr_t)a64l + (1u << CODE_ROWS_BITS), &place);
    cr_expect_eq(sent, 4u);
}

/* The first of the three chunks is refused, and with it what was told before; the other two are told. */
Test(row_sender, a_chunk_that_was_refused_is_told_again)
{
    struct stack_place place;
    refused = 1;
    tell((uintptr_t)a64l, &place);
    cr_expect_eq(sent, 3u);
    refused = 0;
    tell((uintptr_t)a64l, &place);
    cr_expect_eq(sent, 4u);
}

Test(row_sender, all_is_told_again_where_there_was_no_room)
{
    struct stack_place place;
    tell((uintptr_t)a64l, &place);
    has_space = false;
    tell((uintptr_t)a64l + (1u << CODE_ROWS_BITS), &place);
    has_space = true;
    tell((uintptr_t)a64l, &place);
    cr_expect_eq(sent, 7u);
}
