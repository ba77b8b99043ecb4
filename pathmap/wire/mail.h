/*
 * mail.h - the mailbox by which the probe runtime asks `fathom train` for the plan of an image, and waits.
 *
 * The file MAIL_NAME in the session directory, MAIL_SIZE bytes, mapped shared by `fathom train` (the server,
 * who makes it: zeros but for the magic, before the program starts) and by every process under training (the
 * clients). One request at a time:
 *
 *     client   takes the lock; writes path; adds 1 to request_seq; wakes its futex; waits until reply_seq is
 *              the request_seq that it set, MAIL_PATIENCE seconds at most; reads the answer; drops the lock
 *     server   waits on the futex request_seq while it equals reply_seq (with a time-out, so that it can do
 *              other things); copies path; looks again whether request_seq is what it was; writes status,
 *              plan and reason; sets reply_seq to the request_seq that it answers; wakes its futex
 *
 * A client whose patience ends leaves without an answer: the server's late answer carries the old number,
 * which nobody waits for. When the trainer has died nobody waits at all: the kernel tells (`trainer`). A
 * client that dies with the lock held is found out by the next one, see lock. The plan's file is complete
 * before reply_seq is set. The futexes are shared ones (no FUTEX_PRIVATE_FLAG), and the sequence numbers are
 * read and written as atomics (acquire, release).
 *
 * The clients may be any processes: the server trusts nothing here and ends path itself.
 */
#ifndef FATHOM_PATHMAP_WIRE_MAIL_H
#define FATHOM_PATHMAP_WIRE_MAIL_H

#include <stdint.h>

#define MAIL_NAME     "mail"
#define MAIL_MAGIC    0x324d5446u /* "FTM2" */
#define MAIL_SIZE     65536       /* bytes of the file */
#define MAIL_NOTES    200
#define MAIL_PATIENCE 120 /* seconds that a client waits for a trainer that lives: large files take some */

enum mail_status {
    MAIL_PLAN,   /* `plan` names the plan */
    MAIL_CALLS,  /* not among the chosen images: `plan` names one without hooks, which tells of its calls */
    MAIL_LEAVE,  /* not among the chosen images, and there is no plan: to be left alone, without a word */
    MAIL_FAILED, /* there is no plan, for the `reason` */
};

/* What is not trained, or no longer, and why. */
enum mail_note_kind {
    NOTE_FILTERED,    /* the program was started under a seccomp filter, and is left alone */
    NOTE_FILTERS,     /* the program puts a seccomp filter on itself, and is left alone from then on */
    NOTE_STORE,       /* the process cannot make a store; detail: errno */
    NOTE_ROOM,        /* of an image: the store of the process has no room for what is known of it */
    NOTE_LIBC,        /* the program runs on another C library than glibc */
    NOTE_ENVIRONMENT, /* executed without LD_PRELOAD or FATHOM_PROBE in its environment */
    NOTE_RAISED,      /* executed with rights of its own: nothing can be preloaded */
    NOTE_STATIC,      /* executed, and linked statically */
    NOTE_FOREIGN,     /* executed, and no program for x86-64 */
    NOTE_UNREACHABLE, /* executed as another user, or with another root, so that it cannot open the session's
                         directory or the runtime */
    NOTE_SPACE,       /* trained, and its address space is limited, of which the runtime takes some */
    NOTE_KINDS
};

struct mail_note {
    uint32_t state; /* 0: free; 1: being written; 2: to be read by the server, who sets it to 0 */
    uint32_t kind;  /* enum mail_note_kind */
    int32_t detail;
    char path[244]; /* of the program, as it was executed; ends with 0 */
};
_Static_assert(sizeof(struct mail_note) == 256, "no padding");

struct mail {
    uint32_t magic;       /* 0 when the session has ended: nobody answers any more */
    uint32_t request_seq; /* futex */
    uint32_t reply_seq;   /* futex */
    uint32_t lock;    /* futex: 0, or the tid of the client that holds it. Broken by another client when no
                         such thread exists, or when it did not change for twice MAIL_PATIENCE */
    uint32_t status;  /* enum mail_status */
    char path[4096];  /* request: the image's file as in /proc/PID/maps (no links in it), ends with 0 */
    char plan[64];    /* answer: a file name in the session directory, ends with 0 */
    char reason[256]; /* answer: a text that continues "left out because", ends with 0 */
    uint32_t
        trainer; /* FUTEX_OWNER_DIED is set by the kernel when `fathom train` ends (pathmap/train/alive.h) */
    uint32_t filters;    /* seccomp filters of the trainer itself; a program with more has its own */
    uint32_t notes_lost; /* for want of a free one */
    struct mail_note notes[MAIL_NOTES];
};
_Static_assert(sizeof(struct mail) <= MAIL_SIZE, "fits the file");

#endif
