#include "api/archive/contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "base/vec.h"
#include "image/lines/lines.h"
#include "image/mapped_name.h"
#include "perfdata/scripts.h"
#include "process/process.h"

#define KERNEL_PID  UINT32_MAX /* of the kernel's own mappings */
#define FRAMES_MOST 64         /* at an address */

struct mapped_image {
    const char *path;
    struct build_id id;
};

struct sampled {
    struct image *image;
    uint64_t address;
};

struct archive_contents {
    struct archive_reading from;
    struct arena *arena;
    struct table *seen; /* hashes of path and build-id */
    struct mapped_image *mapped;
    size_t count, capacity;
    struct kernel_layout kernel;
    struct processes *processes; /* NULL: source files are not wanted */
    struct table *places;        /* hashes of image and address */
    struct sampled *sampled;
    size_t sampled_count, sampled_capacity;
    struct table *scripts;      /* struct script_frames of samples */
    struct names *source_files; /* of scripts at first; later of all sampled code */
};

/* Reading the recording ------------------------------------------------------------------------------------------ */

static bool may_open(const char *path, const struct build_id *id)
{
    return mapped_kind(path) == MAPPED_FILE || strcmp(path, VDSO_NAME) == 0 || (id->size && path[0] == '/');
}

static int note_mapping(struct archive_contents *c, const struct record_mmap *m, struct fathom_error *err)
{
    const struct build_id id = process_build_id(m);
    bool added = false;
    if (!m->executable || !m->path || !may_open(m->path, &id))
        return 0;
    size_t length = id.size ? mapped_path_length(m->path) : strlen(m->path);
    char *path = arena_alloc(c->arena, length + 1);
    if (!path)
        return error_memory(err);
    memcpy(path, m->path, length);
    path[length] = 0;
    uint64_t key = checksum_of(path, length) ^ hash_u64(checksum_of(id.bytes, id.size));
    if (!table_put(c->seen, key, &added) ||
        (added && !vec_push(c->mapped, c->count, c->capacity, (struct mapped_image){path, id})))
        return error_memory(err);
    return 0;
}

static int note_kernel(struct archive_contents *c, const struct record_mmap *m, struct fathom_error *err)
{
    const struct build_id id = process_build_id(m);
    uint64_t end = m->address + m->length;
    return m->path && kernel_layout_add(&c->kernel, m->path, m->address, end, &id) < 0 ? error_memory(err)
                                                                                       : 0;
}

static int note_sample(struct archive_contents *c, uint32_t pid, uint64_t ip, struct fathom_error *err)
{
    struct place place;
    bool added = false;
    const struct process *process = process_find(c->processes, pid);
    if (!process || !process_place(process, ip, &place))
        return 0;
    if (!table_put(c->places, hash_u64((uintptr_t)place.image) ^ place.address, &added) ||
        (added && !vec_push(c->sampled, c->sampled_count, c->sampled_capacity,
                            (struct sampled){place.image, place.address})))
        return error_memory(err);
    return 0;
}

/* Notes the files of functions that an interpreter ran; stops at callers that were noted before. */
static int note_script(struct archive_contents *c, const struct script_frame *frame, struct fathom_error *err)
{
    bool added = true;
    for (; frame; frame = frame->outer) {
        if (!table_put(c->scripts, (uintptr_t)frame, &added) ||
            names_intern(c->source_files, frame->code->file) == NAMES_NONE)
            return error_memory(err);
        if (!added)
            break;
    }
    return 0;
}

/* An order_sink. */
static int note_record(void *contents, const struct record *record, struct fathom_error *err)
{
    struct archive_contents *c = contents;
    int rc = 0;
    if (record->kind == RECORD_MMAP)
        rc = (record->pid == KERNEL_PID ? note_kernel : note_mapping)(c, &record->mmap, err);
    if (rc == 0 && c->processes)
        rc = processes_apply(c->processes, record, err);
    if (rc == 0 && c->processes && record->kind == RECORD_SAMPLE)
        rc = note_sample(c, record->sample.pid, record->sample.ip, err);
    if (rc == 0 && c->processes && record->kind == RECORD_SAMPLE)
        rc = note_script(c, record->sample.script, err);
    return rc;
}

int archive_contents_read(const struct archive_reading *from, struct archive_contents **out,
                          struct fathom_error *err)
{
    struct archive_contents *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(err);
    c->from = *from;
    c->arena = arena_new(0);
    c->seen = table_new();
    c->places = table_new();
    c->scripts = table_new();
    c->source_files = names_new();
    if (from->sources)
        c->processes = processes_new(from->images, NULL);
    bool good =
        c->arena && c->seen && c->places && c->scripts && c->source_files && (c->processes || !from->sources);
    image_cache_kernel(from->images, reader_kernel(from->reader));
    size_t names_size;
    const void *names = reader_code_names(from->reader, &names_size);
    good = good && image_cache_code_names(from->images, names, names_size) == 0;
    int rc = good ? reader_run(from->reader, note_record, c, err) : error_memory(err);
    if (rc < 0)
        archive_contents_free(c);
    else
        *out = c;
    return rc;
}

void archive_contents_free(struct archive_contents *c)
{
    if (!c)
        return;
    processes_free(c->processes);
    kernel_layout_free(&c->kernel);
    table_free(c->places);
    table_free(c->scripts);
    names_free(c->source_files);
    table_free(c->seen);
    arena_free(c->arena);
    free(c->sampled);
    free(c->mapped);
    free(c);
}

const struct kernel_layout *archive_contents_kernel(const struct archive_contents *c)
{
    return &c->kernel;
}

/* Listing -------------------------------------------------------------------------------------------------- */

int archive_contents_images(struct archive_contents *c, archive_see_image *see, void *context,
                            struct fathom_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < c->count && rc == 0; i++) {
        const struct mapped_image *m = &c->mapped[i];
        struct fathom_error why = {0};
        struct image_files files;
        struct image *image;
        if (image_cache_get(c->from.images, m->path, &m->id, &image, &why) < 0) {
            if (image_cache_first_failure(c->from.images, m->path, &why))
                log_write(c->from.log, LOG_WARNING, "it will be missing: %s", why.text);
            continue;
        }
        if (image_files_find(image, image_cache_options(c->from.images), &files) < 0)
            return error_memory(err);
        rc = see(context, &(struct archive_image){m->path, &m->id, image, &files}, err);
        image_files_free(&files);
    }
    return rc;
}

static int by_image(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;
    int order = strcmp(image_path(x->image), image_path(y->image));
    if (order == 0 && x->image != y->image)
        order = x->image < y->image ? -1 : 1;
    return order ? order : (x->address > y->address) - (x->address < y->address);
}

struct seeing {
    struct names *names; /* of the files listed so far */
    archive_see_source *see;
    void *context;
};

/* The files of the frames at an address. */
static int see_address(struct seeing *s, struct lines *lines, uint64_t address, struct fathom_error *err)
{
    struct line_frame frames[FRAMES_MOST];
    size_t count = lines_at(lines, address, frames, FRAMES_MOST);
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        uint32_t known = names_count(s->names);
        uint32_t number = frames[i].file ? names_intern(s->names, frames[i].file) : 0;
        if (number == NAMES_NONE)
            rc = error_memory(err);
        else if (frames[i].file && number == known)
            rc = s->see(s->context, frames[i].file, err);
    }
    return rc;
}

int archive_contents_sources(struct archive_contents *c, archive_see_source *see, void *context,
                             struct fathom_error *err)
{
    struct seeing s = {c->source_files, see, context};
    struct lines *lines = NULL;
    int rc = 0;
    for (uint32_t i = 0; i < names_count(s.names) && rc == 0; i++)
        rc = see(context, names_text(s.names, i), err);
    if (c->sampled_count)
        qsort(c->sampled, c->sampled_count, sizeof *c->sampled, by_image);
    for (size_t i = 0; i < c->sampled_count && rc == 0; i++) {
        const struct image *image = c->sampled[i].image;
        if (i == 0 || image != c->sampled[i - 1].image) {
            lines_close(lines);
            lines = NULL;
            rc = lines_open(image, image_cache_options(c->from.images), &lines, NULL) == -ENOMEM
                     ? error_memory(err)
                     : 0;
        }
        if (rc == 0 && lines)
            rc = see_address(&s, lines, c->sampled[i].address, err);
    }
    lines_close(lines);
    return rc;
}
