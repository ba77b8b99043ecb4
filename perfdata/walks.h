/*
 * walks.h - what walks of stacks found, in stack records (stack_record.h, struct stack_frames): written while recording, so
 * that reports need not walk the stacks again.
 *
 * A stack is written as the frames by which it differs from the previous stack of the same thread, in time order, and is read
 * in the same way: writer and reader store the last stack of each thread, and a record says which one it refers to. At most
 * WALKS_CHAIN consecutive stacks refer to others, so that a lost record makes no more than these unknown. A stack that is older
 * than the last one written is written whole, and stored by neither.
 *
 * Both store the stacks of at most 1,024 threads: some MB, at most 100, if each has 4,096 frames. When a writer has dropped a
 * thread's stack it writes the next one whole, so that a reader may store more of them.
 */
#ifndef FATHOM_PERFDATA_WALKS_H
#define FATHOM_PERFDATA_WALKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WALKS_CHAIN 64

enum walked_mark {
    WALKED_INTERRUPTED = 1, /* a signal arrived here: the PC is not a return address */
    WALKED_DERIVED = 2,     /* its CFI row was derived from code */
};

struct walked_frame {
    uint64_t pc, cfa;
    uint8_t marks;
};

/* The frames that a walk of a stack found. */
struct walked {
    const struct walked_frame *frames; /* outermost first; borrowed */
    size_t count;                      /* at most STACK_FRAMES_MAX */
    uint64_t back;                     /* as in struct stack_frames */
    bool has_back;
    uint32_t switch_at; /* as in struct stack_switch */
    uint8_t end;        /* enum stack_frames_end */
    bool kept;          /* STACK_FRAMES_KEPT */
};

struct walks; /* the last stacks of the threads */

struct walks *walks_new(void); /* NULL: out of memory */
void walks_free(struct walks *walks);
/* Writes what follows the part's head to `out`; number, time: of the stack record. Returns its size, a multiple of 8; 0: it
 * does not fit, or out of memory. */
size_t walks_write(struct walks *walks, uint32_t tid, uint64_t time, uint32_t number,
                   const struct walked *walked, uint8_t *out, size_t size);
/* Reads it. out->frames: valid until the next call. 1; 0: the stack that it refers to is missing; -EBADMSG: it is damaged;
 * -ENOMEM. */
int walks_read(struct walks *walks, uint32_t tid, uint32_t number, const uint8_t *part, size_t size,
               struct walked *out);

#endif
