/* roots.c - where stacks begin, and what calls main; see build.h. */
#include "infer/statics/build.h"

/* Adds a call that has no call site. */
static void add_edge(struct building *b, uint32_t callee, uint32_t caller, uint32_t rise, uint64_t site)
{
    struct static_edge edge = {.callee = callee, .caller = caller, .rise = rise, .site = site};
    if (!b->failed)
        statics_add(b, &b->edges, &edge, sizeof edge);
}

/* Removes from the classes a call through a pointer whose targets are known. */
static void remove_pointer_call(struct building *b, uint32_t caller, uint64_t site)
{
    struct pointer_call *calls = b->calls.items;
    for (size_t i = 0; i < b->calls.count; i++) {
        if (calls[i].edge.caller == caller && calls[i].edge.site == site)
            calls[i--] = calls[--b->calls.count];
    }
}

/* Adds a call at this site in `part`, of the functions whose address the program's `_start` takes. A caller that never returns
 * calls nothing else there: it exits with main's result. */
static void add_main_call(struct building *b, struct part *part, const struct call_site *site,
                          struct part *program, const uint32_t *taken, size_t count)
{
    uint32_t caller = statics_number(b, part, site->function);
    if (site->offset < 8 || !count || !statics_together(b, part, program))
        return;
    for (size_t t = 0; t < count; t++)
        add_edge(b, statics_number(b, program, taken[t]), caller, (uint32_t)site->offset, site->next);
    if (calls_returns(part->calls, site->function))
        return;
    remove_pointer_call(b, caller, site->next);
    for (size_t t = 0; t < count && !b->failed; t++) {
        uint32_t function = statics_number(b, program, taken[t]);
        statics_add(b, &b->mains, &function, sizeof function);
    }
}

/* Adds the calls of main. */
static void add_main(struct building *b, struct part *program, uint32_t start)
{
    const uint32_t *taken;
    size_t count = calls_taken_by(program->calls, start, &taken);
    for (size_t i = 0; i < b->count; i++) {
        const struct call_site *sites[STARTS_MAX];
        size_t found = starts_main_calls(b->parts[i].image, b->parts[i].calls, sites);
        for (size_t s = 0; s < found; s++)
            add_main_call(b, &b->parts[i], sites[s], program, taken, count);
    }
}

/* Adds a function that begins stacks; returns its number. */
static uint32_t add_start(struct building *b, struct part *part, uint32_t function, uint32_t height,
                          enum setting_start kind)
{
    bool only =
        kind == SETTING_START_THREAD || height == STARTS_START; /* dlopen also runs the loader's functions */
    struct static_start start = {statics_number(b, part, function), kind, only};
    add_edge(b, start.function, STATIC_ROOT, height, 0);
    if (!b->failed)
        statics_add(b, &b->starts, &start, sizeof start);
    if (!b->failed && only)
        statics_add(b, &b->mains, &start.function, sizeof start.function);
    return start.function;
}

/* Adds ld.so's first functions, and their calls of functions that they pass on as pointers. */
static void add_loader(struct building *b, struct part *part)
{
    uint32_t found[STARTS_MAX];
    size_t count = starts_loader(part->image, found);
    for (size_t i = 0; i < count; i++) {
        const struct call_site *sites[STARTS_MAX];
        const uint32_t *taken;
        size_t many = calls_taken_by(part->calls, found[i], &taken);
        size_t calls = starts_handed_calls(part->image, part->calls, found[i], sites);
        add_start(b, part, found[i], STARTS_LOADER, SETTING_START_PROGRAM);
        for (size_t s = 0; s < calls; s++)
            add_main_call(b, part, sites[s], part, taken, many);
    }
}

void statics_add_starts(struct building *b, struct part *part)
{
    uint32_t start = starts_program(part->image), found[STARTS_MAX];
    if (start != IMAGE_NO_FUNCTION) {
        add_start(b, part, start, STARTS_START, SETTING_START_PROGRAM);
        add_main(b, part, start);
    }
    add_loader(b, part);
    size_t count = starts_threads(part->image, part->calls, found);
    for (size_t i = 0; i < count && !b->failed; i++) {
        uint32_t function = add_start(b, part, found[i], STARTS_THREAD, SETTING_START_THREAD);
        statics_add(b, &b->threads, &function, sizeof function);
    }
}
