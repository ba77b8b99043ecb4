/* site_list.c - see site_list.h. */
#include "streams/trace/site_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/file.h"
#include "base/search.h"
#include "streams/trace/dense.h"

#define MAGIC      0x54495346u
#define VERSION    1u
#define HEADER     32u /* bytes */
#define SITE       24u
#define PART       16u
#define NAME_MOST  4096u
#define SITES_MOST (1u << 28)

/* offsets in a site of the file */
enum { AT_PC = 0, AT_ADDRESS = 8, AT_SIZE = 16, AT_LOAD = 18, AT_STORE = 19, AT_FORM = 20 };

static uint8_t *put(uint8_t *to, const void *value, size_t size)
{
    memcpy(to, value, size);
    return to + size;
}

static void put_site(uint8_t *to, const struct duplicate_site *s)
{
    memcpy(to + AT_PC, &s->pc, sizeof s->pc);
    memcpy(to + AT_ADDRESS, &s->address, sizeof s->address);
    memcpy(to + AT_SIZE, &s->size, sizeof s->size);
    to[AT_LOAD] = s->load;
    to[AT_STORE] = s->store;
    to[AT_FORM] = s->form;
}

int site_list_write(struct outfile *out, const struct site_list *l, struct fathom_error *err)
{
    const uint32_t begin[2] = {MAGIC, VERSION};
    const uint64_t sizes[3] = {l->count, l->part_count, strlen(l->original)};
    size_t size = HEADER + sizes[2] + l->count * SITE + l->part_count * PART;
    uint8_t *data = calloc(1, size + sizeof(uint64_t));
    if (!data)
        return error_memory(err);
    uint8_t *to = put(put(put(data, begin, sizeof begin), sizes, sizeof sizes), l->original, sizes[2]);
    for (size_t i = 0; i < l->count; i++, to += SITE)
        put_site(to, &l->list[i]);
    for (size_t i = 0; i < l->part_count; i++)
        to = put(put(to, &l->parts[i].start, sizeof(uint64_t)), &l->parts[i].address, sizeof(uint64_t));
    uint64_t sum = checksum_of(data, size);
    put(to, &sum, sizeof sum);
    int rc = outfile_put(out, data, size + sizeof sum, err);
    free(data);
    return rc;
}

static bool read_site(struct bytes *from, struct duplicate_site *out)
{
    const uint8_t *at = bytes_take(from, SITE);
    if (!at)
        return false;
    memcpy(&out->pc, at + AT_PC, sizeof out->pc);
    memcpy(&out->address, at + AT_ADDRESS, sizeof out->address);
    memcpy(&out->size, at + AT_SIZE, sizeof out->size);
    out->load = at[AT_LOAD];
    out->store = at[AT_STORE];
    out->form = at[AT_FORM];
    return true;
}

static bool is_whole(const struct file_view *view)
{
    uint64_t sum;
    if (view->size < HEADER + sizeof sum)
        return false;
    memcpy(&sum, view->data + view->size - sizeof sum, sizeof sum);
    return checksum_of(view->data, view->size - sizeof sum) == sum;
}

static bool read_sites(struct bytes *from, uint64_t count, struct site_list *out)
{
    for (; out->count < count; out->count++) {
        struct duplicate_site *s = &out->list[out->count];
        if (!read_site(from, s) || (out->count && s->pc < s[-1].pc))
            return false;
    }
    return true;
}

static bool read_parts(struct bytes *from, uint64_t count, struct site_list *out)
{
    for (; out->part_count < count; out->part_count++) {
        struct duplicate_part *p = &out->parts[out->part_count];
        p->start = bytes_u64(from);
        p->address = bytes_u64(from);
        if (out->part_count && p->start < p[-1].start)
            return false;
    }
    return !from->failed;
}

/* false: invalid in spite of a correct checksum, or out of memory. */
static bool parse_list(const struct file_view *view, struct site_list *out)
{
    struct bytes from = bytes_of(view->data, view->size - sizeof(uint64_t));
    bool known = bytes_u32(&from) == MAGIC && bytes_u32(&from) == VERSION;
    uint64_t count = bytes_u64(&from), parts = bytes_u64(&from), length = bytes_u64(&from);
    const uint8_t *name = length <= NAME_MOST ? bytes_take(&from, length) : NULL;
    if (!known || !name || memchr(name, 0, length) || count > SITES_MOST || parts > SITES_MOST ||
        bytes_left(&from) != count * SITE + parts * PART)
        return false;
    out->original = strndup((const char *)name, length);
    out->list = calloc(count + 1, sizeof *out->list);
    out->parts = calloc(parts + 1, sizeof *out->parts);
    return out->original && out->list && out->parts && read_sites(&from, count, out) &&
           read_parts(&from, parts, out);
}

int site_list_read(const char *path, struct site_list *out, struct fathom_error *err)
{
    struct file_view view;
    size_t size;
    *out = (struct site_list){0};
    int rc = dense_open(path, 0, &view, err);
    if (rc < 0)
        return rc;
    rc = dense_read(&view, view.size, &size, err);
    if (rc == 0 && (size < view.size || !is_whole(&view) || !parse_list(&view, out)))
        rc = error_set(err, EBADMSG, "%s is damaged, or does not list the places of a duplicated file", path);
    file_view_close(&view);
    if (rc < 0)
        site_list_clear(out);
    return rc;
}

void site_list_clear(struct site_list *s)
{
    free(s->original);
    free(s->list);
    free(s->parts);
    *s = (struct site_list){0};
}

const struct duplicate_site *site_list_at(const struct site_list *s, uint64_t pc, size_t *count)
{
    size_t first = lower_bound(i, 0, s->count, s->list[i].pc < pc), end = first;
    while (end < s->count && s->list[end].pc == pc)
        end++;
    *count = end - first;
    return end > first ? &s->list[first] : NULL;
}

bool site_list_function(const struct site_list *l, uint64_t address, uint64_t *entry)
{
    size_t end = lower_bound(i, 0, l->part_count, l->parts[i].start <= address);
    if (!end)
        return false;
    *entry = l->parts[end - 1].address;
    return true;
}
