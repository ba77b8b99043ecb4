/*
 * verify_wire.h - the interface between the BPF program (verify.bpf.c) and the collector that loads it.
 */
#ifndef FATHOM_COLLECTOR_VERIFY_VERIFY_WIRE_H
#define FATHOM_COLLECTOR_VERIFY_VERIFY_WIRE_H

#include <linux/types.h>

#include "perfdata/wait_reason.h"

#define VERIFY_FOLLOWED       65536
#define VERIFY_PLACED         65536
#define VERIFY_THREADS        65536
#define VERIFY_FILES_MAX      65536
#define VERIFY_ROWS           4096 /* chunks of code: 32 MB */
#define VERIFY_KEYS           65536
#define VERIFY_BLOCKS         98304 /* of 24 words: 39 MB */
#define VERIFY_TOLD           65536
#define VERIFY_SHARES         4096 /* processes that recently used the budget */
#define VERIFY_SCRIPTS        4096 /* processes with a known interpreter */
#define VERIFY_SCRIPT_THREADS 16384
#define VERIFY_CHAINS         32768
#define VERIFY_CODES          16384

/* Bytes: if SP is further away from the thread's base, it is on another stack, and is not counted from that
 * base. */
#define VERIFY_OWN_STACK_MAX (1u << 30)

/* Byte offsets of these fields in the record of the tracepoint task:task_newtask, as far as we know. */
#define VERIFY_TASK_TID_AT   8
#define VERIFY_TASK_FLAGS_AT 32

/* The same for sched:sched_switch and sched:sched_wakeup. */
#define VERIFY_SWITCH_STATE_AT 32
#define VERIFY_SWITCH_NEXT_AT  56
#define VERIFY_WAKEUP_TID_AT   24 /* also in sched:sched_waking */

#define VERIFY_WAIT_EVERY                                                                                    \
    250000u /* ns: a waiting thread has about two waits reported in this time, on average */
#define VERIFY_WAIT_LONG 100000u /* ns: and each wait at least this long */

/* From the BPF program to the collector only, through the event of stacks. */
#define WAIT_RECORD_MAGIC 0x54494157u /* "WAIT" */
#define WAIT_SCALE_ONE    256u
enum wait_kind {
    WAIT_BEGINS = 1, /* follows its stack's record, if there is one */
    WAIT_ENDS,       /* the end of a wait with WAIT_BEGINS */
    WAIT_UNREAD,     /* the end of a long wait without WAIT_BEGINS */
};
struct wait_record {
    __u32 magic;
    __u8 kind, reason;
    __u16 zero;
    __u32 pid, tid;
    __u32 number; /* number among the thread's reported waits, from 1; the same in both records of a pair */
    /* BEGINS: how many waits this one stands for unless it is long, in units of 1 / WAIT_SCALE_ONE. */
    __u32 scale;
    __u64 ip, sp, bp;    /* the user's */
    __u64 lock;          /* wait_lock() */
    __u64 length, ready; /* ENDS, UNREAD: ns; ready: the last part of it, in which the thread was runnable */
    /* ENDS: totals of all waits of the thread that were not long, reported or not, up to this one, ns: for
     * this reason, and on the run queue */
    __u64 shorts, ready_shorts;
};

/* Likewise: who ended a reported wait, written before the woken thread gets a CPU. Of WAKER_THREAD, it
 * follows the record of the waker's stack. */
#define WAKER_RECORD_MAGIC 0x454b4157u /* "WAKE" */
struct waker_record {
    __u32 magic;
    __u8 kind; /* enum waker_kind (perfdata/wait_reason.h) */
    __u8 zero[3];
    __u32 pid, tid;    /* of the waker if WAKER_THREAD, else of the woken thread */
    __u32 woken, wait; /* TID, and number in struct wait_record */
    __u64 ip, sp, bp;  /* of the waker in user mode; only of WAKER_THREAD */
    char comm[16];     /* of the waker's thread; NUL-terminated */
};

/* Whose samples are examined. */
enum verify_follow {
    VERIFY_ALL,  /* all: the event is open only on what is recorded */
    VERIFY_PIDS, /* processes listed in the map `followed` */
    VERIFY_TIDS, /* threads listed there */
    /* all processes except the recorder; new threads are seen by the tracepoint task:task_newtask */
    VERIFY_EVERYONE,
    VERIFY_WITHIN, /* what the event is open on, except the recorder */
};

/* Offsets in the kernel's structs, from its BTF: where a task keeps the return addresses that return probes
 * replaced on its stack (kernel/events/uprobes.c), and its FS base. 0: unknown; all but the last are known
 * together. */
struct verify_hooks {
    __u32 task_mm, task_uprobes; /* in task_struct */
    __u32 instances;             /* in uprobe_task: the innermost one */
    __u32 mm_area, area_address; /* in mm_struct and xol_area: the address that is on the stack instead */
    __u32 stack, original, next; /* in return_instance */
    __u32 task_fs;               /* in task_struct */
};

/* The same for what identifies a process's files and mappings (include/linux/sched.h, mm_types.h, fs.h): all
 * are known together. */
struct verify_members {
    __u32 task_mm, task_leader, task_born, task_exec; /* in task_struct; born: when its leader started */
    __u32 mm_code, mm_stack; /* in mm_struct: pages of code, and the start of the stack */
    __u32 vma_start, vma_end, vma_page, vma_file; /* in vm_area_struct */
    __u32 file_inode;                             /* in file */
    __u32 inode_number, inode_generation, inode_super, inode_changed_s, inode_changed_ns; /* in inode */
    __u32 super_device;                                                                   /* in super_block */
};

/* Range of return addresses in the kernel's interrupt entries; `end`: behind the last one. */
struct verify_interrupts {
    __u64 first, end;
    __u64 timer, timer_end; /* the part of it for the CPU's own timer */
};

#define VERIFY_SWITCHES 1024 /* spaces */

/* Which arguments of an allocator's function have the number of bytes requested; passed to the program by the
 * probe's event. */
enum verify_allocator {
    VERIFY_NO_ALLOCATOR,
    VERIFY_SIZE_FIRST,
    VERIFY_SIZE_SECOND,
    VERIFY_SIZE_THIRD,
    VERIFY_SIZE_FIRST_SECOND, /* the product */
    VERIFY_SIZE_SECOND_THIRD,
    VERIFY_ALLOCATORS,
};

struct verify_config {
    __u64 ns_device, ns_inode; /* of our PID namespace; 0: the first one */
    __u64 started;             /* CLOCK_MONOTONIC, ns: start of the budget */
    __u64 burst;               /* stacks to read initially */
    __u64 rate;                /* and per second */
    __u64 wake;                /* ns: a new stack wakes the recorder at most once in this time */
    __u32 cpus;                /* number of possible CPUs */
    __u8 page_bits, compared;  /* stack_record.h */
    __u8 cpu_bits;             /* number of low bits of a number that identify the CPU */
    __u8 follow;               /* enum verify_follow */
    __u8 joins;                /* of a new stack, the known part around it is not copied */
    struct verify_hooks hooks;
    struct verify_members members;       /* for the program that finds files */
    struct verify_interrupts interrupts; /* for the program that reports wakers */
    __u32 self;     /* the recorder's process, if its samples are to be dropped; else 0 */
    __u32 one_user; /* only one user's processes are recorded: samples of others are dropped */
    __u32 user;     /* real user ID of that user */
    __u64 cgroup;   /* id of a cgroup: samples outside of it and its descendants are dropped; 0: none are */
    __u32 level;    /* number of groups above it */
    __u32 allocation_bytes; /* mean bytes between two samples of allocations */
};

struct verify_counts {
    __u64 copies;    /* stacks that were read, or could not be */
    __u64 crowded;   /* new stacks not read, as the ring was full */
    __u64 unwritten; /* stack records that did not fit into the ring */
    __u64 lost;      /* samples dropped because of that */
    __u64 returned;  /* precise samples whose function had returned before their stack could be read */
    __u64 woken;     /* private to the program: when the recorder was last woken, ns */
};

#endif
