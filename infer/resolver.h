/*
 * resolver.h - the engine: a sample in, its calling context out (DESIGN section 6).
 *
 * Exact stage: sample -> CID -> candidates in the path map, their training counts -> the most probable
 * function path. Memoised by CID. A result carries its probability; what cannot be told is RESOLVED_UNKNOWN
 * with its reason.
 */
#ifndef FATHOM_INFER_RESOLVER_H
#define FATHOM_INFER_RESOLVER_H

#include "pathmap/pathmap.h"
#include "process/process.h"

enum resolved_kind {
    RESOLVED_PRECISE,   /* one function path has this CID */
    RESOLVED_AMBIGUOUS, /* several do; `node` is the most probable */
    RESOLVED_UNKNOWN,   /* none does, or there is no CID: see `reason` */
};

enum unknown_reason {
    UNKNOWN_NOT,       /* it is known */
    UNKNOWN_CONTEXT,   /* the CID is not in the map */
    UNKNOWN_FUNCTION,  /* the PC is in no known function */
    UNKNOWN_MAPPING,   /* the PC is in no mapped file (JIT code) or its file could not be opened */
    UNKNOWN_CFI,       /* no CFI row for the PC, or one that needs more than SP and BP */
    UNKNOWN_BASE,      /* the base of its stack is unknown (coroutine or alternate stack) */
    UNKNOWN_KERNEL,    /* a kernel address */
    UNKNOWN_REGISTERS, /* the sample has none */
    UNKNOWN_REASONS    /* number of reasons */
};

/* The CID, as far as it could be told. */
struct cid {
    struct place place;
    uint64_t height;            /* bytes; meaningful when reason is UNKNOWN_NOT */
    enum unknown_reason reason; /* why there is no CID */
};

struct resolved {
    enum resolved_kind kind;
    enum unknown_reason reason;
    struct cid cid;
    uint32_t node;      /* of the map: the most probable path; PATHMAP_NONE when unknown */
    uint32_t paths;     /* function paths that share the CID: degree of ambiguity */
    double probability; /* of `node`'s function path among them, 0 when unknown */
};

/* sample -> CID: the function that owns the PC, and base - CFA. Undoes nothing for precise_ip >= 2 (see
 * precise.h). Under PEBS skid or IBS the registers' own IP is used. */
struct cid cid_of_sample(const struct process *process, const struct sample *sample);
/* The same CFA without a base: false when it cannot be told. */
bool cid_cfa(const struct process *process, const struct sample *sample, struct place *place, uint64_t *cfa,
             enum unknown_reason *reason);

struct resolver;

/* map is borrowed. NULL: out of memory. */
struct resolver *resolver_new(const struct pathmap *map);
void resolver_free(struct resolver *resolver);
int resolver_resolve(struct resolver *resolver, const struct process *process, const struct sample *sample,
                     struct resolved *out, struct fathom_error *err);
/* The map's number of an image's function, PATHMAP_NONE when it has none. O(1) after the first time. */
uint32_t resolver_function(struct resolver *resolver, const struct image *image, uint32_t function);
const char *unknown_reason_text(enum unknown_reason reason); /* "its CID is not in the map" */

#endif
