/*
 * row_teller.h - tells the recorder's BPF program where code has its return address (perfdata/code_rows.h), of the chunks of files that
 * stacks were met in, and those before and behind.
 */
#ifndef FATHOM_INFER_LIVE_ROW_TELLER_H
#define FATHOM_INFER_LIVE_ROW_TELLER_H

#include "perfdata/code_rows.h"
#include "perfdata/known_stack.h"
#include "process/unwind.h"

struct row_teller;

/* tell: false: nothing told before counts any longer, as there is no room; the rows are told again. NULL: out of memory. */
struct row_teller *row_teller_new(bool (*tell)(void *context, const struct code_rows_key *key,
                                               const struct code_rows *rows),
                                  void *context);
void row_teller_free(struct row_teller *teller);
/* Tells the rows of the chunks around these frames' code that were not told yet. places: of all that code. 0 or -ENOMEM. */
int row_teller_tell(struct row_teller *teller, const struct stack_place *places, size_t place_count,
                    const struct unwind_frame *frames, size_t count);

#endif
