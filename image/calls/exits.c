/* exits.c - see exits.h. */
#include "image/calls/exits.h"

#include <errno.h>
#include <stdlib.h>

#include "image/calls/private.h"
#include "image/function_parts.h"

static enum exit_kind kind_of(const struct function_code *code, const struct call_site *site)
{
    const uint32_t insn = function_code_find(code, site->address);
    const bool jumps = insn != FUNCTION_CODE_NONE &&
                       (code->insns[insn].kind == CODE_JUMP || code->insns[insn].kind == CODE_JUMP_INDIRECT);
    return jumps ? EXIT_TAIL : EXIT_HIDDEN;
}

static int see_exits(const struct calls_reader *r, exit_see *see, void *context)
{
    const struct calls *calls = r->calls;
    const uint64_t begin = image_function(calls->image, r->function)->address;
    int rc = 0;
    for (uint32_t i = 0; i < r->code.count && rc == 0; i++) {
        const struct code_insn *insn = &r->code.insns[i];
        if (insn->kind == CODE_RETURN)
            rc = see(context, EXIT_RETURN, insn->address);
        else if ((insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH) && insn->target == begin)
            rc = see(context, EXIT_AGAIN, insn->address);
    }
    for (size_t i = 0; i < calls->site_count && rc == 0; i++)
        if (calls->sites[i].tail)
            rc = see(context, kind_of(&r->code, &calls->sites[i]), calls->sites[i].address);
    return rc;
}

int function_exits(const struct image *image, uint32_t function, exit_see *see, void *context)
{
    struct calls *calls = calloc(1, sizeof *calls);
    struct calls_reader r = {.calls = calls, .function = function};
    struct function_part *parts = NULL;
    uint32_t count = 0;
    if (!calls)
        return -ENOMEM;
    calls->image = image;
    calls->function_count = image_function_count(image);
    int rc = slots_build(&image->file, &calls->slots);
    if (rc == 0)
        rc = calls_mark_functions(calls);
    if (rc == 0)
        rc = function_parts_named(image, function, &parts, &count);
    if (rc == 0)
        rc = calls_read_function(&r, parts, count);
    if (rc == 0)
        rc = see_exits(&r, see, context);
    function_code_free(&r.code);
    frame_flow_free(&r.flow);
    free(r.operands);
    free(parts);
    calls_free(calls);
    return rc;
}
