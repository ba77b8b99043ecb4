/*
 * row_sender.h - sends the recorder's BPF program rules for finding return addresses (perfdata/code_rows.h), for the chunks of
 * files' code that stacks had frames in and the chunks before and after these.
 */
#ifndef FATHOM_INFER_LIVE_ROW_SENDER_H
#define FATHOM_INFER_LIVE_ROW_SENDER_H

#include "perfdata/code_rows.h"
#include "perfdata/known_stack.h"
#include "process/unwind.h"

struct row_sender;

/* send: returns false if there was no space, so that all rows sent before were dropped and have to be sent again. NULL: out of
 * memory. */
struct row_sender *row_sender_new(bool (*send)(void *context, const struct code_rows_key *key,
                                               const struct code_rows *rows),
                                  void *context);
void row_sender_free(struct row_sender *teller);
/* Sends the rows of the chunks around these frames' code that were not sent yet. places: of all that code. 0 or -ENOMEM. */
int row_sender_send(struct row_sender *teller, const struct stack_place *places, size_t place_count,
                    const struct unwind_frame *frames, size_t count);

#endif
