/*
 * mail.h - the mailbox by which the probe runtime asks `fathom train` for the plan of an image, and waits.
 *
 * The file MAIL_NAME in the session directory, MAIL_SIZE bytes, mapped shared by `fathom train` (the server,
 * which creates it with zeros and the magic before the program starts) and by every process under training
 * (the clients). One request at a time:
 *
 *     client   takes the lock; writes path; adds 1 to request_seq; wakes its futex; waits until reply_seq is
 *              the request_seq that it set, MAIL_PATIENCE seconds at most; reads the answer; drops the lock
 *     server   waits on the futex request_seq while it equals reply_seq (with a time-out, so that it can do
 *              other things); copies path; looks again whether request_seq is what it was; writes status,
 *              plan and reason; sets reply_seq to the request_seq that it answers; wakes its futex
 *
 * A client that times out leaves without an answer: the server's late answer has the old number, which nobody
 * waits for. If the trainer has died nobody waits at all: the kernel marks that in `trainer`. A client that
 * dies holding the lock is detected by the next one, see lock. The plan's file is complete before reply_seq
 * is set. The futexes are shared ones (no FUTEX_PRIVATE_FLAG), and the sequence numbers are read and written
 * as atomics (acquire, release).
 *
 * The clients may be any processes: the server trusts nothing here and terminates path itself.
 */
#ifndef FATHOM_PATHMAP_WIRE_MAIL_H
#define FATHOM_PATHMAP_WIRE_MAIL_H

#include <stdint.h>

#include "pathmap/wire/recording.h"

#define MAIL_NAME     "mail"
#define MAIL_MAGIC    0x374d5446u /* "FTM7" */
#define MAIL_SIZE     65536       /* bytes of the file */
#define MAIL_NOTES    200
#define MAIL_PATIENCE 120 /* seconds that a client waits for a live trainer: large files take a while */

enum mail_status {
    MAIL_PLAN,   /* `plan` names the plan */
    MAIL_CALLS,  /* not among the chosen images: `plan` names one without hooks, which describes its calls */
    MAIL_LEAVE,  /* not among the chosen images, and there is no plan: leave alone silently */
    MAIL_FAILED, /* there is no plan, for the `reason` */
};

/* What is not trained, or no longer, and why. */
enum mail_note_kind {
    NOTE_FILTERED,    /* the program was started under a seccomp filter, and is left alone */
    NOTE_FILTERS,     /* the program installs a seccomp filter, and is left alone from then on */
    NOTE_STORE,       /* the process cannot create a store; detail: errno */
    NOTE_ROOM,        /* of an image: the process's store has no room for its data */
    NOTE_LIBC,        /* the program uses another C library than glibc */
    NOTE_ENVIRONMENT, /* executed without LD_PRELOAD or FATHOM_PROBE in its environment */
    NOTE_RAISED,      /* executed, and set-user-ID or with capabilities: nothing can be preloaded */
    NOTE_STATIC,      /* executed, and statically linked */
    NOTE_FOREIGN,     /* executed, and not an x86-64 program */
    NOTE_UNREACHABLE, /* executed as another user, or with another root directory, so that it cannot open the
                         session's directory or the runtime */
    NOTE_BURSTS,      /* counted all the time, as hooks cannot be taken out; detail: errno */
    NOTE_SPACE,       /* trained, but the runtime takes some of its limited address space */
    NOTE_KINDS
};

struct mail_note {
    uint32_t state; /* 0: free; 1: being written; 2: ready for the server, which sets it to 0 */
    uint32_t kind;  /* enum mail_note_kind */
    int32_t detail;
    char path[244]; /* of the program, as executed; NUL-terminated */
};
_Static_assert(sizeof(struct mail_note) == 256, "no padding");

struct mail {
    uint32_t magic;       /* 0: the session has ended, and requests are no longer answered */
    uint32_t request_seq; /* futex */
    uint32_t reply_seq;   /* futex */
    uint32_t lock;    /* futex: 0, or the tid of the client that holds it. Broken by another client if no such
                         thread exists, or if it did not change for twice MAIL_PATIENCE */
    uint32_t status;  /* enum mail_status */
    char path[4096];  /* request: the image's file as in /proc/PID/maps (no links in it), NUL-terminated */
    char plan[64];    /* answer: a file name in the session directory, NUL-terminated */
    char reason[256]; /* answer: continues "left out because", NUL-terminated */
    uint32_t trainer; /* the kernel sets FUTEX_OWNER_DIED when `fathom train` ends (train/session.c) */
    uint32_t filters; /* number of seccomp filters of the trainer itself; a program with more has its own */
    uint32_t notes_lost; /* for lack of a free one */
    uint32_t turns; /* futex, of the server: with recording.on_request, hooks should be in while it is odd */
    struct recording recording;
    struct mail_note notes[MAIL_NOTES];
};
_Static_assert(sizeof(struct mail) <= MAIL_SIZE, "fits the file");

#endif
