/*
 * control_socket.h - a socket for commands to a recording that runs: lines of one word, each answered by a line that begins with "ok" or
 * "error:". fathom-record(1) lists them.
 *
 * It is its owner's: its mode is 0600, and who connects must be the same user, or root (SO_PEERCRED, unix(7)). Nothing waits for those who
 * connect: they may be so many at a time, and one whose line is too long, or that does not take its answers, is disconnected.
 */
#ifndef FATHOM_API_RECORD_CONTROL_SOCKET_H
#define FATHOM_API_RECORD_CONTROL_SOCKET_H

#include "api/record/phase_control.h"
#include "base/error.h"

struct control_socket;

#define CONTROL_SOCKET_PEERS 8  /* at a time */
#define CONTROL_SOCKET_LINE  32 /* bytes of a command, its newline included */

/* Makes it. One that a run has left behind which ended unexpectedly is replaced. Errors: -EINVAL: the path is none for a socket; -EEXIST:
 * something else is there, or a recording that runs; those of bind(2). The control is borrowed. */
int control_socket_open(const char *path, struct phase_control *control, struct control_socket **out,
                        struct fathom_error *err);
/* Answers what has come. */
void control_socket_serve(struct control_socket *socket);
/* Removes it. NULL is allowed. */
void control_socket_close(struct control_socket *socket);

#endif
