/* bodies.c - see bodies.h. */
#include "disambig/bodies.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

struct body {
    uint32_t function, copy;
};

struct bodies {
    uint32_t functions;
    struct body *items; /* those numbered behind the functions */
    uint32_t count, capacity;
    uint32_t *copies;    /* by function: additional copies */
    struct table *calls; /* (caller, function) -> callee */
};

struct bodies *bodies_new(uint32_t functions)
{
    struct bodies *bodies = calloc(1, sizeof *bodies);
    if (!bodies)
        return NULL;
    bodies->functions = functions;
    bodies->copies = calloc(functions + 1ul, sizeof *bodies->copies);
    bodies->calls = table_new();
    if (bodies->copies && bodies->calls)
        return bodies;
    bodies_free(bodies);
    return NULL;
}

struct bodies *bodies_again(const struct bodies *bodies)
{
    struct bodies *again = bodies_new(bodies->functions);
    uint64_t call, callee, *to;
    size_t cursor = 0;
    bool good = again && vec_reserve(again->items, 0, again->capacity, bodies->count);
    while (good && table_next(bodies->calls, &cursor, &call, &callee))
        if ((good = (to = table_put(again->calls, call, NULL)) != NULL))
            *to = callee;
    if (!good) {
        bodies_free(again);
        return NULL;
    }
    if (bodies->count)
        memcpy(again->items, bodies->items, bodies->count * sizeof *again->items);
    again->count = bodies->count;
    memcpy(again->copies, bodies->copies, bodies->functions * sizeof *again->copies);
    return again;
}

void bodies_free(struct bodies *bodies)
{
    if (!bodies)
        return;
    free(bodies->items);
    free(bodies->copies);
    table_free(bodies->calls);
    free(bodies);
}

uint32_t bodies_count(const struct bodies *bodies)
{
    return bodies->functions + bodies->count;
}

uint32_t bodies_function(const struct bodies *bodies, uint32_t body)
{
    return body < bodies->functions ? body : bodies->items[body - bodies->functions].function;
}

uint32_t bodies_copy(const struct bodies *bodies, uint32_t body)
{
    return body < bodies->functions ? 0 : bodies->items[body - bodies->functions].copy;
}

uint32_t bodies_copies(const struct bodies *bodies, uint32_t function)
{
    return 1 + bodies->copies[function];
}

static uint64_t key(uint32_t caller, uint32_t function)
{
    return (uint64_t)caller << 32 | function;
}

/* Lets the new copy call what the body calls. */
static bool copy_calls(struct bodies *bodies, uint32_t from, uint32_t to)
{
    uint64_t *calls = NULL, at, callee;
    size_t count = 0, capacity = 0, cursor = 0;
    bool good = true;
    while (good && table_next(bodies->calls, &cursor, &at, &callee))
        if (at >> 32 == from)
            good = vec_push(calls, count, capacity, callee);
    for (size_t i = 0; good && i < count; i++)
        good = bodies_lead(bodies, to, (uint32_t)calls[i]);
    free(calls);
    return good;
}

uint32_t bodies_add(struct bodies *bodies, uint32_t body)
{
    uint32_t function = bodies_function(bodies, body), number = bodies_count(bodies);
    if (number == UINT32_MAX || !vec_push(bodies->items, bodies->count, bodies->capacity,
                                          (struct body){function, bodies->copies[function] + 1}))
        return UINT32_MAX;
    bodies->copies[function]++;
    return copy_calls(bodies, body, number) ? number : UINT32_MAX;
}

bool bodies_lead(struct bodies *bodies, uint32_t caller, uint32_t callee)
{
    return table_set(bodies->calls, key(caller, bodies_function(bodies, callee)), callee);
}

uint32_t bodies_callee(const struct bodies *bodies, uint32_t caller, uint32_t function)
{
    const uint64_t *call = table_find(bodies->calls, key(caller, function));
    return call ? (uint32_t)*call : function;
}
