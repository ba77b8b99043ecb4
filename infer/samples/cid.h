/*
 * cid.h - the context identifier of a sample: the function of its PC, and the height of its CFA above
 * the base of its stack.
 */
#ifndef FATHOM_INFER_SAMPLES_CID_H
#define FATHOM_INFER_SAMPLES_CID_H

#include "process/process.h"

enum unknown_reason {
    UNKNOWN_NOT,       /* it is known */
    UNKNOWN_CONTEXT,   /* the CID is not in the map */
    UNKNOWN_FUNCTION,  /* the PC is in no known function */
    UNKNOWN_MAPPING,   /* the PC is in no mapping, or its file could not be opened */
    UNKNOWN_RUN_TIME,  /* the PC is in code that the process made itself */
    UNKNOWN_CFI,       /* no CFI row for the PC, or one that needs more than SP and BP */
    UNKNOWN_BASE,      /* the base of its stack is unknown (coroutine or alternate stack) */
    UNKNOWN_KERNEL,    /* the PC is a kernel address */
    UNKNOWN_REGISTERS, /* the sample has no registers */
    UNKNOWN_32BIT,     /* the sample is of a 32-bit process */
    UNKNOWN_UNREAD,    /* its path may pass through unreadable code (unread.h) */
    UNKNOWN_CUT,       /* searching for its paths would take too much work; not set by the resolver */
    UNKNOWN_UNSURE,    /* its path is less probable than the user requested; not set by the resolver */
    UNKNOWN_REASONS    /* number of reasons */
};

/* The CID, if known. */
struct cid {
    struct place place;
    uint64_t height;            /* bytes; valid if reason is UNKNOWN_NOT */
    enum unknown_reason reason; /* why there is no CID */
};

/* A sample's innermost frame, even if the base of its stack is unknown. */
struct leaf_frame {
    struct place place; /* valid unless the reason is UNKNOWN_REGISTERS, _32BIT, _KERNEL or _MAPPING */
    uint64_t cfa;       /* valid if reason is UNKNOWN_NOT */
    enum unknown_reason reason; /* why the frame is not known */
};

/* The frame of a sample: the function that owns the PC, and the CFA there. Uses the registers' own IP, which under
 * skid or IBS differs from the sample's. process may be NULL (unknown PID). */
struct leaf_frame leaf_frame_of(const struct process *process, const struct sample *sample);
/* The CID of the sample with this frame: its function, and base - CFA. */
struct cid cid_of_frame(const struct process *process, const struct sample *sample,
                        const struct leaf_frame *frame);
/* both of these steps */
struct cid cid_of_sample(const struct process *process, const struct sample *sample);

const char *unknown_reason_text(enum unknown_reason reason); /* "its address is in no known function" */

#endif
