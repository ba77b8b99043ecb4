/* starts.c - see starts.h. */
#include "infer/samples/starts.h"

#include "image/code/code.h"

uint32_t starts_program(const struct image *image)
{
    uint64_t address;
    return image_entry(image, &address) ? image_function_entry(image, address) : IMAGE_NO_FUNCTION;
}

#define LOADER_CODE 256u /* most bytes of its entry to read */

size_t starts_loader(const struct image *image, uint32_t out[STARTS_MAX])
{
    uint64_t address;
    size_t size, found = 0, at = 0;
    const uint8_t *code = image_library_entry(image, &address) ? image_bytes(image, address, &size) : NULL;
    struct code_insn insn;
    size = !code ? 0 : size < LOADER_CODE ? size : LOADER_CODE;
    for (; at < size && found < STARTS_MAX && code_read(code + at, size - at, address + at, &insn);
         at += insn.length) {
        /* Alignment of SP in between has no effect, as SP is already aligned. */
        if (insn.stack == CODE_SP_MOVED || insn.kind == CODE_RETURN || insn.kind == CODE_STOP ||
            insn.kind == CODE_JUMP_INDIRECT)
            break;
        if (insn.kind != CODE_CALL)
            continue;
        out[found] = image_function_entry(image, insn.target);
        found += out[found] != IMAGE_NO_FUNCTION;
    }
    return found;
}

/* The direct callees of a function, once per call. Returns how many. */
static size_t callees_of(const struct image *image, const struct calls *calls, uint32_t function,
                         uint32_t *out, size_t most)
{
    const struct call_site *sites;
    size_t found = 0, count = function == IMAGE_NO_FUNCTION ? 0 : calls_of(calls, function, &sites);
    for (size_t i = 0; i < count && found < most; i++) {
        if (sites[i].kind == CALL_DIRECT && !sites[i].tail)
            out[found] = image_function_entry(image, sites[i].target);
        found += sites[i].kind == CALL_DIRECT && !sites[i].tail && out[found] != IMAGE_NO_FUNCTION;
    }
    return found;
}

#define CALLEES 256u /* most callees to examine per function */

size_t starts_handed_calls(const struct image *image, const struct calls *calls, uint32_t function,
                           const struct call_site *out[STARTS_MAX])
{
    uint32_t callees[CALLEES];
    size_t found = 0, count = callees_of(image, calls, function, callees, CALLEES);
    for (size_t i = 0; i < count; i++) {
        const struct call_site *sites;
        size_t many = calls_of(calls, callees[i], &sites);
        for (size_t s = 0; s < many && found < STARTS_MAX; s++)
            if (sites[s].kind == CALL_INDIRECT && sites[s].field == CALL_NO_FIELD && !sites[s].target &&
                !sites[s].tail && !sites[s].open)
                out[found++] = &sites[s];
    }
    return found;
}

static uint32_t exported(const struct calls *calls, const char *symbol)
{
    bool resolver;
    return calls_export(calls, symbol, &resolver);
}

size_t starts_main_calls(const struct image *image, const struct calls *calls,
                         const struct call_site *out[STARTS_MAX])
{
    return starts_handed_calls(image, calls, exported(calls, "__libc_start_main"), out);
}

static bool is_among(const uint32_t *functions, size_t count, uint32_t function)
{
    for (size_t i = 0; i < count; i++)
        if (functions[i] == function)
            return true;
    return false;
}

size_t starts_threads(const struct image *image, const struct calls *calls, uint32_t out[STARTS_MAX])
{
    uint32_t callees[CALLEES];
    size_t found = 0, count = callees_of(image, calls, exported(calls, "pthread_create"), callees, CALLEES);
    for (size_t i = 0; i < count; i++) {
        const uint32_t *taken;
        size_t many = calls_taken_by(calls, callees[i], &taken);
        for (size_t t = 0; t < many && found < STARTS_MAX; t++)
            if (!is_among(out, found, taken[t]))
                out[found++] = taken[t];
    }
    return found;
}
