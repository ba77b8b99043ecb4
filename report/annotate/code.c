/* code.c - see code.h. */
#include "report/annotate/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/vec.h"
#include "image/code/code.h"
#include "image/run_time.h"

enum { AROUND = 3 /* instructions shown before and after a hot one, like grep -C */ };

/* The function to annotate. */
struct annotated_of {
    const struct contexts *contexts;
    const struct choice *choice;
    const struct chosen *function;
};

/* The bytes of code made at run time are not recorded: list the address of each of its lines (image/run_time.h). */
static bool list_addresses(struct annotated_code *c, const struct image_function *function)
{
    bool good = true;
    for (uint32_t at = 0; good && at < function->size; at++)
        good = vec_push(c->insns, c->count, c->capacity,
                        (struct annotated_insn){.address = function->address + at, .length = 1});
    return good;
}

/* Reads the instructions of a function or of a part of it: all, or only those of the function inlined into it. */
static bool read_part(struct annotated_code *c, const struct annotated_of *of,
                      const struct image_function *part)
{
    char text[DISASSEMBLED_SIZE];
    size_t size = 0, most = ANNOTATED_BYTES_MOST - c->read;
    if (image_is_run_time(c->image))
        return list_addresses(c, part);
    const uint8_t *code = image_bytes(c->image, part->address, &size);
    size = !code ? 0 : size < part->size ? size : part->size;
    size = size < most ? size : most;
    c->unread += part->size - size;
    c->read += size;
    for (size_t at = 0; at < size;) {
        unsigned length = disassembler_read(c->disassembler, code + at, size - at, part->address + at, text);
        struct annotated_insn insn = {.address = part->address + at, .length = (uint8_t)length};
        bool is_its = !of->function->inlined || choice_is_at(of->choice, of->function, insn.address);
        if (is_its && !vec_push(c->insns, c->count, c->capacity, insn))
            return false;
        at += length;
    }
    return true;
}

/* Reads the function's own code, or the code of the functions it is inlined into where it was sampled. */
static bool read_code(struct annotated_code *c, const struct annotated_of *of)
{
    const struct contexts *contexts = of->contexts;
    uint32_t count = image_function_count(c->image);
    bool *wanted = calloc((size_t)count + 1, sizeof *wanted), good = wanted;
    if (good && !of->function->inlined)
        wanted[of->function->function] = true;
    for (size_t i = 0; i < contexts->sample_count && good && of->function->inlined; i++)
        if (choice_has(of->choice, of->function, &contexts->samples[i]))
            wanted[image_function_at(c->image, contexts->samples[i].address)] = true;
    for (uint32_t i = 0; i < count && good; i++) {
        if (wanted[i] && of->function->inlined)
            good = vec_push(c->hosts, c->host_count, c->host_capacity, i);
        if (good && wanted[image_function(c->image, i)->owner])
            good = read_part(c, of, image_function(c->image, i));
    }
    free(wanted);
    return good;
}

static void add_weight(struct annotated_code *c, uint64_t address, uint64_t weight)
{
    size_t after = lower_bound(i, (size_t)0, c->count, c->insns[i].address <= address);
    if (after == 0 || address - c->insns[after - 1].address >= c->insns[after - 1].length)
        return;
    struct annotated_insn *insn = &c->insns[after - 1];
    insn->weight = add_saturating(insn->weight, weight);
}

int annotated_code_read(struct annotated_code *out, const struct contexts *contexts,
                        const struct choice *choice, const struct chosen *function, struct fathom_error *err)
{
    struct annotated_code c = {
        .image = function->image, .disassembler = disassembler_new(), .total = function->weight};
    bool good = c.disassembler && read_code(&c, &(struct annotated_of){contexts, choice, function});
    for (size_t i = 0; i < contexts->sample_count && good; i++)
        if (choice_has(choice, function, &contexts->samples[i]))
            add_weight(&c, contexts->samples[i].address,
                       contexts->sample_values[i * contexts->metrics->count]);
    if (!good) {
        annotated_code_clear(&c);
        return error_memory(err);
    }
    *out = c;
    return 0;
}

void annotated_code_clear(struct annotated_code *c)
{
    disassembler_free(c->disassembler);
    free(c->insns);
    free(c->hosts);
    *c = (struct annotated_code){0};
}

static int by_weight(const void *a, const void *b)
{
    const struct annotated_insn *f = *(struct annotated_insn *const *)a;
    const struct annotated_insn *g = *(struct annotated_insn *const *)b;
    return order_of(g->weight, f->weight) ?: order_of(f->address, g->address);
}

static void show_around(struct annotated_code *c, size_t number)
{
    size_t from = number > AROUND ? number - AROUND : 0;
    for (size_t i = from; i < c->count && i <= number + AROUND; i++)
        c->insns[i].shown = true;
}

/* Shows gaps that are too short for a line about them to be worthwhile. */
static void fill_gaps(struct annotated_code *c)
{
    for (size_t i = 0, gap; i < c->count; i += gap + 1) {
        for (gap = 0; i + gap < c->count && !c->insns[i + gap].shown; gap++)
            ;
        for (size_t j = i; gap < AROUND && j < i + gap; j++)
            c->insns[j].shown = true;
    }
}

int annotated_code_show(struct annotated_code *c, double min_percent, size_t most, struct fathom_error *err)
{
    struct annotated_insn **hottest = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct annotated_insn *insn = &c->insns[i];
        bool enough = (double)insn->weight * 100 >= min_percent * (double)c->total;
        if (enough && (insn->weight || min_percent <= 0) && !vec_push(hottest, count, capacity, insn)) {
            free(hottest);
            return error_memory(err);
        }
    }
    sort_with(hottest, count, by_weight);
    for (size_t i = 0; i < count && (!most || i < most); i++)
        show_around(c, (size_t)(hottest[i] - c->insns));
    free(hottest);
    fill_gaps(c);
    return 0;
}

/* Appends " <function+0x12>". */
static void append_target(const struct annotated_code *c, uint64_t target, char *out, size_t size)
{
    char name[256];
    size_t used = strlen(out);
    uint32_t function = image_function_at(c->image, target);
    if (function == IMAGE_NO_FUNCTION)
        return;
    uint64_t offset = target - image_function(c->image, function)->address;
    image_function_format(c->image, function, name, sizeof name);
    text_clean(name);
    snprintf(out + used, size - used, offset ? " <%s+0x%llx>" : " <%s>", name, (unsigned long long)offset);
}

void annotated_insn_format(const struct annotated_code *c, const struct annotated_insn *insn, char *out,
                           size_t size)
{
    char text[DISASSEMBLED_SIZE];
    struct code_insn known;
    size_t left;
    snprintf(out, size, "(not recorded)");
    if (image_is_run_time(c->image))
        return;
    const uint8_t *code = image_bytes(c->image, insn->address, &left);
    disassembler_read(c->disassembler, code, left < insn->length ? left : insn->length, insn->address, text);
    snprintf(out, size, "%s", text);
    if (code_read(code, left, insn->address, &known) &&
        (known.kind == CODE_CALL || known.kind == CODE_JUMP || known.kind == CODE_BRANCH))
        append_target(c, known.target, out, size);
}
