/*
 * plan.c - builds the plan of an image; see plan.h.
 *
 * Two passes: first all functions get the best kind that needs no pad, which uses the padding after short
 * functions; what is left of the padding goes to those that need a pad.
 */
#include "pathmap/train/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "pathmap/train/plan_calls.h"
#include "pathmap/train/plan_choose.h"

struct array {
    void *items;
    size_t count, capacity, item_size;
};

struct waiting { /* a hook whose kind is undecided until pads are assigned */
    size_t hook;
    uint32_t function;
};

struct builder {
    const struct image *image;
    const struct plan_options *options;
    struct plan_code code;
    struct array hooks, fixups, calls, bytes, waiting, left_out;
    uint64_t calls_from;
    uint64_t pads_end; /* of the last pad assigned */
    uint32_t kinds[PLAN_KINDS];
};

static int append_items(struct array *array, const void *items, size_t count)
{
    if (array->capacity - array->count < count) {
        void *grown =
            vec_grow(array->items, array->item_size, array->count, count, &array->capacity, SIZE_MAX);
        if (!grown)
            return -ENOMEM;
        array->items = grown;
    }
    if (count)
        memcpy((uint8_t *)array->items + array->count * array->item_size, items, count * array->item_size);
    array->count += count;
    return 0;
}

/* The lowest 5 dead bytes that a "jmp rel8" at the address reaches, above all assigned pads; 0: none. Pads
 * are requested in address order, so they ascend, and taking the lowest leaves the most for later ones. */
static uint64_t take_pad(struct builder *b, uint64_t address)
{
    uint64_t from = address + 2, low = from > -INT8_MIN ? from + (uint64_t)INT8_MIN : 0;
    unsigned run = 0;
    if (low < b->pads_end)
        low = b->pads_end;
    for (uint64_t a = low; a < from + INT8_MAX + PLAN_JUMP; a++) {
        run = plan_code_is_dead(&b->code, a) ? run + 1 : 0;
        if (run == PLAN_JUMP) {
            b->pads_end = a + 1;
            plan_code_use(&b->code, a + 1 - PLAN_JUMP, PLAN_JUMP);
            return a + 1 - PLAN_JUMP;
        }
    }
    return 0;
}

/* The bytes are in the file: they were decoded. */
static void copy_original(const struct image *image, uint64_t address, uint8_t *out, unsigned length)
{
    size_t size;
    const uint8_t *bytes = image_bytes(image, address, &size);
    memcpy(out, bytes, length);
}

static int fill_hook(struct builder *b, const struct plan_site *site, uint64_t pad, size_t index)
{
    static const uint8_t patch_lengths[PLAN_KINDS] = {PLAN_JUMP, PLAN_JUMP, 2, 1};
    struct displaced displaced;
    displace(site->insns, site->count, site->next, &displaced);
    struct plan_hook hook = {.address = site->address,
                             .function = site->function,
                             .pad = pad,
                             .code = (uint32_t)b->bytes.count,
                             .code_length = displaced.length,
                             .fixups = (uint32_t)b->fixups.count,
                             .fixup_count = (uint16_t)displaced.fixup_count,
                             .flags = site->loops ? PLAN_LOOPS : 0,
                             .kind = (uint8_t)site->kind,
                             .patch_length = patch_lengths[site->kind],
                             .original_length = (uint8_t)site->original_length,
                             .size = site->size};
    copy_original(b->image, hook.address, hook.original, hook.original_length);
    if (pad)
        copy_original(b->image, pad, hook.pad_original, PLAN_JUMP);
    ((struct plan_hook *)b->hooks.items)[index] = hook;
    b->kinds[site->kind]++;
    plan_code_use(&b->code, site->address, site->original_length);
    if (append_items(&b->fixups, displaced.fixups, displaced.fixup_count) < 0)
        return -ENOMEM;
    return append_items(&b->bytes, displaced.code, displaced.length);
}

static int add_function(struct builder *b, uint32_t index, enum plan_kind from)
{
    const struct image_function *f = image_function(b->image, index);
    struct plan_site site;
    const char *reason = plan_choose(&b->code, index, from, &site);
    if (b->options->sleds_only && (reason || site.kind != PLAN_SLED))
        return 0;
    if (reason) {
        /* without a name it is a .cold part that could not be given to its function */
        if (!f->name && (b->code.flags[index] & PLAN_CODE_PART))
            return 0;
        struct plan_left_out left = {f->address, f->name, reason};
        return append_items(&b->left_out, &left, 1);
    }
    static const struct plan_hook open;
    struct waiting waiting = {b->hooks.count, index};
    if (append_items(&b->hooks, &open, 1) < 0)
        return -ENOMEM;
    return site.kind == PLAN_PAD ? append_items(&b->waiting, &waiting, 1)
                                 : fill_hook(b, &site, 0, waiting.hook);
}

/* A function that allows two bytes also allows one: its first instruction can be displaced. */
static int settle_waiting(struct builder *b, const struct waiting *waiting)
{
    struct plan_site site;
    uint64_t pad = 0;
    plan_choose(&b->code, waiting->function, PLAN_PAD, &site);
    if (site.kind == PLAN_PAD) {
        plan_code_use(&b->code, site.address, site.original_length);
        pad = take_pad(b, site.address);
        if (!pad)
            plan_choose(&b->code, waiting->function, PLAN_BREAKPOINT, &site);
    }
    return fill_hook(b, &site, pad, waiting->hook);
}

static int add_functions(struct builder *b)
{
    const struct plan_options *options = b->options;
    uint64_t start;
    bool starts = image_entry(b->image, &start);
    int rc = 0;
    for (uint32_t i = 0; i < image_function_count(b->image) && rc == 0; i++) {
        const struct image_function *f = image_function(b->image, i);
        if (f->owner != i || image_function_is_found(b->image, i) || image_function_is_stub(b->image, i) ||
            (starts && f->address == start) ||
            (options->skip && options->skip(options->context, b->image, i)))
            continue;
        rc = add_function(b, i, options->breakpoints_only ? PLAN_BREAKPOINT : PLAN_SLED);
    }
    const struct waiting *waiting = b->waiting.items;
    for (size_t i = 0; i < b->waiting.count && rc == 0; i++)
        rc = settle_waiting(b, &waiting[i]);
    return rc;
}

static int add_calls(struct builder *b, struct fathom_error *err)
{
    struct plan_calls found;
    int rc = plan_calls_find(b->image, b->hooks.items, (uint32_t)b->hooks.count, &found, err);
    if (rc < 0)
        return rc;
    b->calls.items = found.calls;
    b->calls.count = found.count;
    b->calls_from = found.from;
    return 0;
}

static void fill_header(const struct builder *b, struct plan_header *h)
{
    const struct build_id *id = image_build_id(b->image);
    memcpy(h->magic, PLAN_MAGIC, sizeof h->magic);
    h->version = PLAN_VERSION;
    h->hook_count = (uint32_t)b->hooks.count;
    h->fixup_count = (uint32_t)b->fixups.count;
    h->code_size = (uint32_t)b->bytes.count;
    h->left_out = (uint32_t)b->left_out.count;
    h->call_count = (uint32_t)b->calls.count;
    h->calls_from = b->calls_from;
    uint64_t entry;
    h->entry = image_entry(b->image, &entry) ? entry : 0;
    h->build_id_size = id->size;
    memcpy(h->build_id, id->bytes, id->size);
    const struct plan_hook *hooks = b->hooks.items;
    for (size_t i = 0; i < b->hooks.count; i++) {
        uint64_t low = hooks[i].address, high = low + hooks[i].patch_length;
        if (hooks[i].pad && hooks[i].pad < low)
            low = hooks[i].pad;
        if (hooks[i].pad && hooks[i].pad + PLAN_JUMP > high)
            high = hooks[i].pad + PLAN_JUMP;
        h->text_low = i && h->text_low < low ? h->text_low : low;
        h->text_high = h->text_high > high ? h->text_high : high;
    }
}

static int write_plan(const struct builder *b, void **data, size_t *size, struct fathom_error *err)
{
    const struct array *const arrays[] = {&b->hooks, &b->fixups, &b->calls, &b->bytes};
    size_t total = sizeof(struct plan_header);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (arrays[i]->count > UINT32_MAX)
            return error_set(err, EFBIG, "the hooks of %s do not fit a plan", image_path(b->image));
        total += arrays[i]->count * arrays[i]->item_size;
    }
    uint8_t *out = calloc(1, total);
    if (!out)
        return error_memory(err);
    uint8_t *at = out + sizeof(struct plan_header);
    fill_header(b, (struct plan_header *)out);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        size_t bytes = arrays[i]->count * arrays[i]->item_size;
        if (bytes)
            memcpy(at, arrays[i]->items, bytes);
        at += bytes;
    }
    *data = out;
    *size = total;
    return 0;
}

int plan_build(const struct image *image, const struct plan_options *options, void **data, size_t *size,
               struct plan_summary *summary, struct fathom_error *err)
{
    static const struct plan_options none;
    struct builder b = {.image = image,
                        .options = options ? options : &none,
                        .hooks.item_size = sizeof(struct plan_hook),
                        .fixups.item_size = sizeof(struct plan_fixup),
                        .calls.item_size = sizeof(struct plan_call),
                        .bytes.item_size = 1,
                        .waiting.item_size = sizeof(struct waiting),
                        .left_out.item_size = sizeof(struct plan_left_out)};
    int rc = image_need_code(image, err);
    if (rc < 0)
        return rc;
    if (!b.options->calls_only)
        rc = plan_code_read(image, &b.code);
    if (rc == 0 && !b.options->calls_only)
        rc = add_functions(&b);
    if (rc < 0)
        error_memory(err);
    else
        rc = add_calls(&b, err);
    if (rc == 0)
        rc = write_plan(&b, data, size, err);
    if (rc == 0 && summary) {
        memcpy(summary->kinds, b.kinds, sizeof b.kinds);
        summary->left_out_count = (uint32_t)b.left_out.count;
        summary->left_out = b.left_out.items;
        summary->texts = NULL;
        b.left_out.items = NULL;
    }
    plan_code_free(&b.code);
    free(b.hooks.items);
    free(b.fixups.items);
    free(b.calls.items);
    free(b.bytes.items);
    free(b.waiting.items);
    free(b.left_out.items);
    return rc;
}

void plan_summary_free(struct plan_summary *summary)
{
    free(summary->left_out);
    free(summary->texts);
    *summary = (struct plan_summary){0};
}
