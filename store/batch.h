/*
 * batch.h - the rows of a store: what one host sampled of one service, with one event, in one time slot.
 */
#ifndef FATHOM_STORE_BATCH_H
#define FATHOM_STORE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#define STORE_SLOT 300u /* seconds; slots begin at multiples of it, UTC */

/* Limits of a store. */
#define STORE_TIME_MOST  UINT32_MAX         /* seconds since 1970, in 2106: a server has 32 bits for a slot */
#define STORE_NAME_MOST  1024u              /* bytes of the name of a service, an event, a host or a build */
#define STORE_FRAME_MOST ((size_t)64 << 10) /* bytes of the names of a frame and of its file */

/* How certain a path is. */
enum { STORE_UNKNOWN = 0, STORE_SURE_MOST = 254, STORE_PROVED = 255 }; /* between: inferred, in 255ths */

/* Batches with the same key are the same batch: a second one is ignored. */
struct store_key {
    const char *service, *event, *host;
    const char *build; /* the program's build-id, hexadecimal; "": unknown */
    uint64_t slot;     /* beginning of the slot, seconds since 1970 */
    uint64_t sequence; /* distinguishes batches of one host and slot: for a recording, a hash of its bytes */
    uint32_t phase;    /* 0: unknown */
};

/* A context may have one entry for proved, one for inferred, and one for unknown paths. */
struct store_entry {
    uint64_t context; /* when written: a number of the dictionary; when read: the engine's own */
    uint64_t count;   /* of samples */
    uint64_t weight;
    uint8_t sure;
    /* for sums: the weight expected to be right is `weight` * `sure` + `rest`, in 255ths; less than the
     * weight */
    uint64_t rest;
};

struct store_batch {
    struct store_key key;
    const char *unit; /* of the weight: "ns", or what is counted */
    uint64_t samples, weight;
    const struct store_entry *entries;
    size_t count;
    /* What is read may be a sum of batches; the key then has the first slot: */
    uint64_t last;    /* slot */
    uint64_t batches; /* how many */
    uint64_t mark;    /* the engine's own: a sum that identifies the batches */
};

#endif
