/*
 * plan_code.h - what must be known about an image's code before a byte of it is replaced: where control may
 * arrive, and which bytes it never reaches. Private to the plan builder.
 *
 * Control may arrive at the target of any direct branch or call of the image, at the addresses from
 * image_targets(), at an address that an instruction takes (lea; in a program at a fixed address an
 * immediate), and at the entries of jump tables: 4-byte distances from the table's own start, which some lea
 * takes. All code is decoded from the start of each function; where decoding fails, the function is not
 * `whole` and decoding continues a byte later. Not seen: tables of distances from another address than their
 * own start ("goto *(base + offsets[i])", which a programmer may write). These are assumed never to lead into
 * the middle of the first 5 bytes of a function.
 *
 * Dead bytes are nops and int3 after a jump or a return at which control never arrives.
 */
#ifndef FATHOM_PATHMAP_TRAIN_PLAN_CODE_H
#define FATHOM_PATHMAP_TRAIN_PLAN_CODE_H

#include "image/code/insn.h"
#include "image/image.h"

enum plan_code_flags {
    PLAN_CODE_WHOLE = 1, /* all of the function was decoded */
    PLAN_CODE_ENDS = 2,  /* control does not fall out of its end */
    PLAN_CODE_PART = 4,  /* its frame does not start like a function's: it is not called normally (.cold part,
                            signal trampoline, code with its own convention) */
    PLAN_CODE_LOOPS = 8, /* something in it jumps back to where a hook is */
};

struct plan_code {
    const struct image *image;
    struct insn_reader *reader;
    uint64_t low, high; /* span of the functions */
    uint8_t *targets;   /* a bit for each byte of the span */
    uint8_t *dead;
    uint8_t *flags; /* enum plan_code_flags, one for each function of the image */
};

/* 0 or -ENOMEM. */
int plan_code_read(const struct image *image, struct plan_code *out);
void plan_code_free(struct plan_code *code);

bool plan_code_is_target(const struct plan_code *code, uint64_t address);
bool plan_code_is_dead(const struct plan_code *code, uint64_t address);
/* Marks the bytes as used: they are no longer dead. */
void plan_code_use(struct plan_code *code, uint64_t address, unsigned length);

#endif
