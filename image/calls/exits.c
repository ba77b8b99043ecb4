/* exits.c - see exits.h. */
#include "image/calls/exits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "image/calls/private.h"
#include "image/function_parts.h"

struct exits_reader {
    struct calls_reader reader;
    struct function_parts parts;
};

static enum exit_kind kind_of(const struct function_code *code, const struct call_site *site)
{
    const uint32_t insn = function_code_find(code, site->address);
    const bool jumps = insn != FUNCTION_CODE_NONE &&
                       (code->insns[insn].kind == CODE_JUMP || code->insns[insn].kind == CODE_JUMP_INDIRECT);
    return jumps ? EXIT_TAIL : EXIT_HIDDEN;
}

/* false: out of memory. */
static bool add_exits(const struct calls_reader *r, size_t first_site, struct exits *out)
{
    const struct calls *calls = r->calls;
    const uint64_t begin = image_function(calls->image, r->function)->address;
    if (!vec_reserve(out->items, out->count, out->capacity, r->code.count + (calls->site_count - first_site)))
        return false;
    for (uint32_t i = 0; i < r->code.count; i++) {
        const struct code_insn *insn = &r->code.insns[i];
        if (insn->kind == CODE_RETURN)
            out->items[out->count++] = (struct exit){EXIT_RETURN, insn->address};
        else if ((insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH) && insn->target == begin)
            out->items[out->count++] = (struct exit){EXIT_AGAIN, insn->address};
    }
    for (size_t i = first_site; i < calls->site_count; i++)
        if (calls->sites[i].tail)
            out->items[out->count++] =
                (struct exit){kind_of(&r->code, &calls->sites[i]), calls->sites[i].address};
    return true;
}

int exits_open(const struct image *image, struct exits_reader **out)
{
    struct exits_reader *e = calloc(1, sizeof *e);
    struct calls *calls = calloc(1, sizeof *calls);
    *out = e;
    if (!e || !calls) {
        free(calls);
        return -ENOMEM;
    }
    e->reader.calls = calls;
    calls->image = image;
    calls->function_count = image_function_count(image);
    int rc = slots_build(&image->file, &calls->slots);
    if (rc == 0)
        rc = calls_mark_functions(calls);
    return rc == 0 ? function_parts_open(image, NULL, &e->parts) : rc;
}

void exits_close(struct exits_reader *e)
{
    if (!e)
        return;
    function_code_free(&e->reader.code);
    frame_flow_free(&e->reader.flow);
    free(e->reader.operands);
    function_parts_close(&e->parts);
    if (e->reader.calls)
        calls_free(e->reader.calls);
    free(e);
}

int exits_find(struct exits_reader *e, uint32_t function, struct exits *out)
{
    const size_t before = e->reader.calls->site_count;
    e->reader.function = function;
    int rc = function_parts_all(&e->parts, function);
    if (rc == 0)
        rc = calls_read_function(&e->reader, e->parts.items, e->parts.count);
    return rc < 0 || add_exits(&e->reader, before, out) ? rc : -ENOMEM;
}
