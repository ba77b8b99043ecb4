/* kept_stacks_data.h - the stacks in memory: kept_stacks.c adds to them, kept_stacks_file.c writes and reads them. */
#ifndef FATHOM_INFER_LIVE_KEPT_STACKS_DATA_H
#define FATHOM_INFER_LIVE_KEPT_STACKS_DATA_H

#include "base/hash.h"
#include "infer/live/kept_stacks.h"
#include "perfdata/stack_record.h"

#define NODES_MOST (1u << 15) /* words, and frames */
#define NODES_FULL UINT32_MAX
#define FILES_MOST 1024u      /* per program, over all its recordings */
#define DEPTH_MAX  (1u << 30) /* bytes: stacks further below their base are not stored */

/* A word of a stack, or a frame. A node's outer node has a smaller number; node 0 is outside of all. */
struct kept_node {
    uint32_t outer;
    uint32_t file;
    uint64_t offset; /* in the file; of a word that is an address in the stack, its height */
    int32_t height;
    uint32_t size;   /* of a word, as in struct stack_word */
    uint16_t length; /* of the chain from this node outwards: at most UNWIND_MAX_FRAMES */
    uint8_t marks;   /* of a frame: enum walked_mark */
    bool in_stack;   /* the word is an address in the stack */
};

struct kept_nodes {
    struct kept_node *at;
    uint32_t count, capacity;
    struct table *number_of; /* hash of a node -> its number; used only while stacks are added */
};

struct kept_stack {
    uint32_t word, frame; /* innermost nodes */
    uint32_t callee;      /* as in kept_stacks_at() */
    uint32_t depth;       /* base - SP */
    uint32_t code_before, code_size;
    uint64_t value; /* base minus the register's value */
    uint8_t reg;
    bool used; /* by a sample of this recording */
};

struct kept_stacks {
    struct names *paths;
    struct numbered_file *files;
    uint32_t file_count, file_capacity;
    uint32_t *numbers; /* by file */
    uint32_t number_capacity;
    struct kept_nodes words, frames;
    struct kept_stack *stacks;
    uint32_t stack_count, stack_capacity;
    bool changed;
    /* Indexes used only while stacks are added: by file number; by stack hash, + 1. */
    struct table *file_of, *stack_of;
    /* Scratch for the stack that was asked for last. */
    struct stack_word *scratch;
    size_t scratch_capacity;
    struct stack_place places[STACK_PLACED_MAX];
};

/* Adds a file, with a copy of its path. false: out of memory. */
bool kept_stacks_add_file(struct kept_stacks *kept, const struct numbered_file *file);

#endif
