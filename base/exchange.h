/*
 * exchange.h - sends and receives messages of known sizes over a stream socket, completely or not at all.
 */
#ifndef FATHOM_BASE_EXCHANGE_H
#define FATHOM_BASE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t exchange_now(void); /* ms, on the clock used for deadlines */
/* Reads all of it before the deadline (0: none). false: the peer is gone or timed out. */
bool exchange_receive(int socket, void *data, size_t size, int64_t deadline);
/* Writes all of it; no SIGPIPE. false: the peer is gone. */
bool exchange_send(int socket, const void *data, size_t size);

#endif
