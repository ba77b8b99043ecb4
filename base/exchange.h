/*
 * exchange.h - messages of known sizes over a stream socket, whole or not at all.
 */
#ifndef FATHOM_BASE_EXCHANGE_H
#define FATHOM_BASE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t exchange_now(void); /* ms, of the clock of deadlines */
/* Reads all of it before the deadline (0: there is none). false: the other side is gone, or too late. */
bool exchange_receive(int socket, void *data, size_t size, int64_t deadline);
/* Writes all of it; no SIGPIPE. false: the other side is gone. */
bool exchange_send(int socket, const void *data, size_t size);

#endif
