/* classes.c - the possible targets of calls through pointers: classes by the field that the pointer is read
 * from; see build.h. */
#include "infer/statics/build.h"

#include "base/sort.h"

#define OF_FIELD 0.9 /* share of calls, with known targets by field, that reach one of these */

static int by_field(const void *a, const void *b)
{
    const struct pointer_call *x = a, *y = b;
    return order_of(x->field, y->field);
}

/* Finds the functions at this offset in objects. */
static void find_field(struct building *b, struct part *part, int32_t field, const struct search *search)
{
    const struct call_field *fields;
    size_t count = calls_fields(part->calls, &fields);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].field != field)
            continue;
        if (fields[i].symbol)
            statics_add_symbol(b, part, fields[i].symbol, search);
        else
            statics_add_target(b, part, fields[i].function, search);
    }
}

static void find_taken(struct building *b, struct part *part, const struct search *search)
{
    const uint32_t *taken;
    const char *const *symbols;
    size_t count = calls_taken(part->calls, &taken);
    for (size_t i = 0; i < count; i++)
        statics_add_target(b, part, taken[i], search);
    count = calls_taken_symbols(part->calls, &symbols);
    for (size_t i = 0; i < count; i++)
        statics_add_symbol(b, part, symbols[i], search);
}

/* Fills the class's calls, without jumps by functions that may be called without a site (rise 0). */
static bool take_calls(struct static_class *class, const struct pointer_call *calls, size_t count)
{
    class->edges = malloc((count + 1) * sizeof *class->edges);
    for (size_t i = 0; class->edges && i < count; i++)
        if (calls[i].edge.rise)
            class->edges[class->count++] = calls[i].edge;
    return class->edges;
}

/* Stores the functions that calls with this field lead to in b->targets, each once. */
static void find_targets(struct building *b, int32_t field)
{
    const struct search search = {.of_class = true};
    b->targets = (struct list){0};
    for (size_t i = 0; i < b->count; i++) {
        if (field == CALL_NO_FIELD)
            find_taken(b, &b->parts[i], &search);
        else
            find_field(b, &b->parts[i], field, &search);
    }
    b->targets.count = sort_unique((uint32_t *)b->targets.items, b->targets.count);
}

/* Makes a class of calls[0 .. count), if it has targets; returns whether it has. */
static bool add_class(struct building *b, int32_t field, double share, const struct pointer_call *calls,
                      size_t count)
{
    find_targets(b, field);
    struct static_class class = {
        .field = field, .share = share, .targets = b->targets.items, .target_count = b->targets.count};
    if (!b->failed && class.target_count && count) {
        b->failed = !take_calls(&class, calls, count);
        if (!b->failed && statics_add(b, &b->classes, &class, sizeof class))
            return true;
    }
    free(class.edges);
    free(class.targets);
    return false;
}

void statics_add_classes(struct building *b)
{
    struct pointer_call *calls = b->calls.items;
    size_t count = b->calls.count, with_targets = 0;
    if (count == 0)
        return;
    qsort(calls, count, sizeof *calls, by_field);
    for (size_t i = 0, next; i < count && !b->failed; i = next) {
        for (next = i; next < count && calls[next].field == calls[i].field; next++)
            ;
        if (calls[i].field == CALL_NO_FIELD || !add_class(b, calls[i].field, OF_FIELD, calls + i, next - i))
            continue;
        for (size_t k = i; k < next; k++)
            calls[k].has_targets = true;
    }
    for (size_t i = 0; i < count; i++) { /* those with known fields first */
        struct pointer_call swap = calls[with_targets];
        if (!calls[i].has_targets)
            continue;
        calls[with_targets++] = calls[i];
        calls[i] = swap;
    }
    if (!b->failed)
        add_class(b, CALL_NO_FIELD, 1 - OF_FIELD, calls, with_targets);
    if (!b->failed)
        add_class(b, CALL_NO_FIELD, 1, calls + with_targets, count - with_targets);
}
