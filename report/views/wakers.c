/* wakers.c - who ended waits, by path; and pairs of a waiting path and the path that ended its waits (profile/waker_paths.h). */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "base/vec.h"
#include "report/views/path_row.h"

/* Waits that end with a waker. */
struct woken {
    const struct cct_node *label,
        *end; /* begin of the waker's path, and its outermost function or the label itself */
    const struct cct_node *lock; /* the lock waited for; NULL: none is known */
    uint64_t waker;              /* a hash of the waker's path */
    uint64_t weight;
};

struct rows {
    struct woken *at;
    size_t count, capacity;
};

/* What the rows show. */
struct listing {
    const char *heading, *one, *many;
    enum listed {
        LISTED_WAKERS, /* all waits that a waker ended */
        LISTED_PAIRS,  /* the same for each path that waited */
        LISTED_LOCKS   /* waits for locks, by lock */
    } listed;
};
static const struct listing wakers_listing = {"who ended waits", "path", "paths", LISTED_WAKERS},
                            pairs_listing = {"wait, and below it its path and that of who ended it", "pair",
                                             "pairs", LISTED_PAIRS},
                            releases_listing = {"lock, and below it the path that gave it to who waited",
                                                "path", "paths", LISTED_LOCKS};

/* The label nearest to the root: further labels are wakers of the waker. NULL: none. */
static const struct cct_node *first_label(const struct drawing *d, const struct cct_node *node)
{
    const struct cct_node *label = NULL;
    for (const struct cct_node *n = node; cct_parent(n); n = cct_parent(n))
        label = frames_at(d->frames, n->item)->kind == FRAME_WAKER ? n : label;
    return label;
}

/* Above the label is the wait's reason, and above that the lock. */
static const struct cct_node *lock_of(const struct drawing *d, const struct cct_node *label)
{
    const struct cct_node *lock = cct_parent(cct_parent(label)) ? cct_parent(cct_parent(label)) : label;
    return cct_parent(lock) && frames_at(d->frames, lock->item)->kind == FRAME_DATA ? lock : NULL;
}

static int find_pairs(const struct drawing *d, struct rows *out, struct fathom_error *err)
{
    struct cct_node *root = cct_root(d->contexts->tree);
    for (struct cct_node *n = root; n; n = cct_next(root, n)) {
        const struct cct_node *label = n->self[0] && n != root ? first_label(d, n) : NULL;
        if (!label)
            continue;
        struct woken row = {.label = label, .end = n, .lock = lock_of(d, label), .weight = n->self[0]};
        for (const struct cct_node *at = n; at != cct_parent(label); at = cct_parent(at))
            row.waker = hash_u64(row.waker + at->item + 1);
        if (!vec_push(out->at, out->count, out->capacity, row))
            return error_memory(err);
    }
    return 0;
}

/* The heaviest first, then by names. */
static int compare_rows(const void *a, const void *b, void *frames)
{
    const struct woken *x = a, *y = b;
    return order_of(y->weight, x->weight) ?: path_compare(frames, x->end, y->end);
}

/* Merges pairs that the listing treats as equal into one row. out: capacity for as many rows as pairs, at least one. */
static void add_up(const struct rows *pairs, const struct listing *l, struct rows *out)
{
    struct rows all = {out->at, 0, 0};
    out->count = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        struct woken row = pairs->at[i];
        if (l->listed == LISTED_LOCKS && !row.lock)
            continue;
        if (l->listed == LISTED_LOCKS)
            row.waker = hash_u64(row.waker + row.lock->item);
        all.at[all.count++] = row;
    }
    if (l->listed != LISTED_PAIRS)
        sort_by(all.at, all.count, waker);
    for (size_t i = 0; i < all.count; i++) {
        struct woken *last = out->count ? &out->at[out->count - 1] : NULL;
        if (last && l->listed != LISTED_PAIRS && last->waker == all.at[i].waker)
            last->weight = add_saturating(last->weight, all.at[i].weight);
        else
            out->at[out->count++] = all.at[i];
    }
}

/* The innermost function of a waker, or if it has none, who it was. */
static const struct cct_node *name_of(const struct woken *row)
{
    const struct cct_node *n = row->end;
    while (n != row->label && cct_parent(n) != row->label)
        n = cct_parent(n);
    return n;
}

static void write_row(const struct drawing *d, const struct woken *row, const struct listing *l)
{
    struct printer *p = d->printer;
    char share[SHARE_SIZE], weight[WEIGHT_SIZE];
    const struct cct_node *reason = cct_parent(row->label), *name = name_of(row),
                          *of[] = {
                              [LISTED_WAKERS] = name, [LISTED_PAIRS] = reason, [LISTED_LOCKS] = row->lock};
    const struct frame *title = frames_at(d->frames, of[l->listed]->item);
    printer_write(p, "%s", row_colour(d->options->colour, row->weight, d->whole));
    const size_t began = p->written;
    printer_write(p, "%7s  %*s  ", share_format(share, row->weight, d->whole), WEIGHT_COLUMNS,
                  weight_format(weight, row->weight, d->unit));
    frame_write(p, title, *title->image, room_left(d, began));
    printer_write(p, "%s\n", row_colour_end(d->options->colour, row->weight, d->whole));
    if (l->listed == LISTED_WAKERS) {
        if (row->end != name) /* which is in the title */
            path_row_write(d, row->end, name);
        return;
    }
    if (l->listed == LISTED_PAIRS)
        path_row_write(d, cct_parent(reason), NULL);
    path_row_write(d, row->end, l->listed == LISTED_PAIRS || name == row->label ? reason : row->label);
}

static void write_rows(const struct drawing *d, const struct rows *pairs, const struct listing *l,
                       struct rows *rows)
{
    size_t shown = 0;
    uint64_t hidden = 0;
    add_up(pairs, l, rows);
    printer_write(d->printer, "%7s  %*s  %s\n", "share", WEIGHT_COLUMNS,
                  strcmp(d->unit, WEIGHT_NS) == 0 ? "time" : d->unit, l->heading);
    if (rows->count)
        qsort_r(rows->at, rows->count, sizeof *rows->at, compare_rows, (void *)d->frames);
    for (size_t i = 0; i < rows->count && !d->printer->failed; i++) {
        if (!weighs_enough(d, rows->at[i].weight) ||
            (d->options->max_rows && shown == d->options->max_rows)) {
            hidden = add_saturating(hidden, rows->at[i].weight);
            continue;
        }
        shown++;
        write_row(d, &rows->at[i], l);
    }
    left_out_write(d, rows->count - shown, l->one, l->many, hidden, LEFT_OUT_ALL);
}

/* Writes the tables. none: text to write if there are no wakers; NULL: nothing. */
static int write_listings(const struct drawing *d, const struct listing *const *listings, size_t count,
                          const char *none, struct fathom_error *err)
{
    struct rows pairs = {0};
    int rc = find_pairs(d, &pairs, err);
    struct rows rows = {.at = calloc(pairs.count + 1, sizeof *rows.at)};
    if (rc == 0 && !rows.at)
        rc = error_memory(err);
    if (rc == 0 && !pairs.count && none)
        printer_write(d->printer, "%s\n", none);
    for (size_t i = 0; rc == 0 && pairs.count && i < count; i++) {
        printer_write(d->printer, "%s", i || !none ? "\n" : "");
        write_rows(d, &pairs, listings[i], &rows);
    }
    free(pairs.at);
    free(rows.at);
    return rc;
}

int wakers_write(const struct drawing *drawing, struct fathom_error *err)
{
    static const struct listing *const listings[] = {&wakers_listing, &pairs_listing};
    return write_listings(drawing, listings, 2, "the recording tells of no wait who ended it", err);
}

int releases_write(const struct drawing *drawing, struct fathom_error *err)
{
    static const struct listing *const listings[] = {&releases_listing};
    return write_listings(drawing, listings, 1, NULL, err);
}
