/*
 * metrics.h - the agent's metrics in Prometheus' text format (version 0.0.4), over HTTP on the loopback
 * interface. Each connection has one request of at most 2 KB, and 5 s for it. With 32 connections open, a new
 * one replaces the oldest.
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
    uint64_t shipped, shipped_bytes; /* recordings in the store */
    uint64_t sent_bytes;             /* to a server, for these */
    uint64_t failures;               /* failed attempts to store one */
    uint64_t dropped, damaged;       /* recordings never stored: for lack of space; unreadable */
    uint64_t spool_parts, spool_bytes;
    uint64_t last_shipped;                      /* seconds since 1970; 0: never */
    double recorder_cpu, shipping_cpu, own_cpu; /* s */
};

struct metrics_server; /* a listening socket and its peers: no peer blocks the agent, or another peer */

/* The port in "127.0.0.1:PORT"; 0: there is no such port. */
uint16_t metrics_port(const char *address);
/* Errors: those of bind(). */
int metrics_listen(const char *address, struct metrics_server **out, struct fathom_error *err);
void metrics_close(struct metrics_server *server); /* NULL is allowed */
/* The descriptors to poll. Returns how many; for a NULL server none. */
#define METRICS_WAITS 33
unsigned metrics_waits(const struct metrics_server *server, struct pollfd waits[METRICS_WAITS]);
/* Accepts peers, reads requests and answers them, without blocking. Also to be called from time to time
 * without an event: a peer for which no descriptor was free is accepted later, and not polled for. */
void metrics_serve(struct metrics_server *server, const struct agent_metrics *metrics);

#endif
