/* plan.c - see plan.h. */
#include "rewrite/duplicate/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/calls/entry_checks.h"
#include "rewrite/duplicate/liveness.h"
#include "rewrite/duplicate/snippets.h"

struct planner {
    const struct move_survey *survey;
    const struct calls *calls;
    const struct duplicate_options *options;
    struct duplicate_plan *plan;
    struct duplicated *out;
    bool *checks; /* by function: checks at its entry */
    bool *early;  /* by function: may run before any runtime */
    struct move_unit unit;
    struct flow flow;
    struct liveness live;
    uint8_t *marks; /* MARK_ bits, by instruction */
    uint32_t mark_capacity;
    bool gs; /* a function uses GS */
};

enum { MARK_CHECK = 1, MARK_BORING = 2, MARK_KEPT = 4 /* the check must not be dropped */ };

/* Functions --------------------------------------------------------------------------------------------------- */

/* Finds the functions called by resolvers of STT_GNU_IFUNC, which the loader runs while it relocates. */
static int find_early(struct planner *p)
{
    uint32_t count = image_function_count(p->survey->image), depth = 0;
    uint32_t *stack = malloc(((size_t)count + 1) * sizeof *stack);
    p->early = calloc((size_t)count + 1, sizeof *p->early);
    if (!stack || !p->early) {
        free(stack);
        return -ENOMEM;
    }
    for (uint32_t f = 0; f < count; f++)
        if (calls_is_resolver(p->calls, f))
            p->early[f] = true, stack[depth++] = f;
    while (depth) {
        const struct call_site *sites;
        size_t n = calls_of(p->calls, stack[--depth], &sites);
        for (size_t i = 0; i < n; i++) {
            uint32_t to = sites[i].kind == CALL_DIRECT
                              ? image_function_entry(p->survey->image, sites[i].target)
                              : IMAGE_NO_FUNCTION;
            if (to != IMAGE_NO_FUNCTION && !p->early[to])
                p->early[to] = true, stack[depth++] = to;
        }
    }
    free(stack);
    return 0;
}

static int find_checks(struct planner *p)
{
    uint32_t count = image_function_count(p->survey->image);
    const struct call_site *sites;
    if (p->options->entries == DUPLICATE_ENTRIES_CYCLES)
        return calls_entry_checks(p->survey->image, p->calls, &p->checks);
    p->checks = calloc((size_t)count + 1, sizeof *p->checks);
    for (uint32_t f = 0; p->checks && f < count; f++)
        p->checks[f] = p->options->entries == DUPLICATE_ENTRIES_ALL ||
                       (p->options->entries == DUPLICATE_ENTRIES_CALLERS && calls_of(p->calls, f, &sites));
    return p->checks ? 0 : -ENOMEM;
}

/* What is logged ---------------------------------------------------------------------------------------------- */

static bool is_on_stack(const struct planner *p, const struct access_ref *ref, uint64_t address)
{
    return ref->base == CODE_SP ||
           (ref->base == CODE_BP && cfi_lookup(image_cfi(p->survey->image), address).cfa == CFI_BP);
}

/* Whether the options ask for this reference. */
static bool is_wanted(const struct planner *p, uint32_t i, const struct access_ref *ref)
{
    const struct code_insn *insn = &p->unit.code.insns[i];
    if (insn->kind != CODE_PLAIN || p->unit.uses[i])
        return false; /* reads of calls and jumps, and tables of jumps */
    return ((ref->load && p->options->loads) || (ref->store && p->options->stores)) &&
           (p->options->stack || !is_on_stack(p, ref, insn->address));
}

static bool is_logged(const struct access_ref *ref)
{
    return ref->form == ACCESS_PLAIN || ref->form == ACCESS_STRING;
}

/* How many instructions of the block are logged. */
static uint32_t events_of(const struct planner *p, const struct flow_block *block, bool *calls)
{
    uint32_t events = p->options->blocks;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct access *access = &p->live.access[i];
        bool wanted = false;
        for (unsigned r = 0; r < access->ref_count; r++)
            wanted |= is_wanted(p, i, &access->refs[r]);
        events += wanted;
        *calls |= code_is_call(&p->unit.code.insns[i]);
    }
    return events;
}

/* Checks ------------------------------------------------------------------------------------------------------ */

/* The number of blocks of a boring loop, which are then in flow.order; 0: it is not boring. */
static uint32_t boring_loop(struct planner *p, uint32_t header)
{
    uint32_t count = flow_loop(&p->flow, header);
    uint64_t events = 0;
    bool calls = false;
    for (uint32_t b = 0; b < count; b++)
        events += events_of(p, &p->flow.blocks[p->flow.order[b]], &calls);
    return !calls && p->options->boring >= 0 && events <= (uint64_t)p->options->boring ? count : 0;
}

/* Puts the check at the first instruction of the block before which the flags are free: it is executed in each
 * iteration. */
static void put_loop_check(struct planner *p, const struct flow_block *block)
{
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        if (!(p->live.before[i] & ACCESS_FLAGS)) {
            p->marks[i] |= MARK_CHECK;
            p->out->loop_checks++;
            return;
        }
    p->out->unchecked++;
}

static bool has_mark(const struct planner *p, const struct flow_block *block, uint8_t mark)
{
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        if (p->marks[i] & mark)
            return true;
    return false;
}

/* Whether a block in a loop ends with a jump by a table whose address was loaded elsewhere: possibly by the other
 * version, whose table leads back to that version in each iteration. */
static bool is_by_old_table(struct planner *p, uint32_t b)
{
    const struct flow_block *block = &p->flow.blocks[b];
    uint32_t table = block->count ? p->unit.through[block->first + block->count - 1] : 0;
    if (!table && !block->open)
        return false;
    for (uint32_t i = block->first; table && i < block->first + block->count; i++)
        if (p->unit.uses[i] == table)
            return false;
    memset(p->flow.marks, 0, p->flow.count);
    return flow_returns(&p->flow, b, p->flow.marks);
}

/* Marks the targets of such jumps, which continue a burst in the instrumented version. */
static void mark_targets(struct planner *p, const struct flow_block *from)
{
    for (uint32_t e = from->out; e < from->out + from->out_count; e++) {
        const struct flow_block *block = &p->flow.blocks[p->flow.to[e]];
        if (!has_mark(p, block, MARK_CHECK))
            put_loop_check(p, block);
        for (uint32_t i = block->first; i < block->first + block->count; i++)
            p->marks[i] |= p->marks[i] & MARK_CHECK ? MARK_KEPT : 0;
    }
}

static void mark_tables(struct planner *p)
{
    uint32_t anywhere = p->flow.count - 1; /* targets of jumps through pointers */
    for (uint32_t b = 0; b < anywhere; b++)
        if (is_by_old_table(p, b))
            mark_targets(p, &p->flow.blocks[p->flow.blocks[b].open ? anywhere : b]);
}

/* Drops checks of loops in which each iteration passes another check, such as that of an inner loop that always
 * runs. A burst that begins there goes on in the outer loop, too, as it is the same function. */
static void drop_checks(struct planner *p)
{
    uint8_t *checks = p->flow.marks; /* by block */
    for (uint32_t b = 0; b < p->flow.count; b++)
        checks[b] = has_mark(p, &p->flow.blocks[b], MARK_CHECK);
    for (uint32_t b = 0; b + 1 < p->flow.count; b++) {
        const struct flow_block *block = &p->flow.blocks[b];
        if (!checks[b] || has_mark(p, block, MARK_KEPT) || flow_returns(&p->flow, b, checks))
            continue;
        checks[b] = 0;
        for (uint32_t i = block->first; i < block->first + block->count; i++)
            p->marks[i] &= (uint8_t)~MARK_CHECK;
        p->out->loop_checks--;
    }
}

static void mark_loops(struct planner *p)
{
    for (uint32_t b = 0; b + 1 < p->flow.count; b++) {
        const struct flow_block *block = &p->flow.blocks[b];
        if (!block->header || p->options->boring == DUPLICATE_LOOPS_NONE)
            continue;
        uint32_t count = boring_loop(p, b);
        if (!count) {
            put_loop_check(p, block);
            continue;
        }
        p->out->boring++;
        for (uint32_t k = 0; k < count; k++) {
            const struct flow_block *inside = &p->flow.blocks[p->flow.order[k]];
            for (uint32_t i = inside->first; i < inside->first + inside->count; i++)
                p->marks[i] |= MARK_BORING;
        }
    }
    if (p->options->boring != DUPLICATE_LOOPS_NONE)
        mark_tables(p);
    drop_checks(p);
}

static int mark_insns(struct planner *p)
{
    uint32_t entry = p->unit.parts[p->unit.main].first;
    if (!vec_reserve(p->marks, 0, p->mark_capacity, p->unit.code.count))
        return -ENOMEM;
    memset(p->marks, 0, p->unit.code.count);
    mark_loops(p);
    if (p->checks[p->unit.function] && !(p->marks[entry] & MARK_CHECK)) {
        p->marks[entry] |= MARK_CHECK;
        p->out->entry_checks++;
    }
    return 0;
}

/* Code -------------------------------------------------------------------------------------------------------- */

static bool put_code(struct planner *p, struct codes *to, uint64_t address, const struct snippet *code)
{
    uint8_t *bytes = arena_alloc(p->plan->arena, code->size);
    struct move_code_fix *fixes = arena_alloc(p->plan->arena, code->fix_count * sizeof *fixes + 1);
    if (!bytes || !fixes)
        return false;
    memcpy(bytes, code->bytes, code->size);
    memcpy(fixes, code->fixes, code->fix_count * sizeof *fixes);
    struct move_code out = {.address = address,
                            .bytes = bytes,
                            .fixes = fixes,
                            .size = code->size,
                            .fix_count = code->fix_count,
                            .low_from = code->low_from,
                            .low_to = code->low_to,
                            .low = code->low};
    return vec_push(to->at, to->count, to->capacity, out);
}

static bool put_log(struct planner *p, struct codes *to, uint32_t i, const struct access_ref *ref,
                    unsigned *room)
{
    struct snippet code;
    bool slow;
    uint64_t address = p->unit.code.insns[i].address;
    struct duplicate_site site = {.address = address};
    snippet_log(&code, address, ref, p->live.before[i], &slow);
    if (code.size > *room) {
        p->out->unlogged[ACCESS_PLAIN]++;
        return true;
    }
    *room -= code.size;
    p->out->slow += slow;
    if (ref) {
        site.size = ref->size;
        site.load = ref->load;
        site.store = ref->store;
        site.form = ref->form;
    }
    return put_code(p, to, address, &code) &&
           vec_push(p->plan->sites, p->plan->site_count, p->plan->site_capacity, site);
}

/* Adds the code before one instruction, in both copies. */
static bool put_insn(struct planner *p, uint32_t i, struct codes pair[2])
{
    const struct access *access = &p->live.access[i];
    uint64_t address = p->unit.code.insns[i].address;
    struct snippet code;
    unsigned room = UINT8_MAX;
    for (uint32_t copy = 0; copy < 2 && p->marks[i] & MARK_CHECK; copy++) {
        snippet_check(&code, address, copy);
        if (!put_code(p, &pair[copy], address, &code))
            return false;
        room = UINT8_MAX - (unsigned)code.size;
    }
    if (p->marks[i] & MARK_BORING)
        return true;
    bool begins = p->options->blocks && p->flow.blocks[p->flow.block_of[i]].first == i;
    bool enters = p->options->entered && i == p->unit.parts[p->unit.main].first;
    if ((begins || enters) && !put_log(p, &pair[COPY_INSTRUMENTED], i, NULL, &room))
        return false;
    for (unsigned r = 0; r < access->ref_count; r++) {
        const struct access_ref *ref = &access->refs[r];
        if (!is_wanted(p, i, ref))
            continue;
        if (!is_logged(ref))
            p->out->unlogged[ref->form]++;
        else if (!put_log(p, &pair[COPY_INSTRUMENTED], i, ref, &room))
            return false;
    }
    return true;
}

/* Lets calls and jumps of the instrumented copy lead to instrumented copies, if there are any. */
static bool put_call(struct planner *p, const struct code_insn *insn)
{
    if (insn->kind != CODE_CALL && insn->kind != CODE_JUMP && insn->kind != CODE_BRANCH)
        return true;
    bool own =
        insn->kind != CODE_CALL && function_code_find(&p->unit.code, insn->target) != FUNCTION_CODE_NONE;
    if (own || image_function_entry(p->survey->image, insn->target) == IMAGE_NO_FUNCTION)
        return true;
    return vec_push(p->plan->calls, p->plan->call_count, p->plan->call_capacity,
                    (struct move_call){insn->address, COPY_INSTRUMENTED, COPY_INSTRUMENTED, 0});
}

static bool put_pair(struct planner *p)
{
    struct duplicate_plan *plan = p->plan;
    struct codes none = {0};
    if (!vec_reserve(plan->codes, plan->codes_count, plan->codes_capacity, 2) ||
        !vec_reserve(plan->functions, plan->function_count, plan->function_capacity, 2))
        return false;
    for (unsigned copy = 0; copy < 2; copy++) {
        plan->functions[plan->function_count++] =
            (struct move_function){.address = p->unit.entry, .crosses = true};
        plan->codes[plan->codes_count++] = none;
    }
    struct codes *pair = &plan->codes[plan->codes_count - 2];
    for (uint32_t i = 0; i < p->unit.code.count; i++)
        if (!put_insn(p, i, pair) || !put_call(p, &p->unit.code.insns[i]))
            return false;
    return true;
}

static int plan_function(struct planner *p, uint32_t function)
{
    int rc = move_unit_read(&p->unit, function);
    if (rc < 0)
        return rc;
    if (p->unit.refusal == MOVE_MOVABLE && p->unit.probes)
        p->unit.refusal = MOVE_PROBE; /* a probe's note can name only one place */
    if (p->unit.refusal != MOVE_MOVABLE) {
        p->out->refused[p->unit.refusal]++;
        return 0;
    }
    if (flow_make(&p->flow, &p->unit) < 0 || liveness_make(&p->live, &p->unit, &p->flow) < 0 ||
        mark_insns(p) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < p->unit.code.count; i++)
        p->gs |= p->live.access[i].gs;
    return put_pair(p) ? 0 : -ENOMEM;
}

static int plan_all(struct planner *p)
{
    const struct image *image = p->survey->image;
    int rc = 0;
    for (uint32_t f = 0; f < image_function_count(image) && rc == 0; f++) {
        if (image_function(image, f)->owner != f || image_function_is_stub(image, f) ||
            (p->options->chosen && !p->options->chosen[f]))
            continue;
        if (p->early[f])
            p->out->early++;
        else
            rc = plan_function(p, f);
    }
    for (size_t i = 0; i < p->plan->function_count; i++) {
        p->plan->functions[i].codes = p->plan->codes[i].at;
        p->plan->functions[i].code_count = p->plan->codes[i].count;
    }
    return rc;
}

int duplicate_plan_make(const struct move_survey *survey, const struct calls *calls,
                        const struct duplicate_options *options, struct duplicate_plan *plan,
                        struct duplicated *out, struct fathom_error *err)
{
    struct planner p = {.survey = survey, .calls = calls, .options = options, .plan = plan, .out = out};
    plan->arena = arena_new(1u << 20);
    int rc = plan->arena ? move_unit_begin(&p.unit, survey) : -ENOMEM;
    if (rc == 0)
        rc = find_early(&p);
    if (rc == 0)
        rc = find_checks(&p);
    if (rc == 0)
        rc = plan_all(&p);
    move_unit_free(&p.unit);
    flow_free(&p.flow);
    liveness_free(&p.live);
    free(p.checks);
    free(p.early);
    free(p.marks);
    if (rc < 0)
        return error_memory(err);
    return p.gs ? error_set(err, ENOTSUP, "%s uses the GS register itself", image_path(survey->image)) : 0;
}

void duplicate_plan_free(struct duplicate_plan *plan)
{
    for (size_t i = 0; plan->codes && i < plan->codes_count; i++)
        free(plan->codes[i].at);
    free(plan->codes);
    free(plan->functions);
    free(plan->calls);
    free(plan->sites);
    arena_free(plan->arena);
}
