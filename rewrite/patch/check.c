/*
 * check.c - analyses a resized file anew and compares it with the original, instruction by instruction; see patch.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/patch/apply.h"
#include "rewrite/patch/compare.h"
#include "rewrite/patch/note.h"
#include "rewrite/patch/patch.h"
#include "image/image_file.h"
#include "image/image_private.h"

struct check {
    /* The resized image with the original's functions, as its own separate symbols might not be found by the new
     * build-id. */
    struct image after;
    struct whole whole_before, whole_after;
    struct unit u_before, u_after;
    uint8_t *data, *data_after; /* the original file, turned into the expected one; the resized one */
    size_t size, size_after;
    struct fathom_error *err;
};

static int note_difference(struct check *c, uint64_t address, const char *what)
{
    return error_set(c->err, EBADMSG, "the resized %s is wrong at 0x%llx: %s", image_name(&c->after),
                     (unsigned long long)address, what);
}

/* Copies what may have changed in this function. */
static int expect_changes(struct check *c, uint32_t bytes)
{
    const struct unit *u = &c->u_before;
    for (size_t i = 0; i < u->edit_count; i++)
        if (patch_apply(u, &u->edits[i], bytes, c->data, c->size) < 0)
            return note_difference(c, u->edits[i].address, "its numbers have no room for the pad");
    /* CFI is compared by rows, in the analysis */
    for (size_t i = 0; i < u->fde_count; i++) {
        size_t at = patch_fde_offset(u, &u->fdes[i]);
        memcpy(c->data + at, c->data_after + at, bytes_left(&u->fdes[i].fde->code));
    }
    return 0;
}

static int check_function(struct check *c, const struct pad *pad, struct compare *compare)
{
    uint32_t function = image_function_entry(c->whole_before.image, pad->address);
    if (function == IMAGE_NO_FUNCTION)
        return note_difference(c, pad->address, "there is no function");
    if (unit_analyse(&c->u_before, &c->whole_before, function) < 0 ||
        unit_analyse(&c->u_after, &c->whole_after, function) < 0)
        return error_memory(c->err);
    if (c->u_before.refusal != GROWTH_RESIZABLE)
        return note_difference(c, pad->address, "it should not have been changed");
    enum growth_refusal refusal = c->u_after.refusal;
    if (refusal != GROWTH_RESIZABLE && refusal != GROWTH_NO_ROOM && refusal != GROWTH_NO_ROOM_CFI)
        return note_difference(c, c->u_after.where, growth_refusal_text(refusal));
    uint64_t where;
    const char *what = compare_units(compare, &c->u_before, &c->u_after, pad->bytes, &where);
    if (what)
        return note_difference(c, where, what);
    return expect_changes(c, pad->bytes);
}

static int check_rest(struct check *c, bool changed)
{
    struct note_place place = note_find(c->whole_before.image);
    if (place.size && place.offset + place.size <= c->size) {
        bool same = memcmp(c->data + place.offset, c->data_after + place.offset, place.size) == 0;
        if (changed && same)
            return error_set(c->err, EBADMSG, "the resized %s has the build-id of the original",
                             image_name(&c->after));
        memcpy(c->data + place.offset, c->data_after + place.offset, place.size);
    }
    for (size_t i = 0; i < c->size; i++)
        if (c->data[i] != c->data_after[i])
            return error_set(c->err, EBADMSG,
                             "the resized %s differs from the original at offset 0x%zx of the file",
                             image_name(&c->after), i);
    return 0;
}

static int run_check(struct check *c, const struct image *before, const struct pad *pads, size_t count)
{
    int rc = image_read_file(before, &c->data, &c->size, c->err);
    if (rc == 0)
        rc = image_read_file(&c->after, &c->data_after, &c->size_after, c->err);
    if (rc == 0 && c->size != c->size_after)
        rc = error_set(c->err, EBADMSG, "the resized %s has another length", image_name(&c->after));
    if (rc == 0)
        rc = whole_read(before, &c->whole_before, c->err);
    if (rc == 0)
        rc = whole_read(&c->after, &c->whole_after, c->err);
    struct compare *compare = rc == 0 ? compare_new() : NULL;
    if (rc == 0 && !compare)
        rc = error_memory(c->err);
    bool changed = false;
    for (size_t i = 0; i < count && rc == 0; i++) {
        changed |= pads[i].bytes != 0;
        if (pads[i].bytes)
            rc = check_function(c, &pads[i], compare);
    }
    compare_free(compare);
    return rc == 0 ? check_rest(c, changed) : rc;
}

int patch_check(const struct image *before, const struct image *after, const struct pad *pads, size_t count,
                struct fathom_error *err)
{
    struct check c = {.after = *after, .err = err};
    c.after.functions = before->functions;
    int rc = run_check(&c, before, pads, count);
    free(c.data);
    free(c.data_after);
    whole_free(&c.whole_before);
    whole_free(&c.whole_after);
    unit_free(&c.u_before);
    unit_free(&c.u_after);
    return rc;
}
