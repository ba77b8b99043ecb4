/*
 * metrics.h - what the agent tells of itself, in Prometheus' text format (version 0.0.4), over HTTP on the loopback: each connection
 * has one request, of 2 KB at most, and 5 s for it. When there are 32 the oldest goes.
 */
#ifndef FATHOM_AGENT_METRICS_H
#define FATHOM_AGENT_METRICS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct agent_metrics {
    bool recording;
    uint64_t starts;                 /* of recorders */
    uint64_t shipped, shipped_bytes; /* recordings that the store has */
    uint64_t sent_bytes;             /* to a server, for them */
    uint64_t failures;               /* attempts to put one there */
    uint64_t dropped, damaged;       /* recordings that were never put there: for want of room; unreadable */
    uint64_t spool_parts, spool_bytes;
    uint64_t last_shipped;                      /* seconds since 1970; 0: never */
    double recorder_cpu, shipping_cpu, own_cpu; /* s */
};

struct metrics_server; /* listens, and has peers: none of them holds up the agent, or another one */

/* Of "127.0.0.1:PORT"; 0: there is no such port. */
uint16_t metrics_port(const char *address);
/* Errors: those of bind(). */
int metrics_listen(const char *address, struct metrics_server **out, struct fathom_error *err);
void metrics_close(struct metrics_server *server); /* NULL is allowed */
/* What it waits for. Returns how many; NULL waits for nothing. */
#define METRICS_WAITS 33
unsigned metrics_waits(const struct metrics_server *server, struct pollfd waits[METRICS_WAITS]);
/* Takes new peers, reads requests and answers them, as far as that goes at once. To be called now and then without a wait's end: a peer
 * for which there is no descriptor is taken later, and not waited for. */
void metrics_serve(struct metrics_server *server, const struct agent_metrics *metrics);

#endif
