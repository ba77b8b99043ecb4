/*
 * cold_branches.c - .cold parts of stripped files, found by the branches that lead to them.
 *
 * A part is an FDE's range without a name. gcc reaches it by jumps from its function, never by a call:
 *   - its first CFA is not SP + 8: no function starts like this (a "mid-frame" part). Any branch may lead to
 * it.
 *   - it is: it may be a function. A jmp may then be a tail call, but gcc makes no conditional tail calls:
 * conditional jumps from exactly one other function give it away. Branches are searched for at every byte of
 * the code: 0f 8x rel32, e9 rel32 and e8 rel32 (a call: the range is a function). No disassembler is needed:
 * bytes that only look like a branch would have to hold, in their four bytes of displacement, exactly the
 * distance to one of a few hundred ranges' first bytes, a chance of about one in ten million each. If the
 * first byte is not a target, a majority of the branches into a mid-frame part (from landing pads) and from
 * it into the middle of a function decides. These are not as exact, as bytes that only look like such a branch
 * need to hit no more than a range. But bytes that look like a call into a range are as likely, and no compiler
 * makes such calls: where there are more of them, the range has functions of its own, as LuaJIT's interpreter has.
 * (Of 97,814 parts in 1,946 files of Debian, 61 whose first byte is a target also have two or more "calls", none
 * that was looked at a real one; 9 with another target have one; the interpreter has 59 beside one "branch".)
 */
#include "base/vec.h"
#include "image/cold.h"

#include <emmintrin.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    KIND_OTHER,
    KIND_MID_FRAME,  /* an unnamed range that is not a function's entry */
    KIND_MAY_BE_COLD /* an unnamed range that may be a function */
};

enum evidence {                  /* best first */
                EVIDENCE_START,  /* a branch to the part's first byte */
                EVIDENCE_INSIDE, /* a branch to another byte of it */
                EVIDENCE_BACK,   /* a branch from it into the middle of the function */
};

struct edge {
    uint32_t part, function;
    uint32_t evidence;
};

struct search {
    struct functions *functions;
    uint8_t *kinds;    /* enum kind, by function */
    uint32_t *calls;   /* calls into the middle of a part; by function */
    uint8_t *near;     /* for each NEAR_BYTES from functions->base: whether a part is there */
    uint64_t near_end; /* entries of `near` */
    struct edge *edges;
    size_t count, capacity;
};

#define NEAR_BYTES 64

#define MAX_CHAIN 8 /* limit for parts of parts; gcc's chains have length one */

static int add_edge(struct search *s, uint32_t part, uint32_t function, enum evidence evidence)
{
    return vec_push(s->edges, s->count, s->capacity, (struct edge){part, function, evidence}) ? 0 : -ENOMEM;
}

/* Quick test: most branches have nothing to do with parts and need no search. */
static bool is_near(const struct search *s, uint64_t address)
{
    uint64_t at = (address - s->functions->base) / NEAR_BYTES;
    return at < s->near_end && s->near[at];
}

static void note_near(struct search *s, const struct image_function *part)
{
    uint64_t first = (part->address - s->functions->base) / NEAR_BYTES;
    uint64_t last = (part->address + part->size - 1 - s->functions->base) / NEAR_BYTES;
    for (uint64_t at = first; part->size && at <= last && at < s->near_end; at++)
        s->near[at] = 1;
}

enum branch { BRANCH_JUMP, BRANCH_CONDITIONAL, BRANCH_CALL };

static int add_branch(struct search *s, uint64_t from, uint64_t to, enum branch branch)
{
    const struct functions *functions = s->functions;
    if (!is_near(s, to) && (branch == BRANCH_CALL || !is_near(s, from)))
        return 0;
    uint32_t target = functions_find(functions, to);
    if (target == IMAGE_NO_FUNCTION)
        return 0;
    bool start = functions->items[target].address == to;
    if (branch == BRANCH_CALL) {
        if (start)
            s->kinds[target] = KIND_OTHER;
        else if (functions_find(functions, from) != IMAGE_NO_FUNCTION)
            s->calls[target]++;
        return 0;
    }
    uint8_t kind = s->kinds[target];
    if (kind == KIND_MAY_BE_COLD && (!start || branch != BRANCH_CONDITIONAL))
        kind = KIND_OTHER;
    if (kind == KIND_OTHER && start)
        return 0;
    uint32_t source = functions_find(functions, from);
    if (source == IMAGE_NO_FUNCTION || source == target)
        return 0;
    if (kind != KIND_OTHER)
        return add_edge(s, target, source, start ? EVIDENCE_START : EVIDENCE_INSIDE);
    return s->kinds[source] == KIND_MID_FRAME ? add_edge(s, source, target, EVIDENCE_BACK) : 0;
}

/* A bit for each of the 16 bytes that begins a branch. Reads one byte more. */
static unsigned branches_at(const uint8_t *code)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)code);
    const __m128i next = _mm_loadu_si128((const __m128i *)(const void *)(code + 1));
    const __m128i near = _mm_cmpeq_epi8(_mm_and_si128(bytes, _mm_set1_epi8((char)0xfe)), /* e8, e9 */
                                        _mm_set1_epi8((char)0xe8));
    const __m128i conditional = _mm_and_si128(
        _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x0f)), /* 0f 8x */
        _mm_cmpeq_epi8(_mm_and_si128(next, _mm_set1_epi8((char)0xf0)), _mm_set1_epi8((char)0x80)));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(near, conditional));
}

/* Takes the branch that begins at code[i]; all of its bytes are available. */
static int take_branch(struct search *s, const uint8_t *code, size_t i, uint64_t address)
{
    const enum branch branch = code[i] == 0x0f   ? BRANCH_CONDITIONAL
                               : code[i] == 0xe9 ? BRANCH_JUMP
                                                 : BRANCH_CALL;
    const size_t at = i + 1 + (branch == BRANCH_CONDITIONAL);
    int32_t displacement;
    memcpy(&displacement, code + at, sizeof displacement);
    return add_branch(s, address + i, address + at + 4 + (uint64_t)(int64_t)displacement, branch);
}

#define LONGEST 6u /* bytes of a branch */

#define AHEAD (16 + 1 + LONGEST)

/* Takes the branches that begin in the first ELF_PIECE bytes. */
static int scan_piece(void *search, const uint8_t *code, size_t size, uint64_t address)
{
    struct search *s = search;
    uint8_t rest[AHEAD] = {0};
    for (size_t i = 0; i < ELF_PIECE && i + LONGEST <= size; i += 16) {
        const bool whole = size - i >= sizeof rest;
        if (!whole)
            memcpy(rest, code + i, size - i);
        for (unsigned found = branches_at(whole ? code + i : rest); found; found &= found - 1) {
            const size_t at = i + (unsigned)__builtin_ctz(found);
            if (at + LONGEST <= size && take_branch(s, code, at, address) < 0)
                return -ENOMEM;
        }
    }
    return 0;
}

/* Compilers align functions, but gcc packs .cold parts without alignment: a range that starts at a multiple of 16
 * is a part only if there is no gap to its neighbours. (Hand-written code does make conditional tail calls:
 * strncmp to strcmp in glibc.) */
static bool is_packed(const struct functions *functions, uint32_t f)
{
    const struct image_function *item = &functions->items[f];
    if (item->address % 16)
        return true;
    return f > 0 && item[-1].address + item[-1].size == item->address && f + 1 < functions->count &&
           item->address + item->size == item[1].address;
}

static bool find_kinds(struct search *s, const struct cfi *cfi)
{
    const struct cfi_range *ranges;
    size_t count = cfi_ranges(cfi, &ranges);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t f = functions_find(s->functions, ranges[i].address);
        if (f == IMAGE_NO_FUNCTION)
            continue;
        const struct image_function *function = &s->functions->items[f];
        if (function->address != ranges[i].address || function->name || function->owner != f)
            continue;
        if (!ranges[i].entry_state)
            s->kinds[f] = KIND_MID_FRAME;
        else if (is_packed(s->functions, f))
            s->kinds[f] = KIND_MAY_BE_COLD;
        if (s->kinds[f] != KIND_OTHER)
            note_near(s, function);
        any |= s->kinds[f] != KIND_OTHER;
    }
    return any;
}

static int by_part(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->evidence > y->evidence) - (x->evidence < y->evidence);
}

/* The function that most of these edges come from. IMAGE_NO_FUNCTION if there is no majority, if more calls lead
 * into the part than edges that do not target its first byte, or if the source is not known to be a function.
 * *all: all edges come from it. Edges from parts without an owner do not count. */
static uint32_t majority(const struct search *s, const struct edge *edges, size_t count, bool *all)
{
    uint32_t best = IMAGE_NO_FUNCTION;
    size_t lead = 0, total = 0, votes = 0;
    for (unsigned pass = 0; pass < 2;
         pass++) { /* Boyer and Moore: find the only candidate, then count its votes */
        for (size_t i = 0; i < count; i++) {
            uint32_t f = functions_owner(s->functions, edges[i].function);
            if (s->kinds[f] == KIND_MID_FRAME || f == edges[i].part)
                continue;
            if (pass == 1) {
                total++;
                votes += f == best;
            } else if (lead == 0) {
                best = f;
                lead = 1;
            } else {
                lead += f == best ? 1 : (size_t)-1;
            }
        }
    }
    *all = votes == total;
    const bool called = edges->evidence != EVIDENCE_START && s->calls[edges->part] > votes;
    return votes * 2 > total && !called ? best : IMAGE_NO_FUNCTION;
}

/* Joins the parts whose owner is known now; returns whether there were any. */
static bool join_round(struct search *s)
{
    bool joined = false;
    for (size_t i = 0, next; i < s->count; i = next) {
        uint32_t part = s->edges[i].part;
        for (next = i; next < s->count && s->edges[next].part == part; next++)
            ;
        if (s->kinds[part] == KIND_OTHER || s->functions->items[part].owner != part)
            continue;
        uint32_t owner = IMAGE_NO_FUNCTION;
        for (size_t from = i, to; from < next && owner == IMAGE_NO_FUNCTION; from = to) {
            for (to = from; to < next && s->edges[to].evidence == s->edges[from].evidence; to++)
                ;
            bool all;
            owner = majority(s, s->edges + from, to - from, &all);
            if (s->kinds[part] == KIND_MAY_BE_COLD && !all)
                owner = IMAGE_NO_FUNCTION;
        }
        if (owner != IMAGE_NO_FUNCTION) {
            s->functions->items[part].owner = owner;
            joined = true;
        }
    }
    return joined;
}

static bool search_begin(struct search *s, struct functions *functions)
{
    s->functions = functions;
    if (functions->count) {
        const struct image_function *last = &functions->items[functions->count - 1];
        s->near_end = (last->address + last->size - functions->base) / NEAR_BYTES + 1;
    }
    if (s->near_end > UINT32_MAX / NEAR_BYTES + 2) /* functions_find() covers no more */
        s->near_end = UINT32_MAX / NEAR_BYTES + 2;
    s->kinds = calloc(functions->count + (size_t)1, 1);
    s->calls = calloc(functions->count + (size_t)1, sizeof *s->calls);
    s->near = calloc(s->near_end + 1, 1);
    return s->kinds && s->calls && s->near;
}

int cold_join_branches(const struct elf_file *file, const struct cfi *cfi, struct functions *functions)
{
    struct search s = {0};
    int rc = search_begin(&s, functions) ? 0 : -ENOMEM;
    if (rc == 0 && find_kinds(&s, cfi)) {
        rc = elf_file_see_code(file, AHEAD, scan_piece, &s);
        if (rc == 0 && s.count) {
            qsort(s.edges, s.count, sizeof *s.edges, by_part);
            for (unsigned round = 0; round < MAX_CHAIN && join_round(&s); round++)
                ;
            for (uint32_t f = 0; f < functions->count; f++)
                functions->items[f].owner = functions_owner(functions, f);
        }
    }
    free(s.kinds);
    free(s.calls);
    free(s.near);
    free(s.edges);
    return rc;
}
