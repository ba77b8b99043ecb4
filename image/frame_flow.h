/*
 * frame_flow.h - computes how far SP is below the CFA at every instruction of a function where its CFI rows
 * do not say so: in frames addressed by BP, and in code without CFI. Private to image/.
 *
 * A small dataflow: it starts from SP-based rows and follows push, pop, sub, add, lea and leave. Where paths
 * meet with different depths, or SP moves by an unknown amount (alloca, realignment), the depth is open.
 */
#ifndef FATHOM_IMAGE_FRAME_FLOW_H
#define FATHOM_IMAGE_FRAME_FLOW_H

#include "image/cfi/cfi.h"
#include "image/function_code.h"

#define FRAME_OPEN (-1) /* not a fixed number of bytes */

struct frame_flow {
    int32_t *depths; /* CFA - SP before each instruction, in bytes, or FRAME_OPEN */
    uint32_t capacity;
    uint32_t *work;
    uint32_t work_capacity;
};

/* Depths for code->count instructions. 0 or -ENOMEM. */
int frame_flow_run(struct frame_flow *flow, const struct cfi *cfi, const struct function_code *code);
void frame_flow_free(struct frame_flow *flow);

#endif
