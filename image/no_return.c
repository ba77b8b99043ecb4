/* no_return.c - see no_return.h. The work for a function is limited, and most have a return soon. */
#include "image/no_return.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "image/image_private.h"

#define ROUNDS_MOST 8u    /* calls of calls ...: each round adds the callers of what the round before found */
#define BLOCKS_MOST 48u   /* of a function that does not return: those do little before */
#define INSNS_MOST  1000u /* likewise */

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

struct walk {
    const struct no_return *known;
    uint64_t blocks[BLOCKS_MOST]; /* the first `done` were walked */
    unsigned count, done, insns;
};

static bool is_known(const struct no_return *known, uint64_t address)
{
    const struct functions *functions = &known->image->functions;
    const uint32_t f = functions_find(functions, address);
    return f != IMAGE_NO_FUNCTION && functions->items[f].address == address && known->functions[f];
}

bool no_return_calls(const struct no_return *known, const struct code_insn *insn)
{
    return insn->kind == CODE_CALL && is_known(known, insn->target);
}

static bool add_block(struct walk *w, uint64_t address)
{
    for (unsigned i = 0; i < w->count; i++)
        if (w->blocks[i] == address)
            return true;
    if (w->count == BLOCKS_MOST)
        return false;
    w->blocks[w->count++] = address;
    return true;
}

/* Whether a jump leads to where nothing returns, as far as is known yet. */
static bool stays(struct walk *w, uint64_t target)
{
    const bool function =
        functions_start(&w->known->image->functions, target) == START_SURE && target != w->blocks[0];
    return function ? is_known(w->known, target) : add_block(w, target);
}

/* Whether an instruction is mov %reg,%rsp: to another stack or frame, where longjmp() and _Unwind_Resume() go. */
static bool leaves_stack(const uint8_t *bytes, const struct code_insn *insn)
{
    return insn->length == 3 && bytes[1] == 0x89 && insn->stack == CODE_SP_OTHER;
}

/* Walks a block; false: it may return. */
static bool walk_block(struct walk *w, uint64_t at)
{
    const uint64_t start = at;
    size_t size;
    const uint8_t *bytes = image_bytes(w->known->image, at, &size);
    struct code_insn insn;
    unsigned leaving = 0; /* instructions: a return that soon behind leaves_stack() is none */
    for (; bytes && code_read(bytes + (at - start), size - (at - start), at, &insn); at += insn.length) {
        leaving = leaves_stack(bytes + (at - start), &insn) ? 3 : leaving ? leaving - 1 : 0;
        if (leaving && (insn.kind == CODE_RETURN || insn.kind == CODE_JUMP_INDIRECT))
            return true;
        if (at != start && functions_start(&w->known->image->functions, at) == START_SURE)
            return true;
        if (w->insns++ == INSNS_MOST || insn.kind == CODE_RETURN || insn.kind == CODE_JUMP_INDIRECT)
            return false;
        if ((insn.kind == CODE_JUMP || insn.kind == CODE_BRANCH) && !stays(w, insn.target))
            return false;
        if (insn.kind == CODE_JUMP || insn.kind == CODE_STOP || no_return_calls(w->known, &insn))
            return true;
    }
    return false;
}

static bool may_return(const struct no_return *known, uint64_t address)
{
    struct walk w = {.known = known, .count = 1};
    w.blocks[0] = address;
    while (w.done < w.count)
        if (!walk_block(&w, w.blocks[w.done++]))
            return true;
    return false;
}

static int compare_stubs(const void *a, const void *b)
{
    const struct stub *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* The stubs of the PLT by name, as the file's own functions are called through them, too. */
static int list_stubs(struct no_return *known)
{
    const struct functions *functions = &known->image->functions;
    for (uint32_t i = 0; i < functions->count; i++) {
        const struct stub stub = {functions->items[i].name, i};
        if (stub.name && plt_holds(&known->image->file, functions->items[i].address) &&
            !vec_push(known->stubs, known->stub_count, known->stub_capacity, stub))
            return -ENOMEM;
    }
    if (known->stub_count)
        qsort(known->stubs, known->stub_count, sizeof *known->stubs, compare_stubs);
    return 0;
}

/* A function that was found, and its stubs. */
static void add_function(struct no_return *known, uint32_t function)
{
    const char *name = known->image->functions.items[function].name;
    const size_t length = name ? strcspn(name, "@") : 0;
    const struct stub *stubs = known->stubs;
    uint32_t i = lower_bound(k, 0u, length ? known->stub_count : 0, strncmp(stubs[k].name, name, length) < 0);
    known->functions[function] = true;
    for (; length && i < known->stub_count && strncmp(stubs[i].name, name, length) == 0; i++)
        if (stubs[i].name[length] == '@')
            known->functions[stubs[i].function] = true;
}

/* Whether there were any more. */
static bool find_more(struct no_return *known)
{
    const struct functions *functions = &known->image->functions;
    bool any = false;
    for (uint32_t i = 0; i < functions->count; i++) {
        if (known->functions[i] || plt_holds(&known->image->file, functions->items[i].address) ||
            may_return(known, functions->items[i].address))
            continue;
        add_function(known, i);
        any = true;
    }
    return any;
}

int no_return_find(const struct image *image, struct no_return *out)
{
    const struct functions *functions = &image->functions;
    *out = (struct no_return){.image = image, .functions = calloc(functions->count + (size_t)1, 1)};
    if (!out->functions || list_stubs(out) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < functions->count; i++) {
        const char *name = functions->items[i].name;
        out->functions[i] = name && is_name(name, strcspn(name, "@"));
    }
    for (unsigned round = 0; round < ROUNDS_MOST && find_more(out); round++)
        ;
    return 0;
}

void no_return_free(struct no_return *known)
{
    free(known->functions);
    free(known->stubs);
}
