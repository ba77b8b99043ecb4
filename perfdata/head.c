/*
 * head.c - reads what a recording says about itself; see head.h.
 *
 * Everything here may be hostile: sections are clipped to the file, counts are bounded by the data. An
 * invalid section is ignored if the records can be read without it.
 */
#include "perfdata/head.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "base/vec.h"
#include "perfdata/layout.h"
#include "perfdata/stack_sample.h"

#define TRACING_MOST (UINT64_C(16) << 20) /* bytes */

void head_free(struct head *head)
{
    for (size_t i = 0; i < head->count; i++)
        free(head->events[i].ids);
    free(head->events);
    free(head->command);
    free(head->tracing);
    free(head->trailer.scaling.steps);
    free((void *)head->trailer.code_names);
    build_ids_free(&head->build_ids);
    table_free(head->by_id);
    *head = (struct head){0};
}

int head_copy(struct head *head, const struct event *events, size_t count, const char *command,
              struct fathom_error *err)
{
    head->command = command ? strdup(command) : NULL;
    if ((command && !head->command) || !vec_reserve(head->events, 0, head->capacity, count))
        return error_memory(err);
    host_read(&head->host);
    for (; head->count < count; head->count++) {
        struct event *copy = &head->events[head->count];
        *copy = events[head->count];
        copy->ids = malloc((copy->id_count + 1) * sizeof *copy->ids);
        if (!copy->ids)
            return error_memory(err);
        if (copy->id_count)
            memcpy(copy->ids, events[head->count].ids, copy->id_count * sizeof *copy->ids);
    }
    return 0;
}

#define SECTION_MOST ((uint64_t)64 << 20) /* bytes of one section */

/* Copies the part of the file that a section covers to *copy (which is freed first, and finally by the
 * caller), clipped to the file. */
static int section_bytes(const struct input *input, struct file_section section, uint8_t **copy,
                         struct bytes *out, struct fathom_error *err)
{
    uint64_t left = section.offset > input->size ? 0 : input->size - section.offset;
    if (section.size > left)
        section.size = left;
    if (section.size > SECTION_MOST)
        section.size = SECTION_MOST;
    free(*copy);
    *copy = malloc(section.size + 1);
    if (!*copy)
        return error_memory(err);
    *out = bytes_of(*copy, section.size);
    return section.size ? input_read(input, section.offset, section.size, *copy, err) : 0;
}

static int add_event(struct head *head, const uint8_t *attr, size_t attr_size, const uint8_t *ids,
                     size_t id_count, struct fathom_error *err)
{
    if (!vec_reserve(head->events, head->count, head->capacity, 1))
        return error_memory(err);
    struct event event = {.id_count = id_count};
    attr_from_file(attr, attr_size, &event.attr);
    if (id_count) {
        event.ids = reallocarray(NULL, id_count, sizeof *event.ids);
        if (!event.ids)
            return error_memory(err);
        memcpy(event.ids, ids, id_count * sizeof *event.ids);
    }
    if (!head->by_id)
        head->by_id = table_new();
    for (size_t i = 0; head->by_id && i < id_count; i++)
        table_set(head->by_id, event.ids[i], head->count);
    event_default_name(&event.attr, event.name, sizeof event.name);
    head->events[head->count++] = event;
    head->id_total += id_count;
    return 0;
}

static void set_name(struct event *event, const char *name)
{
    if (*name)
        snprintf(event->name, sizeof event->name, "%s", name);
}

static struct event *event_of_id(struct head *head, uint64_t id)
{
    const uint64_t *index = head->by_id ? table_find(head->by_id, id) : NULL;
    return index ? &head->events[*index] : NULL;
}

/* A feature's string: its padded length, then the string with a NUL. NULL: damaged. */
static const char *feature_string(struct bytes *b)
{
    uint32_t length = bytes_u32(b);
    const uint8_t *text = bytes_take(b, length);
    return text && memchr(text, 0, length) ? (const char *)text : NULL;
}

/* The words of the command line as one would type them. */
static int read_command(struct head *head, struct bytes b, struct fathom_error *err)
{
    size_t used = 0;
    /* In the file each word has a NUL and a length of 4 bytes, which leaves space for a blank and quotes. */
    char *command = malloc(TEXT_QUOTED(bytes_left(&b)));
    if (!command)
        return error_memory(err);
    command[0] = 0;
    uint32_t count = bytes_u32(&b);
    for (uint32_t i = 0; i < count; i++) {
        const char *word = feature_string(&b);
        if (!word)
            break;
        if (used)
            command[used++] = ' ';
        used += text_quote(word, command + used);
    }
    free(head->command);
    head->command = NULL;
    if (used)
        head->command = command;
    else
        free(command);
    return 0;
}

/* The events' names, in the order of the attrs. */
static void read_names(struct head *head, struct bytes b)
{
    uint32_t count = bytes_u32(&b), attr_size = bytes_u32(&b);
    for (uint32_t i = 0; i < count && i < head->count; i++) {
        bytes_take(&b, attr_size);
        uint32_t ids = bytes_u32(&b);
        const char *name = feature_string(&b);
        if (!name || !bytes_take(&b, (uint64_t)ids * 8))
            break;
        set_name(&head->events[i], name);
    }
}

static bool is_of_host(uint64_t feature)
{
    return feature == FEATURE_HOSTNAME || feature == FEATURE_OSRELEASE || feature == FEATURE_ARCH ||
           feature == FEATURE_NRCPUS || feature == FEATURE_CPUDESC || feature == FEATURE_CPUID ||
           feature == FEATURE_TOTAL_MEM;
}

static void take_string(struct bytes *b, char *out, size_t size)
{
    const char *text = feature_string(b);
    if (text)
        snprintf(out, size, "%s", text);
}

static void read_host(struct host *host, uint64_t feature, struct bytes b)
{
    switch (feature) {
    case FEATURE_HOSTNAME:
        take_string(&b, host->name.nodename, sizeof host->name.nodename);
        break;
    case FEATURE_OSRELEASE:
        take_string(&b, host->name.release, sizeof host->name.release);
        break;
    case FEATURE_ARCH:
        take_string(&b, host->name.machine, sizeof host->name.machine);
        break;
    case FEATURE_NRCPUS: /* available, then online */
        host->cpus_available = bytes_u32(&b);
        host->cpus_online = bytes_u32(&b);
        break;
    case FEATURE_CPUDESC:
        take_string(&b, host->cpu, sizeof host->cpu);
        break;
    case FEATURE_CPUID:
        take_string(&b, host->cpuid, sizeof host->cpuid);
        break;
    default: /* FEATURE_TOTAL_MEM */
        host->memory = bytes_u64(&b);
        break;
    }
}

/* Larger data is ignored: perf then does not read the events' own data. */
static int read_tracing(struct head *head, struct bytes b, struct fathom_error *err)
{
    const size_t size = bytes_left(&b);
    if (size == 0 || size > TRACING_MOST || head->tracing)
        return 0;
    if (!(head->tracing = malloc(size)))
        return error_memory(err);
    memcpy(head->tracing, b.at, size);
    head->tracing_size = size;
    return 0;
}

/* Whether the feature is used; unused ones may be large. */
static bool is_read(uint64_t feature)
{
    return is_of_host(feature) || feature == FEATURE_CMDLINE || feature == FEATURE_EVENT_DESC ||
           feature == FEATURE_COMPRESSED || feature == FEATURE_BUILD_ID || feature == FEATURE_TRACING_DATA;
}

static int read_feature(struct head *head, uint64_t feature, struct bytes b, struct fathom_error *err)
{
    if (is_of_host(feature)) {
        read_host(&head->host, feature, b);
        return 0;
    }
    switch (feature) {
    case FEATURE_CMDLINE:
        return read_command(head, b, err);
    case FEATURE_BUILD_ID:
        return build_ids_take_all(&head->build_ids, b) < 0 ? error_memory(err) : 0;
    case FEATURE_TRACING_DATA:
        return read_tracing(head, b, err);
    case FEATURE_EVENT_DESC:
        read_names(head, b);
        break;
    case FEATURE_COMPRESSED: /* version, type, level, ratio, bytes of a mapping */
        if (bytes_take(&b, 16))
            head->mmap_size = bytes_u32(&b);
        break;
    default:
        break;
    }
    return 0;
}

/* The events of an attribute section. */
static int add_events(struct head *head, const struct input *input, uint64_t entry, struct bytes attrs,
                      const char *path, struct fathom_error *err)
{
    uint8_t *ids_copy = NULL;
    int rc = 0;
    while (rc == 0 && bytes_left(&attrs) >= entry) {
        const uint8_t *attr = bytes_take(&attrs, entry);
        size_t attr_size = (size_t)entry - sizeof(struct file_section);
        struct file_section section;
        struct bytes ids;
        memcpy(&section, attr + attr_size, sizeof section);
        rc = section_bytes(input, section, &ids_copy, &ids, err);
        if (rc < 0)
            break;
        size_t id_count = bytes_left(&ids) / 8;
        rc = head->id_total + id_count > input->size / 8
                 ? error_set(err, EBADMSG, "%s is damaged: its events share IDs", path)
                 : add_event(head, attr, attr_size, ids.at, id_count, err);
    }
    free(ids_copy);
    return rc;
}

static bool is_zero(const void *data, size_t size)
{
    const uint8_t *bytes = data;
    while (size && bytes[size - 1] == 0)
        size--;
    return size == 0;
}

static int read_attrs(struct head *head, const struct input *input, const struct file_header *header,
                      const char *path, struct fathom_error *err)
{
    const uint64_t entry = header->attr_size;
    uint8_t *attrs_copy = NULL;
    struct bytes attrs;
    if (entry < PERF_ATTR_SIZE_VER0 + sizeof(struct file_section) || entry > 4096)
        return error_set(err, EBADMSG, "%s is damaged: invalid size of its events", path);
    int rc = section_bytes(input, header->attrs, &attrs_copy, &attrs, err);
    if (rc == 0)
        rc = add_events(head, input, entry, attrs, path, err);
    free(attrs_copy);
    return rc;
}

/* Reads the features in the sections after the records. */
static int read_features(struct head *head, const struct input *input, const struct file_header *header,
                         struct fathom_error *err)
{
    const struct file_section whole = {head->records_end, FEATURE_COUNT * sizeof(struct file_section)};
    uint8_t *table_copy = NULL, *body_copy = NULL;
    struct bytes table, body;
    int rc = section_bytes(input, whole, &table_copy, &table, err);
    for (unsigned feature = 0; feature < FEATURE_COUNT && rc == 0; feature++) {
        if (!(header->features[feature / 64] >> feature % 64 & 1))
            continue;
        struct file_section section;
        const uint8_t *entry = bytes_take(&table, sizeof section);
        if (!entry)
            break;
        memcpy(&section, entry, sizeof section);
        if (is_read(feature))
            rc = section_bytes(input, section, &body_copy, &body, err);
        if (is_read(feature) && rc == 0)
            rc = read_feature(head, feature, body, err);
    }
    free(table_copy);
    free(body_copy);
    return rc;
}

static int read_trailer(struct head *head, const struct input *input, struct fathom_error *err)
{
    const uint64_t least = head->records_end, all = input->size;
    uint8_t end[TRAILER_END], *copy = NULL;
    struct bytes body;
    if (all - least < sizeof end)
        return 0;
    int rc = input_read(input, all - sizeof end, sizeof end, end, err);
    const uint64_t size = rc == 0 ? trailer_size(end) : 0;
    if (size == 0 || size > all - least)
        return rc;
    rc = section_bytes(input, (struct file_section){all - size, size - sizeof end}, &copy, &body, err);
    if (rc == 0)
        rc = trailer_take(body, &head->trailer, err);
    free(copy);
    return rc;
}

static int read_file(struct head *head, const struct input *input, const char *path, struct fathom_error *err)
{
    struct file_header header;
    const size_t size = input->size;
    if (size < sizeof header)
        return error_set(err, EBADMSG, "%s ends in its header: nothing was recorded", path);
    int rc = input_read(input, 0, sizeof header, &header, err);
    if (rc < 0)
        return rc;
    rc = read_attrs(head, input, &header, path, err);
    if (rc < 0)
        return rc;
    if (header.data.offset > size)
        return error_set(err, EBADMSG, "%s ends before its first record", path);

    uint64_t left = size - header.data.offset;
    head->records = header.data.offset;
    bool cut = header.data.size == 0 || header.data.size > left;
    head->records_end = cut ? size : header.data.offset + header.data.size;
    /* Features follow the records and are written last; every finished recording has some. */
    head->truncated = cut || is_zero(header.features, sizeof header.features);
    rc = cut ? 0 : read_features(head, input, &header, err);
    return rc < 0 || cut ? rc : read_trailer(head, input, err);
}

/* The size of the record at `at` with the payload that follows it; 0: damaged or truncated. */
static uint64_t head_step(const struct head *head, const uint8_t *at, uint64_t left, uint32_t *type,
                          uint32_t *size)
{
    if (left < RECORD_HEADER_SIZE)
        return 0;
    *type = load_u32(at);
    *size = load_u16(at + 6);
    if (*size < RECORD_HEADER_SIZE || *size > left)
        return 0;
    uint64_t payload = 0;
    if (*type == USER_AUXTRACE && *size >= 16)
        payload = load_u64(at + 8);
    else if (*type == USER_HEADER_TRACING_DATA && head->pipe && *size >= 12)
        payload = ((uint64_t)load_u32(at + 8) + 7) & ~UINT64_C(7);
    return payload <= left - *size ? *size + payload : 0;
}

int head_next(const struct head *head, struct input *input, uint64_t at, uint64_t end,
              struct head_record *out, struct fathom_error *err)
{
    out->step = 0;
    if (end - at < RECORD_HEADER_SIZE)
        return 0;
    int rc = input_take(input, at, RECORD_HEADER_SIZE, &out->data, err);
    if (rc < 0)
        return rc;
    uint64_t size = load_u16(out->data + 6);
    if (size > end - at)
        return 0;
    rc = input_take(input, at, (size_t)size, &out->data, err);
    if (rc == 0)
        out->step = head_step(head, out->data, end - at, &out->type, &out->size);
    return rc;
}

static int read_attr_record(struct head *head, struct bytes b, struct fathom_error *err)
{
    if (bytes_left(&b) < PERF_ATTR_SIZE_VER0)
        return 0;
    size_t attr_size = load_u32(b.at + 4); /* perf_event_attr.size */
    if (attr_size == 0)
        attr_size = PERF_ATTR_SIZE_VER0;
    const uint8_t *attr = bytes_take(&b, attr_size);
    if (!attr || attr_size < PERF_ATTR_SIZE_VER0)
        return 0;
    return add_event(head, attr, attr_size, b.at, bytes_left(&b) / 8, err);
}

/* The trailer of a pipe, which comes in pieces (stream.c). */
struct pieces {
    uint8_t *data;
    size_t size, capacity;
};

static bool add_piece(struct pieces *p, const struct bytes *b)
{
    const size_t size = bytes_left(b);
    if (size > SECTION_MOST - p->size)
        return true;
    if (!vec_reserve(p->data, p->size, p->capacity, size))
        return false;
    if (size)
        memcpy(p->data + p->size, b->at, size);
    p->size += size;
    return true;
}

static int read_update_record(struct head *head, struct bytes b, struct pieces *pieces,
                              struct fathom_error *err)
{
    uint64_t kind = bytes_u64(&b), id = bytes_u64(&b);
    if (kind == TRAILER_MAGIC)
        return add_piece(pieces, &b) ? 0 : error_memory(err);
    const char *name = bytes_string(&b);
    struct event *event = name && kind == EVENT_UPDATE_NAME ? event_of_id(head, id) : NULL;
    if (event)
        set_name(event, name);
    return 0;
}

/* Reads all records of a pipe that describe the events: they may be anywhere, features even after the
 * samples. */
static int read_pipe(struct head *head, struct input *input, struct fathom_error *err)
{
    struct head_record record;
    struct pieces pieces = {.data = NULL};
    head->pipe = true;
    head->records = PIPE_HEADER_SIZE;
    head->records_end = input->size;
    uint64_t at = head->records;
    int rc = head_next(head, input, at, head->records_end, &record, err);
    while (rc == 0 && record.step) {
        struct bytes body = bytes_of(record.data + RECORD_HEADER_SIZE, record.size - RECORD_HEADER_SIZE);
        if (record.type == USER_HEADER_ATTR) {
            rc = read_attr_record(head, body, err);
        } else if (record.type == USER_EVENT_UPDATE) {
            rc = read_update_record(head, body, &pieces, err);
        } else if (record.type == USER_HEADER_BUILD_ID) {
            rc = build_ids_take(&head->build_ids, load_u16(record.data + 4), body);
            if (rc < 0)
                error_memory(err);
        } else if (record.type == USER_HEADER_FEATURE) {
            uint64_t feature = bytes_u64(&body);
            rc = read_feature(head, feature, body, err);
        }
        at += record.step;
        input_pass(input, at);
        if (rc == 0)
            rc = head_next(head, input, at, head->records_end, &record, err);
    }
    input_rewind(input);
    if (rc == 0)
        rc = trailer_take(bytes_of(pieces.data, pieces.size), &head->trailer, err);
    free(pieces.data);
    return rc;
}

/* Finds the audit clock, a slow clock with stack dumps besides the main event: by the collector's name for it, which also
 * distinguishes it from a main event with dumps; or else a clock with dumps besides an event without. perf's "dummy", which
 * counts nothing, is not a main event. */
static void find_audit(struct head *head)
{
    bool other = false, named = false;
    for (size_t i = 0; i < head->count; i++) {
        head->events[i].audit = strcmp(head->events[i].name, EVENT_AUDIT_NAME) == 0;
        named |= head->events[i].audit;
    }
    if (named)
        return;
    for (size_t i = 0; i < head->count; i++) {
        const struct perf_event_attr *attr = &head->events[i].attr;
        bool dummy = attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
        other = other || (!dummy && !head->events[i].stacks && !(attr->sample_type & PERF_SAMPLE_STACK_USER));
    }
    for (size_t i = 0; i < head->count && other; i++) {
        const struct perf_event_attr *attr = &head->events[i].attr;
        head->events[i].audit = !head->events[i].stacks && attr->type == PERF_TYPE_SOFTWARE &&
                                attr->config == PERF_COUNT_SW_CPU_CLOCK &&
                                attr->sample_type & PERF_SAMPLE_STACK_USER;
    }
}

/* Recognises events by their kind, as an unfinished recording has no names. */
static void find_stacks(struct head *head)
{
    for (size_t i = 0; i < head->count; i++) {
        const struct perf_event_attr *attr = &head->events[i].attr;
        bool output = attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT &&
                      attr->sample_type & PERF_SAMPLE_RAW;
        head->events[i].stacks = output || stack_sample_is(attr);
    }
}

bool head_has_stacks(const struct head *head)
{
    for (size_t i = 0; i < head->count; i++)
        if (head->events[i].stacks)
            return true;
    return false;
}

static int read_all(struct head *head, struct input *input, const char *path, struct fathom_error *err)
{
    uint64_t start[PIPE_HEADER_SIZE / 8] = {0}; /* magic, size of the header */
    int rc = input->size >= sizeof start ? input_read(input, 0, sizeof start, start, err) : 0;
    if (rc < 0)
        return rc;
    const uint64_t magic = start[0];
    if (magic == FILE_MAGIC_FOREIGN)
        return error_set(err, ENOTSUP, "%s was recorded on a machine with another byte order", path);
    if (magic == FILE_MAGIC_OLD)
        return error_set(err, ENOTSUP, "%s has the format of a perf before Linux 3.3", path);
    if (magic != FILE_MAGIC)
        return error_set(err, ENOMSG, "%s is not a perf.data file", path);
    rc = start[1] == PIPE_HEADER_SIZE ? read_pipe(head, input, err) : read_file(head, input, path, err);
    if (rc < 0)
        return rc;
    const char *arch = head->host.name.machine;
    if (arch[0] && strcmp(arch, "x86_64") != 0)
        return error_set(err, ENOTSUP, "%s was recorded on %s: only x86_64 can be read", path, arch);
    if (head->count == 0)
        return error_set(err, EBADMSG, "%s has no events", path);
    find_stacks(head);
    find_audit(head);
    return 0;
}

int head_read(struct head *head, struct input *input, const char *path, struct fathom_error *err)
{
    struct head read = {0};
    int rc = read_all(&read, input, path, err);
    if (rc < 0)
        head_free(&read);
    else
        *head = read;
    return rc;
}
