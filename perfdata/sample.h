/* sample.h - one sample, live or from a file. */
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

/* What the BPF program that follows the event says about a sample's stack (stack_record.h). */
enum sample_stack {
    SAMPLE_STACK_UNKNOWN,  /* nothing: it did not follow the thread */
    SAMPLE_STACK_NEW,      /* not known, so it was read: `stack` */
    SAMPLE_STACK_SAME,     /* that of an earlier sample: `stack_number` */
    SAMPLE_STACK_REFUSED,  /* not known, and not read */
    SAMPLE_STACK_KEPT,     /* one of an earlier recording: `walk`, without the addresses of its calls */
    SAMPLE_STACK_GONE,     /* there was none: the process was ending, or in execve */
    SAMPLE_STACK_RETURNED, /* a precise sample's: its function may have returned before it could be read */
};

/* What the sample's recorded callers prove (infer/chains/proof.h). */
enum sample_chain {
    SAMPLE_CHAIN_NONE,     /* it has none, or a stack dump */
    SAMPLE_CHAIN_UNPROVED, /* nothing that can be used */
    SAMPLE_CHAIN_PROVED,   /* a stack: `stack` was not recorded, but made from the callers */
};

#define SAMPLE_BRANCH 24 /* bytes: struct perf_branch_entry */

struct walked;       /* walks.h */
struct stack_code;   /* stack_record.h */
struct stack_places; /* announced.h */

struct sample {
    uint32_t pid, tid;
    uint64_t time;      /* ns, the perf clock; 0 if the file has none */
    uint64_t ip;        /* that the event is attributed to */
    uint32_t event;     /* index into the event table of the file or collector */
    uint32_t made_from; /* the same, of the first event that the reader makes from others, */
    uint8_t made;       /* and a bit for each of these that it belongs to, too: the first is 1 */
    uint8_t mode;       /* enum sample_mode */
    /* reg_ip, sp and bp can be used. Not for 32-bit code, for which sp is set nevertheless */
    bool has_regs;
    bool user_regs;  /* these are from REGS_USER, not from REGS_INTR */
    bool regs_after; /* sp and bp are those after the instruction at reg_ip, which caused the event (PEBS) */
    uint64_t reg_ip, sp, bp;
    uint64_t register_mask; /* which registers were recorded, by arch/x86/include/uapi/asm/perf_regs.h */
    /* their values, 8 bytes each, by ascending number; NULL: none. Borrowed; not aligned */
    const uint8_t *registers;
    uint64_t period; /* events that this sample represents: PERIOD, else the event's fixed period, else 1 */
    uint64_t addr, weight, data_src; /* 0: not recorded */
    /* number of allocations it represents (heap_event.h); 0: it is not of any */
    uint64_t allocations;
    uint32_t wait;        /* enum wait_reason; 0: it is not a wait */
    uint64_t wake;        /* the same for a wait and who ended it; 0: not ended, or not recorded */
    const char *waker;    /* for samples of who ended a wait: who that was; borrowed. NULL for others */
    uint64_t cgroup;      /* ID of the thread's cgroup (struct record has paths); 0: not recorded */
    const uint8_t *stack; /* STACK_USER dump from sp upward; NULL: none. Borrowed from the record */
    const uint8_t *below; /* the 128 bytes below sp (stack_record.h); NULL: not recorded. Borrowed */
    /* the STACK_RECORD_OUTER bytes that end at the base of a stack larger than a record; NULL: none. Borrowed */
    const uint8_t *outer;
    uint64_t outer_at;   /* their address */
    uint32_t stack_size; /* valid bytes of the dump (dyn_size) */
    /* bytes from sp on after which it is another stack's, beginning with its saved PC (stack_record.h); 0: none */
    uint32_t stack_switch;
    /* new: what a walk of its stack found while recording; `stack` is then usually omitted. NULL: none. Borrowed */
    const struct walked *walk;
    uint32_t stack_capacity; /* bytes of the dump, valid or not; 0: the record has no dump */
    uint32_t stack_at;       /* offset in the record of the dump's size field, which precedes it */
    /* the dump has the maximum size, so the stack may continue. Not set if the kernel encountered a page that was never
     * touched, in a large frame, which also ends the dump */
    bool stack_cut;
    const uint64_t *callchain; /* NULL: none; with PERF_CONTEXT_ markers. Borrowed; 8-byte aligned */
    uint32_t callchain_count;
    const uint8_t *raw; /* RAW; NULL: none. Borrowed */
    uint32_t raw_size;
    uint8_t chain;         /* enum sample_chain; set by infer/chains/proved.h */
    uint8_t known;         /* enum sample_stack */
    bool from_sp;          /* its words were compared from SP on, if the recorder did not know its base */
    uint8_t compared;      /* how many return addresses were compared for `known` (stack_record.h) */
    uint32_t stack_number; /* number of the stack, if it is new or the same */
    /* new: bytes of the stack that the BPF program read: `stack`, if copied for another purpose, may have more */
    uint32_t stack_read;
    /* new: what the BPF program knows about the PC's code; NULL: nothing. Borrowed, like the next */
    const struct stack_code *code;
    /* same: where the BPF program assumes its files; NULL: where they were */
    const struct stack_places *placed;
    /* new: number of the stack that it was assumed to be, and read to check that; 0: none */
    uint32_t checks_number;
    /* BRANCH_STACK: entries of SAMPLE_BRANCH bytes, newest first, each beginning with the addresses `from` and `to`; NULL:
     * none. Borrowed */
    const uint8_t *branches;
    uint32_t branch_count;
    /* what the thread's interpreter runs (scripts.h); NULL: nothing, or unknown. Borrowed */
    const struct script_frame *script;
    uint64_t row; /* in the table of observations; set by infer/samples/observations.h */
};

static inline bool sample_is_of(const struct sample *sample, uint32_t event)
{
    return sample->event == event || (event >= sample->made_from && event - sample->made_from < 8 &&
                                      sample->made >> (event - sample->made_from) & 1);
}

/* Whether it counts as a sample: not if it only comes with the stack of a wait that will end later (wait_reason.h). Samples
 * that count may weigh nothing. */
static inline bool sample_counts(const struct sample *sample)
{
    return sample->period || !sample->wait;
}

#endif
