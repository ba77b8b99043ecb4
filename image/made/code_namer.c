/* code_namer.c - see code_namer.h. */
#include "image/made/code_namer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/hash.h"
#include "base/ordered.h"
#include "base/text.h"
#include "base/vec.h"
#include "image/made/code_names.h"

/* The names from one process. */
struct process_names {
    uint32_t pid;
    uint64_t until;
    size_t first, count;           /* of the entries */
    size_t past_first, past_count; /* of the replaced ones */
};

struct piece {
    struct code_names_entry entry;
    bool timed; /* the time from which it existed is known */
};

struct code_namer {
    struct names *names;
    size_t text;                      /* bytes of the names */
    struct code_names_entry *entries; /* of all finished processes */
    size_t count, capacity;
    struct code_names_past *past; /* including those of the current process */
    size_t past_count, past_capacity;
    struct code_names_place *places;
    size_t place_count, place_capacity;
    struct table *place_of; /* hash of a place -> its number + 1 */
    struct process_names *processes;
    size_t process_count, process_capacity;
    /* Of the current process: all code that was added, and an index by address of what has not been replaced. */
    struct ordered *present;
    struct piece *added;
    size_t added_count, added_capacity;
    size_t past_begun;
};

struct code_namer *code_namer_new(void)
{
    struct code_namer *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->names = names_new();
    n->place_of = table_new();
    if (n->names && n->place_of)
        return n;
    code_namer_free(n);
    return NULL;
}

void code_namer_free(struct code_namer *n)
{
    if (!n)
        return;
    names_free(n->names);
    table_free(n->place_of);
    ordered_free(n->present);
    free(n->entries);
    free(n->past);
    free(n->places);
    free(n->processes);
    free(n->added);
    free(n);
}

int code_namer_begin(struct code_namer *n)
{
    ordered_free(n->present);
    n->present = ordered_new();
    n->added_count = 0;
    n->past_count = n->past_begun;
    return n->present ? 0 : -ENOMEM;
}

/* NAMES_NONE: failed, *rc is why. */
static uint32_t intern(struct code_namer *n, const char *text, int *rc)
{
    const uint32_t before = names_count(n->names), number = names_intern(n->names, text);
    *rc = number == NAMES_NONE ? -ENOMEM : 0;
    if (number == before && number != NAMES_NONE)
        n->text += strlen(text) + 1;
    return number;
}

/* The same for a name that need not be NUL-terminated. -ENOSPC: too many; -ENODATA: it is empty. */
static uint32_t intern_part(struct code_namer *n, const char *name, size_t length, int *rc)
{
    char text[CODE_NAME_MOST + 1];
    length = length > CODE_NAME_MOST ? CODE_NAME_MOST : length;
    if (length)
        memcpy(text, name, length);
    text[length] = 0;
    text_clean(text);
    *rc = !*text ? -ENODATA : n->text >= CODE_NAMES_TEXT ? -ENOSPC : 0;
    return *rc == 0 ? intern(n, text, rc) : NAMES_NONE;
}

static uint32_t name_of(const struct code_namer *n, uint32_t place)
{
    return place & CODE_NAMES_PLACE ? n->places[place & ~CODE_NAMES_PLACE].name : place;
}

/* The number of a place, shared with an equal one. If there are too many, that of the name alone. -ENOMEM: none. */
static int place_number(struct code_namer *n, const struct code_names_place *place, uint32_t *out)
{
    uint64_t *number = table_put(n->place_of, checksum_of(place, sizeof *place), NULL);
    if (!number)
        return -ENOMEM;
    *out = place->name;
    if (*number == 0 || memcmp(&n->places[*number - 1], place, sizeof *place) != 0) {
        if (n->place_count == CODE_NAMES_PLACES)
            return 0;
        if (!vec_push(n->places, n->place_count, n->place_capacity, *place))
            return -ENOMEM;
        *number = n->place_count;
    }
    *out = CODE_NAMES_PLACE | (uint32_t)(*number - 1);
    return 0;
}

/* Adds code, which must not overlap any present code. */
static int put_piece(struct code_namer *n, uint64_t address, uint64_t size, uint32_t place, bool timed)
{
    const struct piece piece = {{address, (uint32_t)size, place}, timed};
    if (n->count + n->added_count >= CODE_NAMES_ENTRIES)
        return -ENOSPC;
    return vec_push(n->added, n->added_count, n->added_capacity, piece) &&
                   ordered_put(n->present, address, n->added_count - 1)
               ? 0
               : -ENOMEM;
}

/* New code that replaces other code. */
struct replacement {
    uint64_t address, end, time;
    uint32_t name;
    bool doubtful; /* some of the replaced code had another name, and when that ended is unknown */
};

/* Records the part of a piece that was replaced, or notes that its end is unknown. */
static int retire_piece(struct code_namer *n, const struct piece *old, struct replacement *by)
{
    const uint64_t old_end = old->entry.address + old->entry.size;
    const uint64_t from = old->entry.address > by->address ? old->entry.address : by->address,
                   to = old_end < by->end ? old_end : by->end;
    const struct code_names_past past = {
        .address = from, .until = by->time, .size = (uint32_t)(to - from), .place = old->entry.place};
    if (by->time && old->timed && n->past_count < CODE_NAMES_PAST)
        return vec_push(n->past, n->past_count, n->past_capacity, past) ? 0 : -ENOMEM;
    by->doubtful |= name_of(n, old->entry.place) != by->name;
    return 0;
}

/* Removes all code that the new code overlaps. */
static int clear_range(struct code_namer *n, struct replacement *by)
{
    uint64_t key, index;
    int rc = 0;
    while (rc == 0 && ordered_at_most(n->present, by->end - 1, &key, &index)) {
        const struct piece old = n->added[index];
        const uint64_t address = old.entry.address, end = address + old.entry.size;
        if (end <= by->address)
            break;
        rc = retire_piece(n, &old, by);
        ordered_remove(n->present, key);
        if (rc == 0 && end > by->end)
            rc = put_piece(n, by->end, end - by->end, old.entry.place, old.timed);
        if (rc == 0 && address < by->address)
            rc = put_piece(n, address, by->address - address, old.entry.place, old.timed);
    }
    return rc;
}

static bool is_code(uint64_t address, uint64_t size)
{
    uint64_t end;
    return size != 0 && size <= UINT32_MAX && !__builtin_add_overflow(address, size, &end);
}

static bool is_marked(const char *text)
{
    const size_t length = strlen(text), mark = strlen(CODE_NOT_CERTAIN);
    return length > mark && strcmp(text + (length - mark), CODE_NOT_CERTAIN) == 0;
}

/* Removes code to make way for new code. *name is replaced by one marked as uncertain if the times are not known. */
static int make_room(struct code_namer *n, uint64_t address, uint64_t size, uint64_t time, uint32_t *name)
{
    char marked[CODE_NAME_MOST + sizeof CODE_NOT_CERTAIN];
    const char *text = names_text(n->names, *name);
    struct replacement by = {.address = address, .end = address + size, .time = time, .name = *name};
    int rc = clear_range(n, &by);
    if (rc == 0 && by.doubtful && !is_marked(text)) { /* so it has at most CODE_NAME_MOST bytes */
        if (n->text >= CODE_NAMES_TEXT)
            return -ENOSPC;
        const size_t length = strlen(text);
        memcpy(marked, text, length);
        memcpy(marked + length, CODE_NOT_CERTAIN, sizeof CODE_NOT_CERTAIN);
        *name = intern(n, marked, &rc);
    }
    return rc;
}

/* The number of the place for a part. */
static int place_part(struct code_namer *n, uint32_t name, const struct code_part *part, uint32_t *out)
{
    struct code_names_place place = {.name = name, .file = CODE_NAMES_NO_FILE};
    int rc = 0;
    if (part->file_length && part->line) {
        place.file = intern_part(n, part->file, part->file_length, &rc);
        place.line = rc == 0 ? part->line : 0;
    }
    if (rc == -ENOMEM)
        return rc;
    if (part->row.cfa != CFI_NONE) {
        place.cfa = part->row.cfa;
        place.bp = part->row.bp;
        place.cfa_offset = part->row.cfa_offset;
        place.bp_offset = part->row.bp_offset;
    }
    *out = name;
    return place.line || place.cfa ? place_number(n, &place, out) : 0;
}

/* Adds the parts; adjacent ones with the same place become one. */
static int put_parts(struct code_namer *n, const struct code_made *made, uint32_t name)
{
    uint64_t from = 0;
    uint32_t place = name;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < made->part_count && made->parts[i].from < made->size; i++) {
        uint32_t next;
        rc = place_part(n, name, &made->parts[i], &next);
        if (rc < 0 || next == place)
            continue;
        if (made->parts[i].from > from)
            rc = put_piece(n, made->address + from, made->parts[i].from - from, place, made->time != 0);
        from = made->parts[i].from > from ? made->parts[i].from : from;
        place = next;
    }
    return rc == 0 ? put_piece(n, made->address + from, made->size - from, place, made->time != 0) : rc;
}

int code_namer_make(struct code_namer *n, const struct code_made *made)
{
    int rc;
    if (!is_code(made->address, made->size))
        return 0;
    uint32_t name = intern_part(n, made->name, made->length, &rc);
    if (rc < 0)
        return rc == -ENODATA ? 0 : rc;
    rc = make_room(n, made->address, made->size, made->time, &name);
    return rc == 0 ? put_parts(n, made, name) : rc;
}

int code_namer_add(struct code_namer *n, uint64_t address, uint64_t size, const char *name, size_t length)
{
    return code_namer_make(
        n, &(struct code_made){.address = address, .size = size, .name = name, .length = length});
}

/* Removes the pieces of [from, from + size), from the highest address down; they are stored in *out, the
 * caller's. They have one name. */
static int take_pieces(struct code_namer *n, uint64_t from, uint64_t size, uint64_t time, struct piece **out,
                       size_t *count)
{
    struct replacement by = {.address = from, .end = from + size, .time = time};
    uint64_t bound = from + size - 1, key, index;
    size_t capacity = 0;
    while (ordered_at_most(n->present, bound, &key, &index) && key >= from) {
        if (!vec_push(*out, *count, capacity, n->added[index]))
            return -ENOMEM;
        if (key-- == from)
            break;
        bound = key;
    }
    by.name = *count ? name_of(n, (*out)[*count - 1].entry.place) : 0;
    return *count ? clear_range(n, &by) : 0;
}

/* Adds pieces at their new addresses. */
static int put_pieces(struct code_namer *n, const struct piece *pieces, size_t count, uint64_t from,
                      uint64_t to, uint64_t size, uint64_t time)
{
    uint32_t name = name_of(n, pieces[count - 1].entry.place);
    const uint32_t certain = name;
    int rc = make_room(n, to, size, time, &name);
    for (size_t i = count; rc == 0 && i-- > 0;) {
        const struct code_names_entry *e = &pieces[i].entry;
        const uint64_t at = e->address - from, left = size - at;
        if (name_of(n, e->place) == certain)
            rc = put_piece(n, to + at, e->size < left ? e->size : left, name == certain ? e->place : name,
                           time != 0);
    }
    return rc;
}

int code_namer_move(struct code_namer *n, uint64_t from, uint64_t to, uint64_t size, uint64_t time)
{
    struct piece *pieces = NULL;
    size_t count = 0;
    uint64_t key, index;
    if (!is_code(from, size) || !is_code(to, size) || !ordered_at_most(n->present, from, &key, &index) ||
        key != from)
        return 0;
    int rc = take_pieces(n, from, size, time, &pieces, &count);
    if (rc == 0 && count)
        rc = put_pieces(n, pieces, count, from, to, size, time);
    free(pieces);
    return rc;
}

static int compare_past(const void *a, const void *b)
{
    const struct code_names_past *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->until > y->until) - (x->until < y->until);
}

int code_namer_end(struct code_namer *n, uint32_t pid, uint64_t until)
{
    struct process_names process_names = {pid, until,         n->count,
                                          0,   n->past_begun, n->past_count - n->past_begun};
    uint64_t bound = UINT64_MAX, index;
    if (!vec_reserve(n->processes, n->process_count, n->process_capacity, 1) ||
        !vec_reserve(n->entries, n->count, n->capacity, n->added_count))
        return -ENOMEM;
    while (ordered_at_most(n->present, bound, &bound, &index)) { /* from the highest address down */
        n->entries[n->count++] = n->added[index].entry;
        process_names.count++;
        if (bound-- == 0)
            break;
    }
    n->added_count = 0;
    ordered_free(n->present);
    n->present = NULL;
    if (process_names.past_count)
        qsort(n->past + process_names.past_first, process_names.past_count, sizeof *n->past, compare_past);
    n->past_begun = n->past_count;
    if (process_names.count)
        n->processes[n->process_count++] = process_names;
    return 0;
}

static int compare_processes(const void *a, const void *b)
{
    const struct process_names *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->until != y->until)
        return x->until < y->until ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static uint8_t *put_bytes(uint8_t *at, const void *data, size_t size)
{
    return size ? (uint8_t *)memcpy(at, data, size) + size : at;
}

/* What is to be written, in the order of the file. */
struct writing {
    const struct code_namer *namer;
    uint32_t *moved; /* the numbers of places in the file */
    uint8_t *at;
};

/* Orders places by name, then by when they were added. false: out of memory. */
static bool order_places(const struct code_namer *n, uint32_t *moved)
{
    const uint32_t names = names_count(n->names);
    uint32_t *next = calloc((size_t)names + 1, sizeof *next);
    for (size_t i = 0; next && i < n->place_count; i++)
        next[n->places[i].name + 1]++;
    for (uint32_t i = 0; next && i < names; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; next && i < n->place_count; i++)
        moved[i] = next[n->places[i].name]++;
    free(next);
    return next != NULL;
}

static uint32_t written_place(const struct writing *w, uint32_t place)
{
    return place & CODE_NAMES_PLACE ? CODE_NAMES_PLACE | w->moved[place & ~CODE_NAMES_PLACE] : place;
}

static void write_past(struct writing *w)
{
    const struct code_namer *n = w->namer;
    for (size_t i = 0; i < n->process_count; i++)
        for (size_t k = 0; k < n->processes[i].past_count; k++) {
            struct code_names_past past = n->past[n->processes[i].past_first + k];
            past.place = written_place(w, past.place);
            past.process = (uint32_t)i;
            w->at = put_bytes(w->at, &past, sizeof past);
        }
}

static void write_processes(struct writing *w)
{
    const struct code_namer *n = w->namer;
    for (size_t i = 0; i < n->process_count; i++) {
        const struct process_names *process_names = &n->processes[i];
        const struct code_names_process process = {process_names->pid, (uint32_t)process_names->count,
                                                   process_names->until};
        w->at = put_bytes(w->at, &process, sizeof process);
        for (size_t k = process_names->count; k-- > 0;) {
            struct code_names_entry entry = n->entries[process_names->first + k];
            entry.place = written_place(w, entry.place);
            w->at = put_bytes(w->at, &entry, sizeof entry);
        }
    }
}

static void write_all(struct writing *w, const struct code_names_head *head)
{
    const struct code_namer *n = w->namer;
    uint8_t *text = w->at = put_bytes(w->at, head, sizeof *head);
    for (uint32_t i = 0; i < head->names; i++)
        w->at = put_bytes(w->at, names_text(n->names, i), strlen(names_text(n->names, i)) + 1);
    w->at = text + head->text;
    for (size_t i = 0; i < n->place_count; i++)
        memcpy(w->at + w->moved[i] * sizeof *n->places, &n->places[i], sizeof *n->places);
    w->at += n->place_count * sizeof *n->places;
    write_past(w);
    write_processes(w);
}

int code_namer_write(const struct code_namer *n, uint8_t **data, size_t *size)
{
    struct code_names_head head = {.version = CODE_NAMES_VERSION,
                                   .names = names_count(n->names),
                                   .processes = (uint32_t)n->process_count,
                                   .text = (uint32_t)((n->text + 7) & ~(size_t)7),
                                   .places = (uint32_t)n->place_count};
    *data = NULL;
    *size = 0;
    if (!n->process_count)
        return 0;
    qsort(n->processes, n->process_count, sizeof *n->processes, compare_processes);
    for (size_t i = 0; i < n->process_count; i++)
        head.past += (uint32_t)n->processes[i].past_count;
    *size = sizeof head + head.text + n->place_count * sizeof *n->places + head.past * sizeof *n->past +
            n->process_count * sizeof(struct code_names_process) + n->count * sizeof *n->entries;
    uint8_t *made = calloc(1, *size);
    uint32_t *moved = malloc((n->place_count + 1) * sizeof *moved);
    if (made && moved && order_places(n, moved))
        write_all(&(struct writing){n, moved, made}, &head);
    else {
        free(made);
        made = NULL;
    }
    free(moved);
    *data = made;
    return made ? 0 : -ENOMEM;
}
