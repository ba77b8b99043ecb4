#include "api/record/mapped_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/record/code_files.h"
#include "api/record/mapped.h"
#include "image/mapped_name.h"
#include "perfdata/record.h"

#define MMAP2_IDENTITY 40 /* offset of device and inode, or of build-id size; the build-id is 4 bytes on */
#define MMAP2_PATH     72
#define MMAP2_MOST     4400 /* bytes: a path of 4096 plus the fields around it */

struct mapped_sink {
    collector_sink *next;
    void *context; /* of next */
    struct decoder *decoder;
    struct mapped *mapped; /* files */
    struct code_files *code;
    uint8_t *names; /* mapped_sink_names() */
};

int mapped_sink_new(const struct mapped_sink_input *input, struct mapped_sink **out, struct fathom_error *err)
{
    struct mapped_sink *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    s->next = input->next;
    s->context = input->context;
    s->mapped = mapped_new(input->log);
    s->code = code_files_new(input->names, input->java);
    int rc =
        s->mapped && s->code ? decoder_new(input->events, input->count, &s->decoder, err) : error_memory(err);
    if (rc < 0)
        mapped_sink_free(s);
    else
        *out = s;
    return rc;
}

void mapped_sink_free(struct mapped_sink *s)
{
    if (!s)
        return;
    decoder_free(s->decoder);
    mapped_free(s->mapped);
    code_files_free(s->code);
    free(s->names);
    free(s);
}

/* Writes the file's build-id to a copy of a mapping record, in the kernel's format. */
static void add_build(uint8_t *copy, const struct build_id *id)
{
    struct perf_event_header header;
    memcpy(&header, copy, sizeof header);
    header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
    memcpy(copy, &header, sizeof header);
    memset(copy + MMAP2_IDENTITY, 0, 24);
    copy[MMAP2_IDENTITY] = id->size;
    memcpy(copy + MMAP2_IDENTITY + 4, id->bytes, id->size);
}

/* Bytes of a path with its NULs, as in a record. */
static size_t path_bytes(size_t length)
{
    return (length + 8) & ~(size_t)7;
}

/* Appends to a mapping's name that the file was not found. */
static void add_not_found(uint8_t *copy)
{
    struct perf_event_header header;
    memcpy(&header, copy, sizeof header);
    char *path = (char *)copy + MMAP2_PATH;
    const size_t length = strlen(path), longer = length + strlen(MAPPED_NOT_FOUND), old = path_bytes(length),
                 new = path_bytes(longer);
    memmove(path + new, path + old, header.size - MMAP2_PATH - old);
    memset(path + length, 0, new - length);
    memcpy(path + length, MAPPED_NOT_FOUND, strlen(MAPPED_NOT_FOUND));
    header.size = (uint16_t)(header.size + new - old);
    memcpy(copy, &header, sizeof header);
}

/* Adds missing information about the file to a mapping record. *changed: the record is now in `copy`. */
static int note_mapping(struct mapped_sink *s, const struct perf_event_header *header, uint8_t *copy,
                        bool *changed)
{
    struct record record;
    struct build_id id;
    bool found;
    *changed = false;
    if (decoder_decode(s->decoder, header, header->size, &record, NULL) < 0 || record.kind != RECORD_MMAP)
        return 0;
    if (mapped_note(s->mapped, &record, &id, &found) < 0 || code_files_note(s->code, &record) < 0)
        return -ENOMEM;
    if (record.mmap.build_id_size || header->type != PERF_RECORD_MMAP2 || header->size > MMAP2_MOST)
        return 0;
    const bool lost = !found && !mapped_is_gone(record.mmap.path);
    *changed = id.size || lost;
    if (*changed)
        memcpy(copy, header, header->size);
    if (id.size)
        add_build(copy, &id);
    else if (lost)
        add_not_found(copy);
    return 0;
}

/* The end of a program, by its process's end or by an exec. */
static int note_end(struct mapped_sink *s, const struct perf_event_header *header)
{
    struct record record;
    return decoder_decode(s->decoder, header, header->size, &record, NULL) < 0
               ? 0
               : code_files_note(s->code, &record);
}

static void note_forks(struct mapped_sink *s, const char *at, const char *end)
{
    for (const struct perf_event_header *header; at < end; at += header->size) {
        struct record record;
        header = (const void *)at;
        if (header->type == PERF_RECORD_FORK &&
            decoder_decode(s->decoder, header, header->size, &record, NULL) == 0)
            mapped_fork(s->mapped, &record);
    }
}

int mapped_sink_add(void *sink, const void *records, size_t size, struct fathom_error *err)
{
    struct mapped_sink *s = sink;
    const char *written = records, *at = records, *end = at + size;
    uint64_t copy[MMAP2_MOST / 8 + 2]; /* for MAPPED_NOT_FOUND */
    _Static_assert(sizeof MAPPED_NOT_FOUND <= 16, "fits");
    mapped_check(s->mapped);
    note_forks(s, at, end);
    while (at < end) {
        const struct perf_event_header *header = (const void *)at;
        const char *next = at + header->size;
        bool changed = false;
        if ((header->type == PERF_RECORD_MMAP || header->type == PERF_RECORD_MMAP2) &&
            note_mapping(s, header, (uint8_t *)copy, &changed) < 0)
            return error_memory(err);
        if ((header->type == PERF_RECORD_COMM || header->type == PERF_RECORD_EXIT) && note_end(s, header) < 0)
            return error_memory(err);
        if (changed) {
            int rc = s->next(s->context, written, (size_t)(at - written), err);
            struct perf_event_header made;
            memcpy(&made, copy, sizeof made);
            if (rc == 0)
                rc = s->next(s->context, copy, made.size, err);
            if (rc < 0)
                return rc;
            written = next;
        }
        at = next;
    }
    return s->next(s->context, written, (size_t)(end - written), err);
}

void mapped_sink_finish(struct mapped_sink *s)
{
    mapped_finish(s->mapped);
}

int mapped_sink_build_ids(const struct mapped_sink *s, struct writer *writer, struct fathom_error *err)
{
    const struct mapped_file *files;
    size_t count = mapped_files(s->mapped, &files);
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        if (files[i].id.size)
            rc = writer_build_id(writer, files[i].path, files[i].id.bytes, files[i].id.size, err);
    return rc;
}

int mapped_sink_look(struct mapped_sink *s, uint8_t **data, size_t *size, struct fathom_error *err)
{
    return code_files_look(s->code, data, size) < 0 ? error_memory(err) : 0;
}

int mapped_sink_told(struct mapped_sink *s, const void **data, size_t *size, struct fathom_error *err)
{
    if (code_files_finish(s->code, &s->names, size) < 0)
        return error_memory(err);
    *data = s->names;
    return 0;
}

int mapped_sink_names(struct mapped_sink *s, struct writer *writer, struct fathom_error *err)
{
    const void *names = NULL;
    size_t size;
    int rc = mapped_sink_told(s, &names, &size, err);
    if (rc == 0 && names)
        writer_code_names(writer, names, size);
    return rc;
}
