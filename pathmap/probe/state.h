/*
 * state.h - the state of the probe runtime's core: stacks and threads of the process.
 *
 * A thread is one that has run a hooked function; it owns a tree in the store. A stack is a range of
 * addresses with a base and a shadow stack: the frames that are active there, or have returned without being
 * noticed yet. It belongs to the thread that last ran on it: nodes on its shadow stack are in that thread's
 * tree.
 *
 * Who may write what:
 *   - a thread's struct and the stacks that belong to it: the thread, by single stores that keep everything
 * valid in between, as a signal handler may interrupt at any instruction and pass through here;
 *   - everything else, and transferring a stack to another thread: under the lock, with signals blocked.
 *
 * `limit` is in memory that is zeroed in a forked child (MADV_WIPEONFORK): no entry is recorded there until
 * the child has its own store.
 */
#ifndef FATHOM_PATHMAP_PROBE_STATE_H
#define FATHOM_PATHMAP_PROBE_STATE_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/least.h"
#include "pathmap/probe/core.h"
#include "pathmap/probe/layout.h"
#include "base/raw.h"
#include "pathmap/wire/plan.h"
#include "pathmap/wire/store.h"

#define STACKS_MAX   (1u << 18)
#define THREADS_MAX  (1u << 15)
#define THREADS_FEW  (1u << 10)  /* if the address space is limited */
#define THREAD_SITES 256u        /* slots of a thread's cache of call sites; a power of two */
#define THREAD_NEAR  8u          /* stacks that a thread finds again without the lock */
#define RESERVE_MAX  (64u << 20) /* most bytes of address space for one shadow stack */
#define RESERVE_FEW  (4u << 20)  /* the same if the address space is limited */
#define HEIGHT_MAX   ((1u << 31) - 8)

/* node 0: the store was full. */
struct frame {
    uint32_t height;
    uint32_t node;
};

enum stack_kind {
    STACK_FREE, /* not in use */
    STACK_OWN,  /* a thread's original stack */
    STACK_AUX   /* a coroutine's, an alternate signal stack */
};

struct stack {
    uint64_t base; /* heights count from here; 0: not yet known. At most high */
    struct frame *top;
    uint64_t *limit;       /* heights from 8 to below limit + 8 are on this stack; 0: take the slow path */
    struct thread *thread; /* owner; NULL: none yet */
    uint64_t low, high;    /* CFAs in (low, high] are on it */
    struct frame *frames;  /* frames[0] is the root's and has height 0 */
    uint64_t reserve;      /* bytes reserved at frames */
    uint32_t kind;
    bool stale; /* entries were not seen for a while: the frames must be found again (resync.c) */
    struct stack *next_free;
};

/* State of a thread's log of calls; see call_log.c. */
struct thread_log {
    uint64_t from;    /* where the file is mapped; 0: nowhere yet */
    uint64_t at, end; /* the next event; the end of the allocated disk space */
    uint64_t size;    /* of the file, bytes */
    bool failed;      /* no more events */
};

/* core_enter() is active on this stack, for an entry with this CFA. NULL: it is not. */
struct entering {
    const struct stack *stack;
    uint64_t cfa;
};

/* State of a thread's counter; see counters.c. */
struct counters {
    uint64_t bound;          /* current value of header.bound */
    uint32_t *nodes;         /* Lazy Space Saving: the monitored nodes, by slot */
    uint32_t used;           /* slots; Lossy Counting: monitored nodes since weights were last dropped */
    struct summary *summary; /* Bucket Space Saving; NULL: not made yet */
    struct least least;      /* all counters use its random numbers */
    uint64_t rate, due;      /* Sticky Sampling; due: the weight at which the rate doubles; 0: not set yet */
};

struct thread {
    struct stack *current; /* where the last entry was; never NULL */
    uint64_t total;        /* weight of all entries; unused if all nodes have weights */
    struct stack *own;     /* NULL: not seen yet */
    struct stack *near[THREAD_NEAR];
    uint32_t near_next;
    uint32_t tid;           /* 0: not in use */
    uint32_t root;          /* node; 0: no tree yet */
    uint64_t nodes;         /* free nodes: the next one in the lower half, the end in the upper half */
    struct stack *ordering; /* a list of children is being reordered by an entry on this stack ... */
    uint64_t ordering_cfa;  /* ... whose CFA is this */
    struct thread_log log;
    uint64_t last_ticks;  /* the time-stamp counter at the last entry, or when the thread was first seen */
    uint32_t last_node;   /* of that entry, if ticks are weighed; 0: unknown */
    uint32_t made, limit; /* nodes in its tree, and their number at which the next purge is due */
    uint64_t
        removed; /* nodes to reuse: the first in the lower half; the upper half changes with each access */
    struct counters counters;
    struct entering entering;
    uint32_t sites_epoch;
    struct thread_site {
        uint64_t check, function_cfa, bp;
    } sites[THREAD_SITES]; /* see functions.c */
};

struct core {
    bool started;
    uint32_t lock;
    uint32_t pid;
    uint64_t *limits; /* STACKS_MAX; limits[0] is 1 except in a forked child that has not been handled yet */
    struct stack *stacks;
    uint32_t stack_count;
    struct stack *free_stacks;
    struct stack **by_low; /* the STACK_AUX ones, by address */
    uint32_t aux_count;
    struct thread *threads;
    uint32_t thread_count, thread_most, thread_probe;
    uint64_t reserve_most;       /* of a shadow stack, bytes */
    uint64_t space;              /* the limit of the address space; UINT64_MAX: none */
    struct store_header *header; /* the store's mapping */
    struct store_image *images;
    struct store_function *functions;
    uint64_t store_size;
    struct recording recording;
    const uint32_t *trainer;      /* core_watch(); NULL: not set */
    void (*tell)(int error);      /* core_tell(), or NULL */
    uint32_t main_function;       /* _start; 0: not set */
    uint64_t libc_low, libc_high; /* the code of the C library, 0: not found */
    uint64_t thread_returns[4];   /* return addresses of functions called by clone3 or clone */
    uint32_t thread_return_count;
    bool thread_returns_sought;
    uint64_t restorers[4]; /* return addresses of signal handlers seen */
    uint32_t
        sites_epoch; /* counts loaded and unloaded images, after which call sites must be looked up again */
    char directory[3500];
};

/* One per process, which entry.S can access without a context. */
extern struct core core __attribute__((visibility("hidden")));
extern struct store_node *probe_nodes __attribute__((visibility("hidden")));
/* A cache of children by parent, function, height and site, for nodes with many of them: 256 KB,
 * direct-mapped, holding those last added or searched for. Entries are verified against the node itself, so
 * that unsynchronised stores by any thread and stale entries do no harm. 0: none. */
extern uint64_t probe_edges[1 << EDGE_BITS] __attribute__((visibility("hidden")));
/* How much an entry counts: 1, unless bursts are adaptive (first_context.c). */
extern uint64_t probe_weight __attribute__((visibility("hidden")));
extern struct stack core_no_stack __attribute__((visibility("hidden"))); /* empty */
extern __thread struct thread *probe_thread __attribute__((visibility("hidden"), tls_model("initial-exec")));

_Static_assert(offsetof(struct thread, current) == THREAD_CURRENT, "entry.S");
_Static_assert(offsetof(struct thread, total) == THREAD_TOTAL, "entry.S");
_Static_assert(offsetof(struct stack, thread) == STACK_THREAD, "entry.S");
_Static_assert(STORE_FIRST >> (64 - NODE_FLAGS) == 1, "entry.S");
_Static_assert(offsetof(struct stack, base) == STACK_BASE, "entry.S");
_Static_assert(offsetof(struct stack, top) == STACK_TOP, "entry.S");
_Static_assert(offsetof(struct stack, limit) == STACK_LIMIT, "entry.S");
_Static_assert(offsetof(struct frame, height) == FRAME_HEIGHT && offsetof(struct frame, node) == FRAME_NODE &&
                   sizeof(struct frame) == FRAME_SIZE,
               "entry.S");
_Static_assert(offsetof(struct store_node, parent) == NODE_PARENT, "entry.S");
_Static_assert(offsetof(struct store_node, function) == NODE_FUNCTION, "entry.S");
_Static_assert(offsetof(struct store_node, height) == NODE_HEIGHT, "entry.S");
_Static_assert(offsetof(struct store_node, site) == NODE_SITE, "entry.S");
_Static_assert(offsetof(struct store_node, first_child) == NODE_FIRST_CHILD, "entry.S");
_Static_assert(offsetof(struct store_node, next_sibling) == NODE_NEXT_SIBLING, "entry.S");
_Static_assert(offsetof(struct store_node, count) == NODE_COUNT, "entry.S");
_Static_assert(sizeof(struct store_node) == 1u << NODE_SHIFT, "entry.S");

#define BARRIER() __asm__ volatile("" : : : "memory")

/* Takes the lock, with all signals blocked; returns the thread's own mask. In a forked child it first gives
 * the child its own store; core.started may have become false. */
uint64_t core_lock(void);
void core_unlock(uint64_t mask);
/* Reserves memory that is only allocated when written to; NULL: none. */
void *core_reserve(size_t size);

/* Where a child is found in probe_edges and by wide.c. height: as in nodes, with STORE_OPEN. */
static inline uint64_t edge_of(uint32_t parent, uint32_t function, uint32_t height, uint32_t site)
{
    return ((function + (uint64_t)parent * EDGE_PARENT) ^ ((uint64_t)site << 32 | height)) * EDGE_SPREAD;
}

/* nodes.c */
/* The child of parent, 0: there is none. height: as in nodes, with STORE_OPEN. */
uint32_t node_find(struct stack *stack, uint64_t cfa, uint32_t parent, uint32_t function, uint32_t height,
                   uint32_t site);
/* Makes a node, with a count of 0; 0: no room. */
uint32_t node_make(struct thread *thread, uint32_t parent, uint32_t function, uint32_t height, uint32_t site);
/* In a forked child: forgets the cached nodes, which are in another store. */
void nodes_forget(void);
/* Finds or makes the shadow stack's path in the thread's tree; `old` are the nodes that its frames refer to.
 */
void nodes_adopt(struct stack *stack, struct thread *thread, const struct store_node *old);

/* wide.c: an index of the children of nodes with many, by their edges. */
/* Whether all children of this node are in the index. */
bool wide_has(const struct store_node *parent);
/* The children that may have this edge, one per call (start with a cursor of zeros); 0 after the last. */
struct wide_cursor {
    uint32_t table, steps;
};
uint32_t wide_find(uint64_t edge, struct wide_cursor *cursor);
/* false: out of memory. wide_has() is then false for every node from now on. */
bool wide_put(uint64_t edge, uint32_t child);
/* All of its children have been added. */
void wide_mark(struct store_node *parent);
/* In a forked child. */
void wide_forget(void);

/* store.c */
/* Creates the file and maps it; the address determines header, images, functions and nodes. Or a negative
 * errno. */
long store_make(uint32_t pid, uint64_t *size);
void store_use(uint8_t *mapping);       /* makes the core use it */
bool store_room(void *at, size_t size); /* false: the disk is full. `at` is in a shared mapping of a file */
/* Creates the file PREFIX-NUMBER-N in the session's directory with the first free N: a descriptor or a negative errno. */
int store_open_new(const char *prefix, uint32_t number);
#define STORE_NO_CHUNK UINT32_MAX
/* The first of STORE_CHUNK_NODES new nodes; STORE_NO_CHUNK: no room. */
uint32_t store_chunk(void);

/* saved_stacks.c */
/* Saves the stack above a new frame of that node, up to the frame that called `top`, which a tail call may have
 * replaced. return_slot, frame_pointer: of the new frame, as in core_enter(). */
void saved_stack_keep(const struct stack *stack, const struct frame *top, uint32_t node,
                      const uint64_t *return_slot, uint64_t frame_pointer);
/* Frees the space of stacks whose nodes were removed; call it before any of these nodes is used again. Lock held. */
void saved_stacks_reclaim(void);
/* In a forked child. */
void saved_stacks_forget(void);

/* purge.c */
/* Removes nodes of little weight from the calling thread's tree if it has reached its limit. Not while an entry
 * that a signal handler interrupted is being counted. */
void purge_if_due(struct thread *thread);
/* Subtracts from each weight what `less` returns; removes nodes without weight, except `keep`. The same
 * restriction applies. */
void purge_weights(struct thread *thread, uint32_t keep,
                   uint64_t (*less)(struct thread *thread, uint32_t node, uint64_t has));

/* counters.c */
/* false: no memory. */
bool counters_start(void);
/* Counts an entry at a node, if the recording has a counter. nested: an entry that a signal handler interrupted
 * is being counted. */
void counters_add(struct thread *thread, uint32_t node, uint64_t weight, bool nested);
/* In a forked child: the thread has no tree. */
void counters_forget(struct thread *thread);
/* Raises the bound: a path that is not monitored may have this weight. */
void counters_bound(struct counters *c, uint64_t bound);

/* summary.c */
/* false: no memory. */
bool summary_start(void);
/* Counts an entry at a node of the thread's tree. false: out of memory. */
bool summary_add(struct counters *c, uint32_t node, uint64_t weight);

/* call_log.c */
/* Adds a call to the calling thread's log. */
void call_log_add(struct thread *thread, uint32_t node);
/* In a forked child: the log is the parent's. */
void call_log_forget(struct thread *thread);

/* Ticks of the time-stamp counter since the last call of this. */
static inline uint64_t ticks_passed(struct thread *thread)
{
    uint64_t now = raw_ticks(), passed = now - thread->last_ticks;
    if (passed >> 63)
        return 0; /* a signal handler was here since */
    thread->last_ticks = now;
    return passed;
}

/* Whether the trainer has ended, so that the store is no longer needed. */
static inline bool trainer_is_over(void)
{
    uint32_t word = core.trainer ? __atomic_load_n(core.trainer, __ATOMIC_ACQUIRE) : 1;
    return word == 0 || (word & FUTEX_OWNER_DIED);
}

/* functions.c */
/* The caller at a call site. */
struct caller {
    uint32_t function; /* 0: unknown, or without a hook */
    int32_t cfa, bp;   /* as in struct plan_call */
};
/* thread: the calling one, NULL before its first entry. */
struct caller caller_at(struct thread *thread, uint64_t site);

/* calling.c */
#define UNHOOKED_MAX 256 /* most unhooked frames to follow from a call */
/* Where a call comes from. */
struct calling {
    uint32_t function; /* as in struct caller */
    bool open;         /* the distance between the frames is not fixed */
    uint64_t cfa, bp;  /* of the calling frame: where it starts, and BP at its function's entry; 0: unknown */
};
/* slot: of the return address. frame_pointer: BP at the callee's entry, or 0. */
struct calling calling_frame(const struct stack *stack, const uint64_t *slot, uint64_t frame_pointer);

/* first_context.c */
/* Reports the context of the calling thread, whose entries are seen again: that of a node; 0: unknown. */
void first_context(uint32_t node);

/* resync.c */
/* Finds the frames of a stale stack, starting at the return address of its innermost call. */
void stack_resync(struct stack *stack, const uint64_t *slot, uint64_t frame_pointer);

/* The image that an address in memory belongs to; UINT32_MAX: none. */
uint32_t core_image_at(uint64_t address, uint64_t *bias);
/* Whether the function is one of those that the image's plan hooks. */
bool core_is_hooked(uint32_t image, uint64_t vaddr);
/* Whether the function has such a hook, unlike those of core_single_function(). */
bool core_has_hook(uint32_t id);
/* An id for a single function; image may be STORE_NO_IMAGE. 0: none left. Lock held. */
uint32_t core_single_function(uint32_t image, uint64_t vaddr);

/* cyg.c */
/* Forgets the functions of an unloaded image. */
void cyg_forget(uint64_t low, uint64_t high);

/* stack.c */
/* The stack that the calling thread is on; NULL: cannot be determined. signal: the frame is a signal
 * handler's, whose CFA is the address of its ucontext. */
struct stack *stack_here(uint64_t cfa, bool signal);
/* Restarts the stack: cfa is its base, and it has no frames. */
void stack_restart(struct stack *stack, uint64_t cfa);
void stack_set_limit(struct stack *stack);
/* A new stack with room for frames; NULL: out of memory. Lock held. */
struct stack *stack_new(enum stack_kind kind, uint64_t low, uint64_t high);
void stack_free(struct stack *stack); /* the same */
void stack_reset(struct stack *stack, uint64_t low, uint64_t high);
bool address_readable(uint64_t address);

/* thread.c */
/* The calling thread's state, created at its first entry. NULL: too many. Lock held. */
struct thread *thread_here(void);
/* The base of the stack that the thread pointer is on, searched for upwards from cfa; 0: none. Lock held. */
uint64_t thread_base(uint64_t cfa, uint64_t pointer);
static inline uint64_t thread_pointer(void)
{
    uint64_t pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer)); /* the TCB contains its own address */
    return pointer;
}

/* fork.c */
static inline bool fork_unseen(void)
{
    return core.started && !*(volatile uint64_t *)core.limits;
}
/* In the child, with the lock inherited. */
void fork_child(void);

/* sigreturn.c */
/* Whether a function that returns there is a signal handler. */
bool signal_return(uint64_t site);
bool signal_return_known(uint64_t site);

static inline uint64_t slot_of(const struct stack *stack, const struct frame *frame)
{
    return stack->base - frame->height - 8;
}

static inline bool stack_holds(const struct stack *stack, uint64_t cfa)
{
    uint64_t limit = *(volatile uint64_t *)stack->limit;
    return limit && stack->base - cfa < limit + 8;
}

#endif
