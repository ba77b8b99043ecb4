/*
 * layout.h - offsets of the fields that entry.S uses; state.h asserts them.
 */
#ifndef FATHOM_PATHMAP_PROBE_LAYOUT_H
#define FATHOM_PATHMAP_PROBE_LAYOUT_H

#define THREAD_CURRENT 0
#define THREAD_TOTAL   8

#define STACK_BASE   0
#define STACK_TOP    8
#define STACK_LIMIT  16
#define STACK_THREAD 24

#define FRAME_HEIGHT 0
#define FRAME_NODE   4
#define FRAME_SIZE   8

#define NODE_PARENT       0
#define NODE_FUNCTION     4
#define NODE_HEIGHT       8 /* followed by the site */
#define NODE_SITE         12
#define NODE_FIRST_CHILD  16
#define NODE_NEXT_SIBLING 20
#define NODE_COUNT        24
#define NODE_FLAGS        3 /* the upper bits of the count that are not */
#define NODE_SHIFT        5 /* 32 bytes */

#define PROBE_RED_ZONE 128 /* bytes below SP that a function may use (psABI, 3.2.2) */

#define ENTRY_SIBLINGS 8 /* children that entry.S checks before it leaves the search to core_enter() */

/* Where probe_edges has a child: ((function + parent * EDGE_PARENT) ^ (site << 32 | height)) * EDGE_SPREAD,
 * upper EDGE_BITS bits; the lower 32 bits are stored there, below the child's number. */
#define EDGE_PARENT 0x5bd1e995
#define EDGE_SPREAD 0x9e3779b97f4a7c15
#define EDGE_BITS   15

#endif
