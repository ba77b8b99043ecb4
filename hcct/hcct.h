/*
 * hcct.h - the hot calling-context tree in bounded memory (HCCT paper, sections 3 and 4): one interface for all counters.
 *
 * A counter monitors some paths of a stream; the tree contains these and their ancestors. Every monitored path has an estimate,
 * which is never below its true weight, and an error: at most this much of the estimate is not its own. A path that is not
 * monitored weighs at most `unseen`. N is the total weight so far.
 *
 * Some kinds guarantee (phi, eps) for every stream: unseen and every error are at most eps * N, so that a query returns every
 * path of weight >= phi * N and none of weight <= (phi - eps) * N. Sticky Sampling does so with probability 1 - delta. The
 * purging kind only knows its bound afterwards (hcct_unseen()).
 *
 * A stream consists either of paths with weights (hcct_add) or of calls and returns (hcct_feed), not both.
 */
#ifndef FATHOM_HCCT_HCCT_H
#define FATHOM_HCCT_HCCT_H

#include <stdbool.h>

#include "hcct/cct.h"

/* The kinds: the enumerator, the name for --counter, and the functions (hcct_data.h). */
/* clang-format off */
#define HCCT_EACH(ROW) \
    ROW(HCCT_EXACT, "exact", hcct_exact) /* every path; unbounded memory */ \
    /* Lazy Space Saving: 1/eps counters (HCCT paper, section 4.1; with weights, hcct_lss.c) */ \
    ROW(HCCT_LSS, "lss", hcct_lss) \
    /* Bucket Space Saving: the same with a list of buckets (Metwally et al., ICDT 2005) */ \
    ROW(HCCT_BSS, "bss", hcct_bss) \
    ROW(HCCT_LC, "lc", hcct_lc) /* Lossy Counting (Manku and Motwani, VLDB 2002, section 4.2) */ \
    ROW(HCCT_STICKY, "sticky", hcct_sticky) /* Sticky Sampling (the same, section 4.1) */ \
    /* lazy purge by a sampled median (Anderson et al., IMC 2017): amortised O(1) */ \
    ROW(HCCT_PURGE, "purge", hcct_purge)
/* clang-format on */
#define HCCT_ENUMERATOR(kind, name, functions) kind,
enum hcct_kind { HCCT_EACH(HCCT_ENUMERATOR) HCCT_KINDS };

struct hcct_options {
    enum hcct_kind kind;
    double eps;       /* 0 < eps < 1; ignored by HCCT_EXACT */
    double phi;       /* for HCCT_STICKY: the least that will be asked for; more than eps */
    double delta;     /* for HCCT_STICKY: the probability of failure, above 0 */
    uint32_t metrics; /* as in an exact tree */
    /* hcct_place() will be used: 8 bytes per node, for all kinds with a guarantee except exact and LC */
    bool places;
    uint64_t seed; /* for kinds that choose at random; the same seed gives the same result */
};

struct hcct;

/* NULL: out of memory, or an option out of range. */
struct hcct *hcct_new(const struct hcct_options *options);
void hcct_free(struct hcct *hcct);

/* Adds a value of each metric at the end of a path given from the root inwards. 0 or -ENOMEM (then nothing was added). The
 * empty path's values count only in the totals, and so do values without weight. Metrics other than the weight are counted
 * while the path is monitored, so they are never too high. */
int hcct_add(struct hcct *hcct, const uint32_t *items, size_t count, const uint64_t *values);

/* Where a path is counted, as long as it is. Zeros: nowhere. */
struct hcct_place {
    struct cct_node *node;
    uint64_t stamp;
};
/* The place of the path last added by hcct_add(). */
struct hcct_place hcct_place(const struct hcct *hcct);
/* Adds at a place. false: nothing was added, as the place no longer exists; use hcct_add(). */
bool hcct_add_at(struct hcct *hcct, struct hcct_place place, const uint64_t *values);

#define HCCT_RETURN UINT32_MAX /* an event: the innermost function returns; ignored at the root */
/* with an item, an event: the thread continues in it without entering it; has no weight */
#define HCCT_RESUMED 0x80000000u

/* Calls and returns of one thread: each event is an item that is entered, HCCT_RETURN, or HCCT_RESUMED with an item; items are
 * below HCCT_RESUMED. weights: one per event, ignored unless it enters an item; NULL: 1 each. -ENOMEM: only the first *done
 * events were taken. */
int hcct_feed(struct hcct *hcct, const uint32_t *events, const uint32_t *weights, size_t count, size_t *done);
/* The next events are another thread's, which is at the root. */
void hcct_rewind(struct hcct *hcct);

/* The present (phi, eps)-HCCT as a new tree: hot paths with counter and error, their ancestors with self 0; the root's `self`
 * is the weight that no hot path has, or 0 if estimates add up to more than N (possible for all kinds except exact and Space
 * Saving). NULL: out of memory, or the counter guarantees nothing for this phi: it is not above eps (for the purging kind:
 * hcct_unseen() / N). */
struct cct *hcct_query(const struct hcct *hcct, double phi);

uint64_t hcct_total(const struct hcct *hcct);
/* The most that a path weighs that is not monitored, so no error is larger. */
uint64_t hcct_unseen(const struct hcct *hcct);
bool hcct_promises(enum hcct_kind kind);         /* guarantees (phi, eps) for every stream */
size_t hcct_nodes(const struct hcct *hcct);      /* in the tree now, including the root */
size_t hcct_most_nodes(const struct hcct *hcct); /* the same, the most so far */
size_t hcct_counters(const struct hcct *hcct);   /* monitored now */
/* of memory; freed nodes stay allocated */
size_t hcct_bytes(const struct hcct *hcct);

extern const char *const hcct_kind_names[HCCT_KINDS + 1]; /* "exact", "lss", ...; NULL at the end */

#endif
