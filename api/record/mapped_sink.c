/* mapped_sink.c - see mapped_sink.h. */
#include "api/record/mapped_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/record/mapped.h"
#include "perfdata/record.h"

#define MMAP2_IDENTITY 40   /* offset of device and inode, or of build-id size; the build-id is 4 bytes on */
#define MMAP2_MOST     4400 /* bytes: a path of 4096 plus the fields around it */

struct mapped_sink {
    collector_sink *next;
    void *context; /* its */
    struct decoder *decoder;
    struct mapped *mapped; /* files */
};

int mapped_sink_new(const struct mapped_sink_input *input, struct mapped_sink **out, struct fathom_error *err)
{
    struct mapped_sink *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(err);
    s->next = input->next;
    s->context = input->context;
    s->mapped = mapped_new(input->log);
    int rc = s->mapped ? decoder_new(input->events, input->count, &s->decoder, err) : error_memory(err);
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
    free(s);
}

/* Adds the file's build-id to a mapping record that we synthesised, in the kernel's format. *changed: the
 * record is now in `copy`. */
static int note_mapping(struct mapped_sink *s, const struct perf_event_header *header, uint8_t *copy,
                        bool *changed)
{
    struct record record;
    struct build_id id;
    *changed = false;
    if (decoder_decode(s->decoder, header, header->size, &record, NULL) < 0 || record.kind != RECORD_MMAP)
        return 0;
    if (mapped_note(s->mapped, &record, &id) < 0)
        return -ENOMEM;
    if (!id.size || record.mmap.build_id_size || header->type != PERF_RECORD_MMAP2 ||
        header->size > MMAP2_MOST)
        return 0;
    memcpy(copy, header, header->size);
    struct perf_event_header made = *header;
    made.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
    memcpy(copy, &made, sizeof made);
    memset(copy + MMAP2_IDENTITY, 0, 24);
    copy[MMAP2_IDENTITY] = id.size;
    memcpy(copy + MMAP2_IDENTITY + 4, id.bytes, id.size);
    *changed = true;
    return 0;
}

int mapped_sink_add(void *sink, const void *records, size_t size, struct fathom_error *err)
{
    struct mapped_sink *s = sink;
    const char *written = records, *at = records, *end = at + size;
    uint64_t copy[MMAP2_MOST / 8];
    mapped_check(s->mapped);
    while (at < end) {
        const struct perf_event_header *header = (const void *)at;
        const char *next = at + header->size;
        bool changed = false;
        if ((header->type == PERF_RECORD_MMAP || header->type == PERF_RECORD_MMAP2) &&
            note_mapping(s, header, (uint8_t *)copy, &changed) < 0)
            return error_memory(err);
        if (changed) {
            int rc = s->next(s->context, written, (size_t)(at - written), err);
            if (rc == 0)
                rc = s->next(s->context, copy, header->size, err);
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

int mapped_sink_write(void *writer, const void *records, size_t size, struct fathom_error *err)
{
    return writer_append(writer, records, size, err);
}
