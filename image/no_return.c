/* no_return.c - see no_return.h. The work for a function is limited; most reach a return soon. */
#include "image/no_return.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "image/block_list.h"
#include "image/image_private.h"

#define DEPTH_MAX   32u   /* nested calls; deeper callees are assumed to return */
#define BLOCKS_MOST 48u   /* of a function that does not return: such functions do little */
#define INSNS_MOST  1000u /* the same */

static const char *const names[] = {"abort",
                                    "exit",
                                    "_exit",
                                    "_Exit",
                                    "quick_exit",
                                    "pthread_exit",
                                    "__assert_fail",
                                    "__assert",
                                    "__assert_perror_fail",
                                    "__stack_chk_fail",
                                    "__fortify_fail",
                                    "__chk_fail",
                                    "longjmp",
                                    "_longjmp",
                                    "__longjmp_chk",
                                    "siglongjmp",
                                    "err",
                                    "errx",
                                    "verr",
                                    "verrx",
                                    "__libc_start_main",
                                    "_Unwind_Resume",
                                    "__cxa_throw",
                                    "__cxa_rethrow",
                                    "__cxa_bad_cast",
                                    "__cxa_bad_typeid",
                                    "__cxa_throw_bad_array_new_length",
                                    "__cxa_pure_virtual",
                                    "__cxa_call_unexpected",
                                    "__cxa_call_terminate",
                                    "_ZSt9terminatev",
                                    "_ZSt10unexpectedv",
                                    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
                                    "_ZSt21__glibcxx_assert_failPKciS0_S0_",
                                    "_gfortran_os_error",
                                    "_gfortran_os_error_at",
                                    "_gfortran_runtime_error",
                                    "_gfortran_runtime_error_at",
                                    "_gfortran_stop_string",
                                    "g_assertion_message_expr",
                                    "g_assertion_message"};

static bool is_name(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return true;
    /* std::__throw_length_error() and so on */
    const size_t digits = strncmp(name, "_ZSt", 4) == 0 ? strspn(name + 4, "0123456789") : 0;
    return digits && strncmp(name + 4 + digits, "__throw_", 8) == 0;
}

enum no_return_is { NOT_EXAMINED, IS_EXAMINED, IS_ASSUMED, RETURNS, NEVER_RETURNS };

struct stub {
    const char *name;
    uint32_t index, function; /* function: the one of that name in this file, or the stub itself */
};

struct walk {
    struct no_return *known;
    uint64_t blocks[BLOCKS_MOST]; /* the first `done` ones were walked */
    unsigned count, done, insns;
};

static bool never_returns(struct no_return *known, uint32_t function);

static bool is_known(struct no_return *known, uint64_t address)
{
    const struct functions *functions = &known->image->functions;
    const uint32_t f = functions_find(functions, address);
    return f != IMAGE_NO_FUNCTION && functions->items[f].address == address && never_returns(known, f);
}

bool no_return_calls(struct no_return *known, const struct code_insn *insn)
{
    if (insn->kind == CODE_CALL_INDIRECT && insn->rip_relative)
        return is_known(known, slots_value(known->slots, &known->image->file, insn->memory));
    return insn->kind == CODE_CALL && is_known(known, insn->target);
}

/* Whether a jump leads to code that does not return, as far as is known yet. */
static bool jump_never_returns(struct walk *w, uint64_t target)
{
    const bool function =
        functions_start(&w->known->image->functions, target) == START_SURE && target != w->blocks[0];
    return function ? is_known(w->known, target) : block_list_add(w->blocks, &w->count, BLOCKS_MOST, target);
}

/* Whether an instruction is mov %reg,%rsp, which changes to another stack or frame, as longjmp() and
 * _Unwind_Resume() do. */
static bool leaves_stack(const uint8_t *bytes, const struct code_insn *insn)
{
    return insn->length == 3 && bytes[1] == 0x89 && insn->stack == CODE_SP_OTHER;
}

/* Whether control ends where another function begins behind an instruction: a call there does not return, and
 * padding is not executed. Otherwise the code continues into that function. */
static bool ends_at(struct walk *w, const struct code_insn *last, uint64_t address)
{
    return last->kind == CODE_CALL || last->kind == CODE_CALL_INDIRECT || last->kind == CODE_NOP ||
           is_known(w->known, address);
}

/* Walks a block; false: it may return. */
static bool walk_block(struct walk *w, uint64_t at)
{
    const uint64_t start = at;
    size_t size;
    const uint8_t *bytes = image_bytes(w->known->image, at, &size);
    struct code_insn insn, last = {.kind = CODE_PLAIN};
    unsigned leaving = 0; /* instructions in which a return belongs to another stack (leaves_stack()) */
    for (; bytes && code_read(bytes + (at - start), size - (at - start), at, &insn);
         at += insn.length, last = insn) {
        leaving = leaves_stack(bytes + (at - start), &insn) ? 3 : leaving ? leaving - 1 : 0;
        if (leaving && (insn.kind == CODE_RETURN || insn.kind == CODE_JUMP_INDIRECT))
            return true;
        if (at != start && functions_start(&w->known->image->functions, at) == START_SURE)
            return ends_at(w, &last, at);
        if (w->insns++ == INSNS_MOST || insn.kind == CODE_RETURN || insn.kind == CODE_JUMP_INDIRECT)
            return false;
        if ((insn.kind == CODE_JUMP || insn.kind == CODE_BRANCH) && !jump_never_returns(w, insn.target))
            return false;
        if (insn.kind == CODE_JUMP || insn.kind == CODE_STOP || no_return_calls(w->known, &insn))
            return true;
    }
    return false;
}

static bool may_return(struct no_return *known, uint64_t address)
{
    struct walk w = {.known = known, .count = 1};
    bool may = false;
    w.blocks[0] = address;
    while (!may && w.done < w.count)
        may = !walk_block(&w, w.blocks[w.done++]);
    known->budget -= w.insns < known->budget ? w.insns : known->budget;
    return may;
}

/* Compares names up to a version's or stub's @. */
static int compare_names(const char *a, const char *b)
{
    while (*a == *b && *a && *a != '@')
        a++, b++;
    const unsigned char x = (unsigned char)*a, y = (unsigned char)*b;
    return (x == '@' ? 0 : x) - (y == '@' ? 0 : y);
}

static int compare_stubs(const void *a, const void *b)
{
    const struct stub *x = a, *y = b;
    return compare_names(x->name, y->name);
}

static int list_stubs(struct no_return *known)
{
    const struct functions *functions = &known->image->functions;
    for (uint32_t i = 0; i < functions->count; i++) {
        const struct stub stub = {functions->items[i].name, i, i};
        if (stub.name && plt_holds(&known->image->file, functions->items[i].address) &&
            !vec_push(known->stubs, known->stub_count, known->stub_capacity, stub))
            return -ENOMEM;
    }
    if (known->stub_count)
        qsort(known->stubs, known->stub_count, sizeof *known->stubs, compare_stubs);
    return 0;
}

/* NULL: there is no stub of that name. */
static const struct stub *find_stub(const struct no_return *known, const char *name)
{
    const struct stub *stubs = known->stubs;
    const uint32_t i = lower_bound(k, 0u, known->stub_count, compare_names(stubs[k].name, name) < 0);
    return i < known->stub_count && compare_names(stubs[i].name, name) == 0 ? &stubs[i] : NULL;
}

/* Finds which stubs lead to functions of this file. If out of memory, none is resolved. */
static void match_stubs(struct no_return *known)
{
    const struct functions *functions = &known->image->functions;
    known->is_listed = true;
    if (list_stubs(known) < 0)
        return;
    for (uint32_t f = 0; f < functions->count; f++) {
        const char *name = functions->items[f].name;
        const struct stub *at = name ? find_stub(known, name) : NULL;
        if (at && !plt_holds(&known->image->file, functions->items[f].address))
            known->stubs[at - known->stubs].function = f;
    }
}

static bool stub_never_returns(struct no_return *known, uint32_t function)
{
    if (!known->is_listed)
        match_stubs(known);
    const char *name = known->image->functions.items[function].name;
    const struct stub *stub = name ? find_stub(known, name) : NULL;
    return stub && stub->function != stub->index && never_returns(known, stub->function);
}

static bool look_at(struct no_return *known, uint32_t function)
{
    const struct image_function *f = &known->image->functions.items[function];
    if (f->name && is_name(f->name, strcspn(f->name, "@")))
        return true;
    if (plt_holds(&known->image->file, f->address))
        return stub_never_returns(known, function);
    return !may_return(known, f->address);
}

/* Forgets the results found since then: they assumed that a function returns which does not. */
static void forget_since(struct no_return *known, uint32_t since)
{
    while (known->found_count > since)
        known->functions[known->found[--known->found_count]] = NOT_EXAMINED;
}

static void examine_function(struct no_return *known, uint32_t function)
{
    uint8_t *is = &known->functions[function];
    const uint32_t since = known->found_count;
    *is = IS_EXAMINED;
    known->depth++;
    const bool never = look_at(known, function);
    known->depth--;
    if (never && *is == IS_ASSUMED)
        forget_since(known, since);
    *is = never ? NEVER_RETURNS : RETURNS;
    if (!never && !vec_push(known->found, known->found_count, known->found_capacity, function))
        known->budget = 0;
}

static bool never_returns(struct no_return *known, uint32_t function)
{
    uint8_t *is = &known->functions[function];
    if (*is == NOT_EXAMINED && known->depth < DEPTH_MAX && known->budget)
        examine_function(known, function);
    else if (*is == IS_EXAMINED)
        *is = IS_ASSUMED; /* assumed to return */
    return *is == NEVER_RETURNS;
}

int no_return_open(const struct image *image, struct slots *slots, struct no_return *out)
{
    *out = (struct no_return){.image = image,
                              .slots = slots,
                              .functions = calloc(image->functions.count + (size_t)1, 1),
                              .budget = functions_bytes(&image->functions, 0, image->functions.count)};
    return out->functions ? 0 : -ENOMEM;
}

void no_return_close(struct no_return *known)
{
    free(known->functions);
    free(known->stubs);
    free(known->found);
}
