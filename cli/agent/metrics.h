/*
 * metrics.h - what the agent tells of itself, in Prometheus' text format (version 0.0.4), over HTTP on the loopback.
 */
#ifndef FATHOM_CLI_AGENT_METRICS_H
#define FATHOM_CLI_AGENT_METRICS_H

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

/* Of "127.0.0.1:PORT"; 0: there is no such port. */
uint16_t metrics_port(const char *address);
/* A socket that listens there. Errors: those of bind(). */
int metrics_listen(const char *address, int *socket, struct fathom_error *err);
/* Answers one request that waits, within a second. */
void metrics_answer(int socket, const struct agent_metrics *metrics);

#endif
