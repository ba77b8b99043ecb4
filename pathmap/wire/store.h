/*
 * store.h - the store: the file in which the probe runtime keeps the call tree of one process.
 *
 * DIR/store-PID-N, one per process image (a forked child and an exec'ed program have their own). It is mapped
 * shared by the process, written by plain stores, and complete at any moment: after kill -9 it holds every
 * call up to then. Read by pathmap/train/harvest.c on the same machine: native integers. A file with holes: all
 * areas have a fixed place, and only what is in use takes space on the disk.
 *
 *     0                    struct store_header
 *     STORE_IMAGES_AT      struct store_image[STORE_IMAGES_MAX]        [0, header.image_count) in use
 *     STORE_FUNCTIONS_AT   struct store_function[STORE_FUNCTIONS_MAX]  [1, header.function_count) in use
 *     STORE_STACKS_AT      struct store_stack, each followed by bytes  [0, header.stacks_used) bytes in use
 *     STORE_NODES_AT       struct store_node[]                         up to the end of the file
 *
 * Nodes are handed out to threads in chunks of STORE_CHUNK_NODES: those of
 * [header.chunk_first, header.chunk_count) may hold nodes, as far as the file reaches (a chunk that the disk
 * had no room for is a hole or lies past the end). A node whose `function` is 0 is not in use. What else a
 * node holds was written before its function. A forked child's file starts with a hole: its chunk_first is
 * its parent's chunk_count.
 *
 * Each thread has a tree of its own (when it has exited, the tree goes on with another thread's calls): a
 * root with function STORE_ROOT and parent 0, whose children are the outermost functions of the thread's
 * stacks. A path of the program may be in several trees, and for rare reasons twice among one parent's
 * children: the reader adds up. `parent` alone makes the tree. first_child and next_sibling are the writer's
 * shortcuts; they may leave nodes out.
 */
#ifndef FATHOM_PATHMAP_WIRE_STORE_H
#define FATHOM_PATHMAP_WIRE_STORE_H

#include <stddef.h>
#include <stdint.h>

#define STORE_MAGIC   0x4f545346u /* "FSTO" */
#define STORE_VERSION 5

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

/* Counts are of this process alone. A field that changes is written at once, so any moment's value is
 * good. */
struct store_header {
    uint32_t magic, version;
    uint32_t pid;
    uint32_t parent_pid; /* of the process that forked and was under training too; else 0 */
    uint32_t image_count, function_count;
    uint32_t chunk_first, chunk_count; /* see above; chunk_count may be beyond what fits */
    uint32_t thread_count;             /* threads seen */
    uint32_t tree_count;               /* trees: threads at one time, at most */
    uint32_t stack_count;              /* coroutine and alternate stacks seen */
    int32_t failure;        /* errno of the first chunk that could not be had (ENOSPC, EFBIG, ...); else 0 */
    uint64_t dropped;       /* entries not counted because there was no room for a node: no path is known of
                               them or of what they called */
    uint64_t dropped_depth; /* entries not counted because the shadow stack was full */
    uint64_t dropped_stack; /* entries not counted because their stack could not be told or kept */
    uint64_t misplaced;     /* entries whose caller was found by the call site, not by depth alone */
    uint64_t stacks_used;   /* bytes of stacks handed out; may be beyond what fits */
    uint8_t reserved[4096 - 88];
};
_Static_assert(sizeof(struct store_header) == 4096, "one page");

/* How its functions are hooked, and what became of the image. Filled in by the runtime's attach half. */
struct store_summary {
    uint32_t sleds, detours, pads, breakpoints; /* hooks of each kind that are in place */
    uint32_t left_out;                          /* functions that the plan has no hook for */
    uint32_t failed;                            /* hooks that the plan has but that were not put in */
    char reason[256]; /* why the image is left out, or hooks failed; "" when all is well */
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
    uint32_t image; /* STORE_NO_IMAGE: an address that belongs to none; vaddr is then the address in memory */
    uint32_t size;  /* bytes of code from vaddr; 0: not known */
    uint64_t vaddr; /* the function's entry, image-virtual */
};
_Static_assert(sizeof(struct store_function) == 16, "no padding");
_Static_assert(STORE_FUNCTIONS_AT + STORE_FUNCTIONS_MAX * sizeof(struct store_function) <= STORE_STACKS_AT,
               "fits");
_Static_assert(STORE_STACKS_AT + STORE_STACKS_SIZE <= STORE_NODES_AT, "fits");

/* What lay on the stack when a node was made whose caller has no hook: all from the callee's CFA up to the
 * frame that called the innermost hooked one, so that the frames between can be unwound. Where the area or
 * the stack is too large, a node has none. */
struct store_stack {
    uint32_t size;     /* of this and the bytes that follow, a multiple of 8; 0: the writer was killed */
    uint32_t node;     /* 0: not complete */
    uint64_t cfa;      /* of the callee: the address of the bytes */
    uint64_t back, bp; /* its return address, and BP at its entry (0: not known) */
    uint64_t own;      /* 1: it is the one that a thread was started with; 0: it may begin anywhere */
};
_Static_assert(sizeof(struct store_stack) == 40, "no padding");
#define STORE_STACK_MAX (64u << 10) /* bytes of one */

struct store_node {
    uint32_t parent;   /* node; 0 for a root only */
    uint32_t function; /* id; STORE_ROOT; 0: not in use */
    uint32_t height;   /* store_height(): bytes; above the parent's, but any number below a root */
    uint32_t site;     /* the return address in memory, low 32 bits; 0: unknown (a signal handler, a root) */
    uint32_t first_child, next_sibling; /* the writer's */
    uint64_t count;                     /* store_count(): entries */
};
_Static_assert(sizeof(struct store_node) == 32, "the limit");

/* The writer's mark in `height`: called from a frame of no fixed size. */
#define STORE_OPEN (1u << 31)

/* The writer's mark in `count`: it has an index of the children (wide.c). */
#define STORE_WIDE (1ull << 63)

static inline uint64_t store_count(const struct store_node *node)
{
    return node->count & ~STORE_WIDE;
}

static inline uint32_t store_height(const struct store_node *node)
{
    return node->height & ~STORE_OPEN;
}

#define STORE_CHUNK_SIZE (STORE_CHUNK_NODES * sizeof(struct store_node))

#endif
