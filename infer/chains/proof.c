/* proof.c - follows a sample's recorded callers as far as they are certain; see proof.h. */
#include "infer/chains/proof.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/vec.h"
#include "infer/chains/proof_private.h"

struct prover *prover_new(struct image_calls *calls)
{
    struct prover *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->calls = calls;
    p->known = table_new();
    return whole_or_free(p, p->known, free);
}

void prover_free(struct prover *p)
{
    if (!p)
        return;
    table_free(p->known);
    free(p->origins);
    free(p);
}

/* Where the process has this address of the image; 0: it is not mapped. */
static uint64_t mapped_at(const struct process *process, const struct image *image, uint64_t address)
{
    const struct mapping *m;
    const struct build_id *id;
    uint64_t offset;
    if (!image_offset(image, address, &offset))
        return 0;
    for (size_t i = 0; (m = process_mapping_at(process, i, &id)); i++)
        if (m->image == image && offset >= m->offset && offset - m->offset < m->end - m->start)
            return m->start + (offset - m->offset);
    return 0;
}

/* NULL: the image's calls are unknown. */
static const struct calls *calls_in(const struct prover *p, const struct image *image)
{
    const struct calls *calls;
    return image_calls_of(p->calls, image, &calls) < 0 ? NULL : calls;
}

/* Adds the frame of the PC, or of a return address. false: its CFA is not certain. */
static bool add_frame(struct prover *p, uint64_t pc)
{
    struct proof_frame frame = {.pc = pc};
    const uint64_t back = p->count ? 1 : 0;
    if (p->count == PROOF_FRAMES || !process_cfi(p->process, pc - back, &frame.place, &frame.row) ||
        frame.place.function == IMAGE_NO_FUNCTION)
        return false;
    frame.place.address += back;
    const struct calls *calls = calls_in(p, frame.place.image);
    const struct call_site *site = back && calls ? calls_before(calls, frame.place.address) : NULL;
    if (back && !site)
        return false;
    if (frame.row.cfa == CFI_SP)
        frame.rise = (uint64_t)(int64_t)frame.row.cfa_offset;
    else if (frame.row.cfa != CFI_BP || frame.row.bp != CFI_BP_AT_CFA || (site && site->open))
        return false;
    else
        frame.rise = site ? (uint64_t)(int64_t)site->offset : 0;
    p->frames[p->count++] = frame;
    return true;
}

static bool keeps_frame_pointer(const struct cfi_row *row)
{
    return row->cfa == CFI_BP && row->cfa_offset == 16 && row->bp == CFI_BP_AT_CFA && row->bp_offset == -16;
}

/* Whether the call is a direct one of this function of its image. */
static bool calls_only(const struct call_site *site, const struct image *image, uint32_t function)
{
    return site->kind == CALL_DIRECT && site->target == image_function(image, function)->address;
}

/* The call of `function` in another function of its image, if there is exactly one. */
static const struct call_site *only_call(const struct call_site *sites, size_t count,
                                         const struct image *image, uint32_t function)
{
    const struct call_site *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!calls_only(&sites[i], image, function))
            continue;
        if (found || sites[i].tail)
            return NULL;
        found = &sites[i];
    }
    return found;
}

/* If the frame's BP is that of its caller, and the next entry is the caller's return address, then the caller itself is
 * missing: its return address; 0: none, or not certain. */
static uint64_t return_to_missing(struct prover *p, const struct proof_frame *frame, uint64_t next)
{
    struct place place;
    if (frame->row.cfa != CFI_SP || !proof_leaves_bp(&frame->row) ||
        !process_place(p->process, next, &place) || place.image != frame->place.image)
        return 0;
    const struct calls *calls = calls_in(p, place.image);
    const struct call_site *outer = calls ? calls_before(calls, place.address) : NULL, *sites;
    if (!outer || outer->kind != CALL_DIRECT)
        return 0;
    uint32_t missing = image_function_entry(place.image, outer->target);
    if (missing == IMAGE_NO_FUNCTION)
        return 0;
    size_t count = calls_of(calls, missing, &sites);
    const struct call_site *site = only_call(sites, count, place.image, frame->place.function);
    if (!site)
        return 0;
    struct cfi_row row = cfi_lookup(image_cfi(place.image), site->next - 1);
    return keeps_frame_pointer(&row) ? site->next + (next - place.address) : 0;
}

#define JUMPS_MOST 4u /* followed one after the other */

/* Whether a call with this target can have led to the frame's function: it is the target, or the target jumps to it. The
 * targets of jumps through pointers are unknown, so they match. */
static bool leads_to(const struct prover *p, const struct image *image, uint32_t function,
                     const struct proof_frame *frame, unsigned jumps)
{
    const struct image *last = frame->place.image;
    const struct call_site *sites;
    if (image == last && function == frame->place.function)
        return true;
    const struct calls *calls = jumps < JUMPS_MOST ? calls_in(p, image) : NULL, *there = calls_in(p, last);
    for (size_t i = calls && there ? calls_of(calls, function, &sites) : 0; i-- > 0;) {
        bool resolver = false;
        if (!sites[i].tail)
            continue;
        if (sites[i].kind == CALL_INDIRECT || sites[i].kind == CALL_BINDER)
            return true;
        bool direct = sites[i].kind == CALL_DIRECT;
        uint32_t next = direct ? image_function_entry(image, sites[i].target)
                               : calls_export(there, sites[i].symbol, &resolver);
        if (resolver ||
            (next != IMAGE_NO_FUNCTION && leads_to(p, direct ? image : last, next, frame, jumps + 1)))
            return true;
    }
    return false;
}

static bool frame_fits(const struct prover *p, const struct proof_frame *frame, uint64_t entered)
{
    struct place place;
    return process_place(p->process, entered, &place) && place.function != IMAGE_NO_FUNCTION &&
           leads_to(p, place.image, place.function, frame, 0);
}

/* The return address of a recorded call; 0: the call does not fit the frame. */
static uint64_t return_after_call(const struct prover *p, const struct proof_frame *frame,
                                  const struct link *link)
{
    struct place place;
    const struct call_site *sites;
    if (!frame_fits(p, frame, link->entered) || !process_place(p->process, link->address, &place) ||
        place.function == IMAGE_NO_FUNCTION)
        return 0;
    const struct calls *calls = calls_in(p, place.image);
    size_t count = calls ? calls_of(calls, place.function, &sites) : 0;
    size_t at = lower_bound(i, 0, count, sites[i].address < place.address);
    bool found = at < count && sites[at].address == place.address && !sites[at].tail;
    return found ? link->address + (sites[at].next - place.address) : 0;
}

/* The return address of the call by which the program's entry reached the frame's function. */
static uint64_t return_to_entry(struct prover *p, const struct proof_frame *frame, const struct calls *calls)
{
    const struct mapping *m;
    const struct build_id *id;
    for (size_t i = 0; (m = process_mapping_at(p->process, i, &id)); i++) {
        uint64_t entry;
        const struct call_site *sites;
        if (!m->image || !image_entry(m->image, &entry))
            continue;
        const struct calls *its = calls_in(p, m->image);
        uint32_t function = image_function_entry(m->image, entry);
        for (size_t k = its && function != IMAGE_NO_FUNCTION ? calls_of(its, function, &sites) : 0;
             k-- > 0;) {
            bool resolver = false;
            if (sites[k].kind == CALL_IMPORT && !sites[k].tail &&
                calls_export(calls, sites[k].symbol, &resolver) == frame->place.function && !resolver)
                return mapped_at(p->process, m->image, sites[k].next);
        }
    }
    return 0;
}

static bool is_taken(const struct calls *calls, uint32_t function)
{
    const uint32_t *functions;
    size_t count = calls_taken(calls, &functions);
    size_t at = lower_bound(i, 0, count, functions[i] < function);
    return at < count && functions[at] == function;
}

/* Where a function can have been called from, by the code of its image. */
static struct proof_origin find_origin(const struct calls *calls, const struct place *place)
{
    const struct call_site *sites;
    size_t count = calls_all(calls, &sites), called = 0;
    for (size_t i = 0; i < count; i++)
        called += calls_only(&sites[i], place->image, place->function);
    bool resolver, taken = is_taken(calls, place->function);
    const char *name = image_function(place->image, place->function)->name;
    bool exported = name && calls_export(calls, name, &resolver) == place->function;
    if (called == 0)
        return (struct proof_origin){taken ? ORIGIN_THREAD : exported ? ORIGIN_ENTRY : ORIGIN_NONE, 0};
    const struct call_site *site = only_call(sites, count, place->image, place->function);
    return !taken && !exported && site ? (struct proof_origin){ORIGIN_CALL, site->next}
                                       : (struct proof_origin){0};
}

/* The same, cached: finding it goes through all calls of the image. NULL: unknown. */
static const struct proof_origin *origin_of(struct prover *p, const struct calls *calls,
                                            const struct place *place)
{
    const size_t index =
        table_index(p->known, hash_u64((uintptr_t)place->image) ^ place->function, p->origins,
                    p->origin_count, p->origin_capacity, find_origin(calls, place));
    return index == SIZE_MAX ? NULL : &p->origins[index];
}

/* The return address if the code allows only one; 0: it does not. */
static uint64_t return_by_code(struct prover *p, const struct proof_frame *frame)
{
    const struct image *image = frame->place.image;
    const struct calls *calls = calls_in(p, image);
    const struct proof_origin *origin = calls ? origin_of(p, calls, &frame->place) : NULL;
    uint64_t thread_return;
    switch (origin ? origin->kind : ORIGIN_NONE) {
    case ORIGIN_CALL:
        return mapped_at(p->process, image, origin->address);
    case ORIGIN_THREAD:
        if (process_stack_start(p->process, p->tid) != STACK_START_THREAD ||
            !image_thread_return(image, &thread_return))
            return 0;
        return mapped_at(p->process, image, thread_return);
    case ORIGIN_ENTRY:
        return return_to_entry(p, frame, calls);
    default:
        return 0;
    }
}

/* The return address of the last frame; 0: no certain one. */
static uint64_t next_return(struct prover *p, const struct links *links, uint32_t *at)
{
    const struct proof_frame *frame = &p->frames[p->count - 1];
    uint64_t back = 0;
    if (*at < links->count && links->source == CHAIN_CALLS)
        back = return_after_call(p, frame, &links->at[*at]);
    else if (*at < links->count && keeps_frame_pointer(&frame->row))
        back = links->at[*at].address;
    if (back) {
        (*at)++;
        return back;
    }
    if (*at < links->count && links->source == CHAIN_FRAMES)
        back = return_to_missing(p, frame, links->at[*at].address);
    return back ? back : return_by_code(p, frame);
}

/* Whether the sample's function is the one that its chain begins with. A precise sample has the chain of the interrupt, which
 * comes a little later. */
static bool is_where_chain_begins(const struct prover *p, const struct sample *sample)
{
    const struct place *first = &p->frames[0].place;
    struct place place;
    return sample->mode != SAMPLE_MODE_USER || sample->ip == p->links.ip ||
           (process_place(p->process, sample->ip, &place) && place.image == first->image &&
            place.function == first->function);
}

enum proof_extent prover_prove(struct prover *p, const struct process *process, const struct sample *sample,
                               enum chain_source source, struct sample *out)
{
    uint32_t at = 0;
    bool whole = false;
    p->process = process;
    p->tid = sample->tid;
    p->count = 0;
    if (!process || !links_of(sample, source, &p->links) || !add_frame(p, p->links.ip) ||
        !is_where_chain_begins(p, sample))
        return PROOF_NONE;
    for (;;) {
        whole = p->frames[p->count - 1].row.root;
        uint64_t back = whole ? 0 : next_return(p, &p->links, &at);
        if (!back || !add_frame(p, back))
            break;
    }
    if ((p->count == 1 && !whole) || !proof_write_stack(p, sample, whole, out))
        return PROOF_NONE;
    return whole ? PROOF_WHOLE : PROOF_PART;
}
