/* code_namer.c - see code_namer.h. */
#include "image/made/code_namer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/ordered.h"
#include "base/text.h"
#include "base/vec.h"
#include "image/made/code_names.h"

/* What one process says. */
struct said {
    uint32_t pid;
    uint64_t until;
    size_t first, count; /* of the entries */
};

struct code_namer {
    struct names *names;
    size_t text;                      /* bytes of them */
    struct code_names_entry *entries; /* of all that was ended */
    size_t count, capacity;
    struct said *processes;
    size_t process_count, process_capacity;
    /* Of the process that was begun: all that was added, and by address what still stands of it, as indices of that. */
    struct ordered *standing;
    struct code_names_entry *added;
    size_t added_count, added_capacity;
};

struct code_namer *code_namer_new(void)
{
    struct code_namer *n = calloc(1, sizeof *n);
    if (n && !(n->names = names_new())) {
        free(n);
        n = NULL;
    }
    return n;
}

void code_namer_free(struct code_namer *n)
{
    if (!n)
        return;
    names_free(n->names);
    ordered_free(n->standing);
    free(n->entries);
    free(n->processes);
    free(n->added);
    free(n);
}

int code_namer_begin(struct code_namer *n)
{
    ordered_free(n->standing);
    n->standing = ordered_new();
    n->added_count = 0;
    return n->standing ? 0 : -ENOMEM;
}

/* NAMES_NONE: *rc is why. */
static uint32_t intern(struct code_namer *n, const char *text, int *rc)
{
    const uint32_t before = names_count(n->names), number = names_intern(n->names, text);
    *rc = number == NAMES_NONE ? -ENOMEM : 0;
    if (number == before && number != NAMES_NONE)
        n->text += strlen(text) + 1;
    return number;
}

/* Adds code, which overlaps nothing that stands. */
static int put(struct code_namer *n, uint64_t address, uint64_t size, uint32_t name)
{
    const struct code_names_entry entry = {address, (uint32_t)size, name};
    if (n->count + n->added_count >= CODE_NAMES_ENTRIES)
        return -ENOSPC;
    return vec_push(n->added, n->added_count, n->added_capacity, entry) &&
                   ordered_put(n->standing, address, n->added_count - 1)
               ? 0
               : -ENOMEM;
}

/* Takes away what stands in [address, end). *other: whether some of it has another name. */
static int clear(struct code_namer *n, uint64_t address, uint64_t end, uint32_t name, bool *other)
{
    uint64_t key, index;
    int rc = 0;
    while (rc == 0 && ordered_at_most(n->standing, end - 1, &key, &index)) {
        const struct code_names_entry old = n->added[index];
        const uint64_t old_end = old.address + old.size;
        if (old_end <= address)
            break;
        *other |= old.name != name;
        ordered_remove(n->standing, key);
        if (old_end > end)
            rc = put(n, end, old_end - end, old.name);
        if (rc == 0 && old.address < address)
            rc = put(n, old.address, address - old.address, old.name);
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

static int add(struct code_namer *n, uint64_t address, uint64_t size, uint32_t name, const char *text)
{
    char marked[CODE_NAME_MOST + sizeof CODE_NOT_CERTAIN];
    bool other = false;
    int rc = clear(n, address, address + size, name, &other);
    if (rc == 0 && other && !is_marked(text)) { /* so it has CODE_NAME_MOST bytes at most */
        if (n->text >= CODE_NAMES_TEXT)
            return -ENOSPC;
        memcpy(marked, text, strlen(text));
        memcpy(marked + strlen(text), CODE_NOT_CERTAIN, sizeof CODE_NOT_CERTAIN);
        name = intern(n, marked, &rc);
    }
    return rc == 0 ? put(n, address, size, name) : rc;
}

int code_namer_add(struct code_namer *n, uint64_t address, uint64_t size, const char *name, size_t length)
{
    char text[CODE_NAME_MOST + 1];
    int rc;
    if (length > CODE_NAME_MOST)
        length = CODE_NAME_MOST;
    memcpy(text, name, length);
    text[length] = 0;
    text_clean(text);
    if (!*text || !is_code(address, size))
        return 0;
    if (n->text >= CODE_NAMES_TEXT)
        return -ENOSPC;
    const uint32_t number = intern(n, text, &rc);
    return rc == 0 ? add(n, address, size, number, text) : rc;
}

int code_namer_move(struct code_namer *n, uint64_t from, uint64_t to, uint64_t size)
{
    uint64_t key, index;
    if (!ordered_at_most(n->standing, from, &key, &index) || key != from)
        return 0;
    const struct code_names_entry moved = n->added[index];
    size = size < moved.size ? size : moved.size;
    if (!is_code(to, size))
        return 0;
    ordered_remove(n->standing, key);
    return add(n, to, size, moved.name, names_text(n->names, moved.name));
}

int code_namer_end(struct code_namer *n, uint32_t pid, uint64_t until)
{
    struct said said = {pid, until, n->count, 0};
    uint64_t bound = UINT64_MAX, index;
    if (!vec_reserve(n->processes, n->process_count, n->process_capacity, 1) ||
        !vec_reserve(n->entries, n->count, n->capacity, n->added_count))
        return -ENOMEM;
    while (ordered_at_most(n->standing, bound, &bound, &index)) { /* from the highest down */
        n->entries[n->count++] = n->added[index];
        said.count++;
        if (bound-- == 0)
            break;
    }
    n->added_count = 0;
    ordered_free(n->standing);
    n->standing = NULL;
    if (said.count)
        n->processes[n->process_count++] = said;
    return 0;
}

static int compare_said(const void *a, const void *b)
{
    const struct said *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->until != y->until)
        return x->until < y->until ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

int code_namer_write(const struct code_namer *n, uint8_t **data, size_t *size)
{
    const size_t text = (n->text + 7) & ~(size_t)7;
    const struct code_names_head head = {CODE_NAMES_VERSION, names_count(n->names),
                                         (uint32_t)n->process_count, (uint32_t)text};
    *data = NULL;
    *size = 0;
    if (!n->process_count)
        return 0;
    *size = sizeof head + text + n->process_count * sizeof(struct code_names_process) +
            n->count * sizeof *n->entries;
    uint8_t *at = calloc(1, *size);
    if (!at)
        return -ENOMEM;
    *data = at;
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (uint32_t i = 0; i < head.names; i++) {
        const char *name = names_text(n->names, i);
        at = (uint8_t *)memcpy(at, name, strlen(name) + 1) + strlen(name) + 1;
    }
    at = *data + sizeof head + text;
    qsort(n->processes, n->process_count, sizeof *n->processes, compare_said);
    for (size_t i = 0; i < n->process_count; i++) {
        const struct said *said = &n->processes[i];
        const struct code_names_process process = {said->pid, (uint32_t)said->count, said->until};
        at = (uint8_t *)memcpy(at, &process, sizeof process) + sizeof process;
        for (size_t k = said->count; k-- > 0;)
            at = (uint8_t *)memcpy(at, &n->entries[said->first + k], sizeof *n->entries) + sizeof *n->entries;
    }
    return 0;
}
