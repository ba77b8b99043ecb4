/*
 * callers.h - who can have called a function that stands at a height: the callers of one of the automaton's
 * states, with their probabilities (automaton.h tells how they are mixed).
 */
#ifndef FATHOM_INFER_CALLERS_H
#define FATHOM_INFER_CALLERS_H

#include "infer/reach.h"

/* A caller that only the binary shows is left out when it is less probable than LEAST, of a function that
 * training never saw when it also has less than UNEVEN of what such callers have on average. */
#define CALLERS_LEAST    1e-4
#define CALLERS_UNEVEN   0.1
#define CALLERS_ANY_NEXT UINT32_MAX
#define CALLERS_OPEN     64u /* rises tried of an open frame that training never saw */

struct caller {
    uint32_t function; /* or GRAPH_ROOT */
    uint32_t height;   /* of the caller's frame; 0 for the root */
    uint32_t edge;     /* number in the graph: the most probable of those that lead there */
    double probability;
};

/* Filled anew by each question; zeroed at first, callers_free() at last. */
struct callers {
    struct caller *items; /* each (function, height) once */
    uint32_t count, room;
};

struct callers_question {
    uint32_t function;
    uint32_t next; /* what it called, GRAPH_LEAF, or CALLERS_ANY_NEXT: not known */
    uint32_t height;
    bool last_resort; /* those through pointers and in open frames, instead of all others */
};

/* 0 or -ENOMEM. */
int callers_find(struct callers *callers, const struct graph *graph, const struct callers_question *question);
/* Leaves out those that no path leads to. */
void callers_reduce(struct callers *callers, const struct reach *reach);
/* Keeps the `most` most probable. */
void callers_narrow(struct callers *callers, uint32_t most);
void callers_free(struct callers *callers);

#endif
