/*
 * verify_wire.h - what the BPF program (verify.bpf.c) and the collector that loads it agree on.
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
#define VERIFY_SHARES         4096 /* processes that took of the budget lately */
#define VERIFY_SCRIPTS        4096 /* processes with an interpreter that is known */
#define VERIFY_SCRIPT_THREADS 16384
#define VERIFY_CHAINS         32768
#define VERIFY_CODES          16384

/* Bytes: further away from its thread's base, SP is on another stack, and is not counted from there. */
#define VERIFY_OWN_STACK_MAX (1u << 30)

/* Bytes: where the record of the tracepoint task:task_newtask has these fields, as far as we know. */
#define VERIFY_TASK_TID_AT   8
#define VERIFY_TASK_FLAGS_AT 32

/* Likewise, of sched:sched_switch and sched:sched_wakeup. */
#define VERIFY_SWITCH_STATE_AT 32
#define VERIFY_SWITCH_NEXT_AT  56
#define VERIFY_WAKEUP_TID_AT   24 /* and of sched:sched_waking */

#define VERIFY_WAIT_EVERY 250000u /* ns: in so long a thread that waits has some two waits told on average, */
#define VERIFY_WAIT_LONG  100000u /* and each one as long as this */

/* From the program to the collector alone, through the event of stacks. */
#define WAIT_RECORD_MAGIC 0x54494157u /* "WAIT" */
#define WAIT_SCALE_ONE    256u
enum wait_kind {
    WAIT_BEGINS = 1, /* behind its stack's record, if there is one */
    WAIT_ENDS,       /* one whose beginning was told */
    WAIT_UNREAD,     /* one that was not, ends, and was long */
};
struct wait_record {
    __u32 magic;
    __u8 kind, reason;
    __u16 zero;
    __u32 pid, tid;
    __u32 number; /* of the thread's waits that were told, from 1 on: pairs have the same */
    __u32
        scale; /* BEGINS: how many waits this one stands for, if it is not long, in parts of WAIT_SCALE_ONE */
    __u64 ip, sp, bp;    /* the user's */
    __u64 lock;          /* wait_lock() */
    __u64 length, ready; /* ENDS, UNREAD: ns; of these the last ones, in which it could run */
    /* ENDS: of all of the thread's that were not long up to this one, whether they were told or not, ns: for this reason, and on the run queue */
    __u64 shorts, ready_shorts;
};

/* Likewise: who ended a wait that was told, or is to be, before it gets a CPU. Behind the record of the waker's stack, of WAKER_THREAD. */
#define WAKER_RECORD_MAGIC 0x454b4157u /* "WAKE" */
struct waker_record {
    __u32 magic;
    __u8 kind; /* enum waker_kind (perfdata/wait_reason.h) */
    __u8 zero[3];
    __u32 pid, tid;    /* of WAKER_THREAD the waker's, else the woken one's */
    __u32 woken, wait; /* thread, and struct wait_record's number */
    __u64 ip, sp, bp;  /* the waker's, in user mode; of WAKER_THREAD */
    char comm[16];     /* of its thread; ends with a NUL */
};

/* Whose samples are looked at. */
enum verify_follow {
    VERIFY_ALL,  /* the event is open on what is recorded only */
    VERIFY_PIDS, /* processes with numbers in the map `followed` */
    VERIFY_TIDS, /* threads, likewise */
    VERIFY_EVERYONE, /* all processes but the recorder; threads that start are noted as the tracepoint task:task_newtask lets */
    VERIFY_WITHIN, /* what the event is open on, but the recorder */
};

/* Where a task keeps the return addresses that the kernel replaced on its stack, for probes of returns (kernel/events/uprobes.c), and
 * its FS base: offsets in its structs, from the kernel's BTF. 0: not known; all but the last are known together. */
struct verify_hooks {
    __u32 task_mm, task_uprobes; /* in task_struct */
    __u32 instances;             /* in uprobe_task: the innermost one */
    __u32 mm_area, area_address; /* in mm_struct and xol_area: what is on the stack instead */
    __u32 stack, original, next; /* in return_instance */
    __u32 task_fs;               /* in task_struct */
};

/* Where its structs have what tells a process's files and mappings (include/linux/sched.h, mm_types.h, fs.h), likewise: all are known
 * together. */
struct verify_members {
    __u32 task_mm, task_leader, task_born, task_exec; /* in task_struct; born: when its leader started */
    __u32 mm_code, mm_stack;                      /* in mm_struct: pages of code, and where the stack began */
    __u32 vma_start, vma_end, vma_page, vma_file; /* in vm_area_struct */
    __u32 file_inode;                             /* in file */
    __u32 inode_number, inode_generation, inode_super, inode_changed_s, inode_changed_ns; /* in inode */
    __u32 super_device;                                                                   /* in super_block */
};

/* Return addresses in the kernel's entries of interrupts; `end`: behind the last one. */
struct verify_interrupts {
    __u64 first, end;
    __u64 timer, timer_end; /* among them, that of the CPU's own timer */
};

#define VERIFY_SWITCHES 1024 /* spaces */

/* What a probe's event has the program told: where a function of an allocator has the bytes that it is asked for, among its arguments. */
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
    __u64 started;             /* CLOCK_MONOTONIC, ns: the budget counts from here */
    __u64 burst;               /* stacks to read at first */
    __u64 rate;                /* and per second */
    __u64 wake;                /* ns: in so long a new stack wakes the recorder once */
    __u32 cpus;                /* possible ones */
    __u8 page_bits, compared;  /* stack_record.h */
    __u8 cpu_bits;             /* the low bits of a number tell the CPU */
    __u8 follow;               /* enum verify_follow */
    __u8 joins;                /* of a new stack, what is around a known one is not copied */
    struct verify_hooks hooks;
    struct verify_members members;       /* for the program that finds files */
    struct verify_interrupts interrupts; /* for the program that tells wakers */
    __u32 self;                          /* the recorder's process, if it is to be left out; else 0 */
    __u32 one_user; /* whether only processes of one are recorded: samples of others are left out */
    __u32 user;     /* the real user ID of that */
    __u64 cgroup;   /* a number: samples that are neither in it nor below it are left out; 0: none are */
    __u32 level;    /* how many groups are above it */
    __u32 allocation_bytes; /* the mean between two samples of allocations */
};

struct verify_counts {
    __u64 copies;    /* stacks read, or tried to */
    __u64 crowded;   /* new ones that were not read, as the ring had no room for them */
    __u64 unwritten; /* stack records that did not fit into the ring */
    __u64 lost;      /* samples left out for that */
    __u64 returned;  /* precise samples whose function had returned when their stack could be read */
    __u64 woken;     /* the program's own: when the recorder was woken last, ns */
};

#endif
