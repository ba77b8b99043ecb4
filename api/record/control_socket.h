/*
 * control_socket.h - a socket for commands to a running recording: lines of one word, each answered by a line that begins with "ok" or
 * "error:". fathom-record(1) lists them.
 *
 * Only its owner may use it: its mode is 0600, and clients must be the same user, or root (SO_PEERCRED, unix(7)). The recording never waits
 * for clients: their number is limited, and a client that sends too long a line or does not read its answers is disconnected.
 */
#ifndef FATHOM_API_RECORD_CONTROL_SOCKET_H
#define FATHOM_API_RECORD_CONTROL_SOCKET_H

#include "api/record/phase_control.h"
#include "base/error.h"

struct control_socket;

#define CONTROL_SOCKET_PEERS 8  /* at a time */
#define CONTROL_SOCKET_LINE  32 /* bytes of a command, its newline included */

/* Creates the socket, and replaces one that a killed run left behind. Errors: -EINVAL: not a valid path for a socket; -EEXIST: something
 * else is there, or the socket of a running recording; those of bind(2). The control is borrowed. */
int control_socket_open(const char *path, struct phase_control *control, struct control_socket **out,
                        struct fathom_error *err);
/* Answers the commands that have arrived. */
void control_socket_serve(struct control_socket *socket);
/* Removes the socket. NULL is allowed. */
void control_socket_close(struct control_socket *socket);

#endif
