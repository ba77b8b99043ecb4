/*
 * sample.h - one sample, live or from a file: both are handled alike.
 */
#ifndef FATHOM_PERFDATA_SAMPLE_H
#define FATHOM_PERFDATA_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sample_mode { /* PERF_RECORD_MISC_CPUMODE */
                   SAMPLE_MODE_UNKNOWN,
                   SAMPLE_MODE_KERNEL,
                   SAMPLE_MODE_USER,
                   SAMPLE_MODE_OTHER, /* hypervisor or guest */
};

/* What the program that follows the event says of a sample's stack (stack_record.h). */
enum sample_stack {
    SAMPLE_STACK_UNSAID,   /* nothing: it did not follow the thread */
    SAMPLE_STACK_NEW,      /* not known: read; `stack` */
    SAMPLE_STACK_SAME,     /* that of an earlier sample, by `stack_number` */
    SAMPLE_STACK_REFUSED,  /* not known, and not read */
    SAMPLE_STACK_KEPT,     /* that of an earlier recording; `walk`, but for the addresses of its calls */
    SAMPLE_STACK_GONE,     /* there was none: the process was ending, or within execve */
    SAMPLE_STACK_RETURNED, /* a precise sample's: it could be read only after its function may have returned */
};

/* What the sample's recorded callers prove (infer/chains/proof.h). */
enum sample_chain {
    SAMPLE_CHAIN_NONE,     /* it has none, or a stack dump */
    SAMPLE_CHAIN_UNPROVED, /* nothing that is used */
    SAMPLE_CHAIN_PROVED,   /* a stack: `stack` was not recorded, but made of it */
};

#define SAMPLE_BRANCH 24 /* bytes: struct perf_branch_entry */

struct walked;       /* walks.h */
struct stack_code;   /* stack_record.h */
struct stack_places; /* announced.h */

struct sample {
    uint32_t pid, tid;
    uint64_t time;      /* ns, the perf clock; 0 if the file has none */
    uint64_t ip;        /* where the event is attributed */
    uint32_t event;     /* index into the event table of the file or collector */
    uint32_t made_from; /* likewise, of the first event that the reader makes of others, */
    uint8_t made;       /* and bits of those that it is of, too: the first is 1 */
    uint8_t mode;       /* enum sample_mode */
    bool has_regs;      /* reg_ip, sp and bp can be used. Not for 32-bit code, whose sp is set all the same */
    bool user_regs;     /* they came from REGS_USER, not from REGS_INTR */
    bool regs_after; /* sp and bp are those after the instruction at reg_ip, which caused the event (PEBS) */
    uint64_t reg_ip, sp, bp;
    uint64_t
        register_mask; /* of the registers that were recorded, by arch/x86/include/uapi/asm/perf_regs.h; */
    const uint8_t
        *registers;  /* their values, 8 bytes each, by ascending number; NULL: none. Borrowed; not aligned */
    uint64_t period; /* events that this sample represents: PERIOD, else the event's fixed period, else 1 */
    uint64_t addr, weight, data_src; /* 0: not recorded */
    uint64_t allocations;            /* that it stands for (heap_event.h); 0: it is of none */
    uint32_t wait;                   /* enum wait_reason; 0: it is no wait */
    uint64_t wake;        /* of a wait and who ended it: the same; 0: nobody has, or it is not recorded */
    const char *waker;    /* who that was, where this is a sample of it; borrowed. NULL: it is not */
    uint64_t cgroup;      /* the thread's, by its ID (struct record has their paths); 0: not recorded */
    const uint8_t *stack; /* STACK_USER dump from sp upward; NULL: none. Borrowed from the record */
    const uint8_t *below; /* the 128 bytes below sp (stack_record.h); NULL: not recorded. Borrowed */
    const uint8_t *
        outer; /* the STACK_RECORD_OUTER bytes that end at the base of a stack larger than a record; NULL: none.
                                Borrowed */
    uint64_t outer_at;   /* their address */
    uint32_t stack_size; /* valid bytes of it (dyn_size) */
    uint32_t
        stack_switch; /* bytes from sp on after which it is another stack's, its saved PC first (stack_record.h); 0: none */
    const struct walked *
        walk; /* new: what a walk of its stack found while recording; `stack` is mostly left out then. NULL: none.
                                  Borrowed */
    uint32_t stack_capacity; /* all its bytes, valid or not; 0: the record has no dump */
    uint32_t stack_at;       /* offset in the record of the dump's size field, which precedes it */
    bool stack_cut; /* the dump has the maximum size: the stack may go on. Not set if the kernel met a page
                       that was never touched, in a large frame: this also ends the dump */
    const uint64_t *callchain; /* NULL: none; with PERF_CONTEXT_ markers. Borrowed; 8-byte aligned */
    uint32_t callchain_count;
    const uint8_t *raw; /* RAW; NULL: none. Borrowed */
    uint32_t raw_size;
    uint8_t chain;         /* enum sample_chain; set by infer/chains/proved.h */
    uint8_t known;         /* enum sample_stack */
    bool from_sp;          /* if its base was not known to the recorder, its words were compared from SP on */
    uint8_t compared;      /* how many return addresses were compared for that (stack_record.h) */
    uint32_t stack_number; /* of the stack, if it is new or the same */
    uint32_t
        stack_read; /* new: bytes of the stack that the program read: `stack`, a copy for another purpose, may
                                have more */
    const struct stack_code
        *code; /* new: what the program knows of the PC's code; NULL: nothing. Borrowed, like the next */
    const struct stack_places
        *placed;             /* the same: where the program takes its files to lie; NULL: where they lay */
    uint32_t checks_number;  /* new: of the stack that it was taken for, and read to check that; 0: none */
    const uint8_t *branches; /* BRANCH_STACK: entries of SAMPLE_BRANCH bytes, the newest first, each with the
                                addresses from and to at its start; NULL: none. Borrowed */
    uint32_t branch_count;
    const struct script_frame *
        script; /* what the thread's interpreter runs (scripts.h); NULL: nothing, or that is not known. Borrowed */
    uint64_t row; /* in the table of observations; set by infer/samples/observations.h */
};

static inline bool sample_is_of(const struct sample *sample, uint32_t event)
{
    return sample->event == event || (event >= sample->made_from && event - sample->made_from < 8 &&
                                      sample->made >> (event - sample->made_from) & 1);
}

/* Whether it is one: not if it only comes with the stack of a wait that will end later (wait_reason.h). Others may weigh nothing. */
static inline bool sample_counts(const struct sample *sample)
{
    return sample->period || !sample->wait;
}

#endif
