/*
 * wait_reason.h - why a thread is not on a CPU. Samples of the event "off-cpu" (collector/waits.h) are such times; their raw
 * data has the reason (u32, in place of the CPU) and for a lock its address. A sample whose period is 0 does not count: it
 * comes with the stack record of a wait that will end later. Also compiled for the BPF target.
 */
#ifndef FATHOM_PERFDATA_WAIT_REASON_H
#define FATHOM_PERFDATA_WAIT_REASON_H

#include <linux/types.h>

#define EVENT_WAITS_NAME "off-cpu"
#define EVENT_WAITS_MARK 0x54494157u /* attr.config1, which the kernel ignores for a clock */

/* An event that readers make from the waits and the samples of a clock recorded with them: all of the threads' lifetime. */
#define EVENT_WALL_NAME "wall-clock"
/* attr.config2 of the waits: */
#define EVENT_WALL_REPORTED 1u /* it is reported if no event is named */
#define EVENT_WALL_MARK     2u /* this is that event */

/* Who ended waits: samples of another event, with their paths; and an event with the waits and these paths, which readers make
 * from both (wakers.h). */
#define EVENT_WAKEUPS_NAME "wakeups"
#define EVENT_WAKEUPS_MARK 0x454b4157u /* attr.config1 of a dummy */
#define EVENT_WAKERS_NAME  "wakers"
#define EVENT_WAKERS_MARK  3u /* attr.config2 of waits: this is that event */

enum waker_kind {
    WAKER_THREAD = 1, /* a recorded thread: the sample is its own */
    WAKER_OTHER,      /* a thread of a process that is not recorded */
    WAKER_KERNEL,     /* a thread of the kernel */
    WAKER_INTERRUPT,  /* an interrupt of a device, or from another CPU, on whatever thread */
    WAKER_TIMER,      /* an interrupt of the timer */
};

#define WAIT_LASTS      0xfffffffeu /* a wait's number: it has not ended yet, so nobody has ended it */
#define WAIT_UNNUMBERED 0xffffffffu /* a wait's number: its stack was not read, nor who ended it */

/* Raw data of samples of both. Waits may have only `reason`. */
struct wait_raw {
    __u32 reason;
    /* counts the thread's waits: with the thread, identifies the two samples that belong together */
    __u32 number;
    __u32 zero;
};
struct waker_raw {
    __u32 kind, woken, number; /* the woken thread's ID, and its wait */
    char name[16];             /* of WAKER_OTHER and WAKER_KERNEL, the thread's; ends with a NUL */
};

enum wait_reason {
    WAIT_RUNNABLE = 1, /* another thread has the CPU, since it took it or since this one was woken */
    WAIT_LOCK,         /* in futex */
    WAIT_SLEEP,        /* in nanosleep */
    WAIT_POLL,         /* in poll, select, epoll, io_uring_enter */
    WAIT_DISK,         /* in another system call that no signal ends: mostly reading from a disk */
    WAIT_CALL,         /* in another system call: reading from a pipe or socket, waiting for a child */
    WAIT_FAULT,        /* for a page of memory */
    WAIT_STOPPED,      /* by a signal, or a debugger */
};
#define WAIT_REASONS 8u /* a power of two, by which the BPF program bounds its tables */
_Static_assert(WAIT_STOPPED == WAIT_REASONS, "all of them are counted");

/* state: bits of task_struct's state (include/linux/sched.h): 1 is waiting, 2 waiting without signals, 4 and 8 stopped; call:
 * the system call of x86-64; -1: it is in none. */
static inline enum wait_reason wait_reason(__u64 state, __s64 call)
{
    if (state & 12)
        return WAIT_STOPPED;
    if (!(state & 3))
        return WAIT_RUNNABLE;
    switch (call) {
    case 202: /* futex */
    case 449: /* futex_waitv */
    case 455: /* futex_wait */
        return WAIT_LOCK;
    case 35:  /* nanosleep */
    case 230: /* clock_nanosleep */
        return WAIT_SLEEP;
    case 7:   /* poll */
    case 23:  /* select */
    case 232: /* epoll_wait */
    case 270: /* pselect6 */
    case 271: /* ppoll */
    case 281: /* epoll_pwait */
    case 426: /* io_uring_enter */
    case 441: /* epoll_pwait2 */
        return WAIT_POLL;
    default:
        return call < 0 ? WAIT_FAULT : state & 2 ? WAIT_DISK : WAIT_CALL;
    }
}

/* For WAIT_LOCK: the address of the word in user space that is waited for, from the call and its first argument; 0: there is
 * not exactly one. */
static inline __u64 wait_lock(enum wait_reason reason, __s64 call, __u64 first)
{
    return reason == WAIT_LOCK && call != 449 ? first : 0; /* futex_waitv waits for several */
}

/* "[lock]"; any number. */
static inline const char *wait_reason_label(unsigned reason)
{
    switch (reason) {
    case WAIT_RUNNABLE:
        return "[run queue]";
    case WAIT_LOCK:
        return "[lock]";
    case WAIT_SLEEP:
        return "[sleep]";
    case WAIT_POLL:
        return "[poll]";
    case WAIT_DISK:
        return "[disk]";
    case WAIT_FAULT:
        return "[page fault]";
    case WAIT_STOPPED:
        return "[stopped]";
    default:
        return "[system call]";
    }
}

#endif
