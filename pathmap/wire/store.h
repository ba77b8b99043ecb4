/*
 * store.h - the store: the file in which the probe runtime keeps the call tree of one process.
 *
 * DIR/store-PID-N, one per process image (a forked child and an exec'ed program have their own). It is mapped
 * shared by the process, written by plain stores, and consistent at any moment: after kill -9 it has every
 * call up to then. Read by pathmap/train/harvest.c on the same machine: native integers. A sparse file: all
 * areas have fixed offsets, and only what is in use takes disk space.
 *
 *     0                    struct store_header
 *     STORE_IMAGES_AT      struct store_image[STORE_IMAGES_MAX]        [0, header.image_count) in use
 *     STORE_FUNCTIONS_AT   struct store_function[STORE_FUNCTIONS_MAX]  [1, header.function_count) in use
 *     STORE_STACKS_AT      struct store_stack, each followed by bytes  [0, header.stacks_used) bytes in use
 *     STORE_NODES_AT       struct store_node[]                         up to the end of the file
 *
 * Nodes are assigned to threads in chunks of STORE_CHUNK_NODES: those in [header.chunk_first,
 * header.chunk_count) may contain nodes, up to the end of the file (a chunk without disk space is a hole or
 * past the end). A node whose `function` is 0 is not in use. The other fields of a node are written before
 * its function. A forked child's file starts with a hole: its chunk_first is its parent's chunk_count.
 *
 * Each thread has its own tree (after its exit, another thread continues to use it): a root with function
 * STORE_ROOT and parent 0, whose children are the outermost functions of the thread's stacks. A path may be
 * in several trees, and in rare cases twice among one parent's children: the reader adds them up. Only
 * `parent` defines the tree. first_child and next_sibling are the writer's shortcuts; they may omit nodes.
 *
 * A node's weight is the number of its entries or, if asked for (recording.h), time: ticks of the time-stamp counter from an
 * entry to the thread's next one. If trees are limited, some weight is taken from all nodes of a tree from time to time,
 * or only some nodes have one, and nodes left with none are removed (purge.c, counters.c): a weight is then at most
 * header.bound below the true one (with Lazy Space Saving as much above it, and below it only where trees are added up), and
 * header.purged is what was taken in all. Removed nodes are used again.
 */
#ifndef FATHOM_PATHMAP_WIRE_STORE_H
#define FATHOM_PATHMAP_WIRE_STORE_H

#include <stddef.h>
#include <stdint.h>

#define STORE_MAGIC   0x4f545346u /* "FSTO" */
#define STORE_VERSION 9

#define STORE_IMAGES_MAX    1024u
#define STORE_FUNCTIONS_MAX (1u << 22)
#define STORE_NODES_MAX     (1u << 30)
#define STORE_CHUNK_NODES   2048u

#define STORE_IMAGES_AT    4096u
#define STORE_FUNCTIONS_AT (16ull << 20)
#define STORE_STACKS_AT    (80ull << 20)
#define STORE_STACKS_SIZE  (48ull << 20)
#define STORE_NODES_AT     (128ull << 20)

#define STORE_ROOT     UINT32_MAX /* function of a tree's root */
#define STORE_NO_IMAGE UINT32_MAX
#define STORE_PREFIX   "store-" /* of the file's name */

/* Counts are for this process only. Fields are written atomically, so their values are valid at any moment.
 */
struct store_header {
    uint32_t magic, version;
    uint32_t pid;
    uint32_t parent_pid; /* of the forking process if it was under training too; else 0 */
    uint32_t image_count, function_count;
    uint32_t chunk_first, chunk_count; /* see above; chunk_count may exceed what fits */
    uint32_t thread_count;             /* threads seen */
    uint32_t tree_count;               /* trees: the maximum number of simultaneous threads */
    uint32_t stack_count;              /* coroutine and alternate stacks seen */
    int32_t failure;  /* errno of the first chunk that could not be allocated (ENOSPC, EFBIG, ...); else 0 */
    uint64_t dropped; /* entries not counted because there was no room for a node: their path and those of
                         their callees are unknown */
    uint64_t dropped_depth; /* entries not counted because the shadow stack was full */
    uint64_t dropped_stack; /* entries not counted because their stack could not be identified or saved */
    uint64_t misplaced;     /* entries whose caller was found by the call site, not by depth alone */
    uint64_t stacks_used;   /* bytes assigned for stacks */
    uint64_t logs_cut;      /* threads whose log of calls (call_log.h) ends early because space ran out */
    uint64_t token;  /* the time-stamp counter at its creation: identifies the logs that belong to it */
    uint64_t purged; /* weight taken from nodes, which no node has; see above */
    uint64_t bound;  /* upper bound of one path's share of that */
    uint64_t bursts, burst_ns; /* number of bursts, and their total length; 0: all the time */
    uint64_t bursts_omitted; /* because they would have begun in a context known from others (recording.h) */
    uint8_t reserved[4096 - 144];
};
_Static_assert(sizeof(struct store_header) == 4096, "one page");

/* How an image's functions were hooked, and why not. Filled in when the runtime attaches. */
struct store_summary {
    uint32_t sleds, detours, pads, breakpoints; /* installed hooks of each kind */
    uint32_t left_out;                          /* functions without a hook in the plan */
    uint32_t failed;                            /* hooks in the plan that were not installed */
    char reason[256]; /* why the image is left out, or hooks failed; "": no problem */
};
_Static_assert(sizeof(struct store_summary) == 280, "no padding");

struct store_image {
    uint64_t bias;                           /* address in memory = image-virtual address + bias */
    uint64_t low, high;                      /* its addresses in memory, [low, high) */
    uint32_t first_function, function_count; /* its ids; 0, 0: none */
    uint32_t unloaded;                       /* 1 after dlclose */
    uint32_t build_id_size;                  /* 0: none */
    uint8_t build_id[32];
    struct store_summary summary;
    char path[4096]; /* ends with 0 */
    uint8_t reserved[8192 - 4448];
};
_Static_assert(sizeof(struct store_image) == 8192, "whole pages");
_Static_assert(STORE_IMAGES_AT + STORE_IMAGES_MAX * sizeof(struct store_image) <= STORE_FUNCTIONS_AT, "fits");

struct store_function {
    uint32_t image; /* STORE_NO_IMAGE: not in any image; vaddr is then the address in memory */
    uint32_t size;  /* bytes of code from vaddr; 0: unknown */
    uint64_t vaddr; /* the function's entry, image-virtual */
};
_Static_assert(sizeof(struct store_function) == 16, "no padding");
_Static_assert(STORE_FUNCTIONS_AT + STORE_FUNCTIONS_MAX * sizeof(struct store_function) <= STORE_STACKS_AT,
               "fits");
_Static_assert(STORE_STACKS_AT + STORE_STACKS_SIZE <= STORE_NODES_AT, "fits");

/* The stack contents when a node was created whose caller has no hook: everything from the callee's CFA up to
 * the frame that called the innermost hooked one, so that the frames between can be unwound. If the area is
 * full or the stack too large, a node has none. */
struct store_stack {
    uint32_t size;     /* of this and the bytes that follow, a multiple of 8; 0: the writer was killed */
    uint32_t node;     /* 0: incomplete */
    uint64_t cfa;      /* of the callee: the address of the bytes */
    uint64_t back, bp; /* its return address, and BP at its entry (0: unknown) */
    uint64_t own;      /* 1: a thread's original stack; 0: it may begin anywhere */
};
_Static_assert(sizeof(struct store_stack) == 40, "no padding");
#define STORE_STACK_MAX (64u << 10) /* bytes of one */

struct store_node {
    uint32_t parent;   /* node; 0 only for a root */
    uint32_t function; /* id; STORE_ROOT; 0: not in use */
    uint32_t
        height;    /* store_height(): bytes; above the parent's, except that a root's children may have any */
    uint32_t site; /* the return address in memory, low 32 bits; 0: unknown (a signal handler, a root) */
    uint32_t first_child, next_sibling; /* the writer's */
    uint64_t count;                     /* store_count(): its weight */
};
_Static_assert(sizeof(struct store_node) == 32, "the limit");

/* The writer's flag in `height`: called from a frame without a fixed size. */
#define STORE_OPEN (1u << 31)
/* A flag in `height`, which is a multiple of 8: a root's child that is the first signal handler on an alternate
 * stack; and the height that it gets (process/unwind.h: above it is a root that says so). */
#define STORE_SIGNAL        1u
#define STORE_SIGNAL_HEIGHT 16u

/* The writer's flags in `count`. */
#define STORE_WIDE  (1ull << 63) /* there is an index of the children (wide.c) */
#define STORE_HELD  (1ull << 62) /* stays in this purge (purge.c) */
#define STORE_FIRST (1ull << 61) /* a burst began in this context (first_context.c) */

static inline uint64_t store_count(const struct store_node *node)
{
    return node->count & ~(STORE_WIDE | STORE_HELD | STORE_FIRST);
}

static inline uint32_t store_height(const struct store_node *node)
{
    return node->height & ~(STORE_OPEN | STORE_SIGNAL);
}

#define STORE_CHUNK_SIZE (STORE_CHUNK_NODES * sizeof(struct store_node))

#endif
