/*
 * pprof.c - a gzipped profile for pprof: samples with the same context, thread and certainty are combined, with a value for each metric and
 * labels. Levels (profile/levels.h) are labels too, as readers can group by labels ("pprof -tagroot"). The messages are those of
 * profile.proto, by protobuf-c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"
#include "report/export/export.h"
#include "report/export/placed.h"
#include "report/export/profile.pb-c.h"
#include "report/export/sites.h"

typedef Fathom__Pprof__Profile Profile;
typedef Fathom__Pprof__Sample Sample;
typedef Fathom__Pprof__Label Label;
typedef Fathom__Pprof__Mapping Mapping;
typedef Fathom__Pprof__Location Location;
typedef Fathom__Pprof__Line Line;
typedef Fathom__Pprof__Function Function;
typedef Fathom__Pprof__ValueType ValueType;

enum { LABELS = 4 }; /* of a sample, besides levels: thread, TID, process, certainty */

/* The parts of the message: arrays, and pointers to their elements as protobuf-c needs them. */
struct building {
    const struct contexts *contexts;
    const struct view_resource *resource; /* NULL: unknown */
    struct placed_samples placed;
    struct used_frames used;
    struct names *texts; /* numbered as in the string table, but from 1 */
    struct table *mappings_by_name, *functions_by_key;
    struct sites sites;
    Profile profile;
    ValueType types[METRICS_MAX], *type_list[METRICS_MAX], period;
    Sample *samples;
    Label *labels, **label_list;
    uint64_t *location_ids; /* of all samples */
    size_t location_count, location_capacity;
    int64_t *values;
    Mapping *mappings;
    size_t mapping_count;
    Location *locations; /* of sites */
    Line *lines, **line_list;
    Function *functions; /* a frame has one for each file of its lines */
    size_t function_count;
    void **sample_list, **mapping_list, **location_list, **function_list;
    char **strings;
    bool failed;
};

/* The number of a text in the string table; 0 is "". Protobuf requires UTF-8, which names of threads may violate, so they are made safe
 * here. */
static int64_t text(struct building *b, const char *words)
{
    if (!words || !*words)
        return 0;
    char *clean = strdup(words);
    if (clean)
        text_clean(clean);
    uint32_t number = clean ? names_intern(b->texts, clean) : NAMES_NONE;
    free(clean);
    b->failed |= number == NAMES_NONE;
    return b->failed ? 0 : (int64_t)number + 1;
}

static void *allocate(struct building *b, size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    b->failed |= !memory;
    return memory;
}

static void add_types(struct building *b)
{
    const struct metrics *metrics = b->contexts->metrics;
    for (uint32_t m = 0; m < metrics->count; m++) {
        fathom__pprof__value_type__init(&b->types[m]);
        b->types[m].type = text(b, metrics->at[m]->name);
        b->types[m].unit = text(b, export_pprof_unit(metrics_unit(metrics, m)));
        b->type_list[m] = &b->types[m];
    }
    b->profile.n_sample_type = metrics->count;
    b->profile.sample_type = b->type_list;
    b->profile.default_sample_type = b->types[0].type;
    b->period = b->types[0];
    b->profile.period_type = &b->period;
    b->profile.period = 1;
}

/* The mapping of a file, by its name; 0: no file. */
static uint64_t mapping_of(struct building *b, const char *name)
{
    bool added;
    uint64_t *id = *name ? table_put(b->mappings_by_name, (uint64_t)text(b, name), &added) : NULL;
    if (!id)
        return 0;
    if (added) {
        const struct frame_image *image = frames_image(b->contexts->frames, name);
        char build_id[2 * BUILD_ID_MAX + 1] = "";
        Mapping *m = &b->mappings[b->mapping_count++];
        fathom__pprof__mapping__init(m);
        m->id = b->mapping_count;
        m->memory_limit = UINT64_MAX >> 1; /* addresses are addresses in the file */
        m->has_functions = true;
        m->filename = text(b, image ? image->path : name);
        if (image)
            build_id_format(&image->build_id, build_id);
        m->build_id = text(b, build_id);
        *id = m->id;
    }
    return *id;
}

/* Whether a file is probably the program: not the loader, and with the name of a thread, which is by default the program's, truncated. */
static bool is_program(const struct building *b, const struct frame *frame)
{
    if (strcmp(frame->name, "_start") == 0)
        return strncmp(frame->image, "ld-", 3) != 0;
    for (size_t i = 0; i < b->placed.thread_count; i++) {
        const char *comm = b->placed.threads[i].comm;
        if (*comm && strncmp(frame->image, comm, strlen(comm)) == 0)
            return true;
    }
    return false;
}

/* Readers assume that the first mapping is the program's, so add it first, found on the heaviest path. */
static void add_program(struct building *b, const struct branches *branches)
{
    for (uint32_t i = 1; i < branches->count; i++) {
        const struct frame *frame = frames_at(b->contexts->frames, branches->at[i].item);
        if (*frame->image && is_program(b, frame)) {
            mapping_of(b, frame->image);
            return;
        }
    }
}

/* The function of a frame, with its file if known. */
static uint64_t function_of(struct building *b, const struct site *site, int64_t file)
{
    bool added;
    uint64_t *id = table_put(b->functions_by_key, (uint64_t)site->frame << 32 | (uint32_t)file, &added);
    if (!id) {
        b->failed = true;
        return 0;
    }
    if (added) {
        Function *f = &b->functions[b->function_count++];
        fathom__pprof__function__init(f);
        f->id = *id = b->function_count;
        f->name = f->system_name = text(b, site_name(&b->sites, site));
        f->filename = file;
    }
    return *id;
}

/* Adds a location for each site, with its function. */
static void add_locations(struct building *b, const struct branches *branches)
{
    size_t count = b->sites.count;
    b->mappings = allocate(b, b->used.count, sizeof *b->mappings);
    b->locations = allocate(b, count, sizeof *b->locations);
    b->lines = allocate(b, count, sizeof *b->lines);
    b->line_list = allocate(b, count, sizeof *b->line_list);
    b->functions = allocate(b, count, sizeof *b->functions);
    if (!b->failed)
        add_program(b, branches);
    for (size_t i = 0; i < count && !b->failed; i++) {
        const struct site *site = &b->sites.at[i];
        const struct frame *frame = frames_at(b->contexts->frames, b->used.items[site->frame]);
        const struct frame *line = site_line(&b->sites, site);
        fathom__pprof__line__init(&b->lines[i]);
        b->lines[i].line = line ? (int64_t)line->address : 0;
        b->lines[i].function_id = function_of(b, site, text(b, line ? line->source : NULL));
        b->line_list[i] = &b->lines[i];
        Location *l = &b->locations[i];
        fathom__pprof__location__init(l);
        l->id = i + 1;
        l->mapping_id = mapping_of(b, frame->image);
        l->address = frame->address;
        l->n_line = 1;
        l->line = &b->line_list[i];
    }
}

static void set_label(struct building *b, Label *label, const char *key, const char *words, int64_t number,
                      const char *unit)
{
    fathom__pprof__label__init(label);
    label->key = text(b, key);
    label->str = text(b, words);
    label->num = number;
    label->num_unit = text(b, unit);
}

/* Returns the path's innermost level, or else the root; NULL: it failed. */
static const struct cct_node *add_path(struct building *b, const struct cct_node *node)
{
    const struct cct_node *level = sites_path(&b->sites, node);
    b->failed |=
        !level || !vec_reserve(b->location_ids, b->location_count, b->location_capacity, b->sites.length);
    if (b->failed)
        return NULL;
    for (size_t i = 0; i < b->sites.length; i++)
        b->location_ids[b->location_count++] = b->sites.path[i];
    return level;
}

/* Returns their number. */
static size_t add_levels(struct building *b, const struct cct_node *level, Label *labels)
{
    struct level_label of[LEVELS];
    const int count = level ? level_labels(b->contexts, level, of) : 0;
    b->failed |= count < 0;
    for (int i = 0; i < count; i++)
        set_label(b, &labels[i], of[i].key, of[i].text, 0, NULL);
    level_labels_clear(of, count);
    return count < 0 ? 0 : (size_t)count;
}

static size_t levels_of(const struct building *b)
{
    unsigned seen = 0;
    for (uint32_t i = 0; i < b->used.count; i++) {
        const struct frame *frame = frames_at(b->contexts->frames, b->used.items[i]);
        seen |= frame->kind == FRAME_LEVEL ? 1u << level_of(frame) : 0;
    }
    return (size_t)__builtin_popcount(seen);
}

static void add_samples(struct building *b)
{
    const struct placed_samples *placed = &b->placed;
    uint32_t metrics = b->contexts->metrics->count;
    b->samples = allocate(b, placed->count, sizeof *b->samples);
    const size_t each = LABELS + levels_of(b);
    b->labels = allocate(b, placed->count * each, sizeof *b->labels);
    b->label_list = allocate(b, placed->count * each, sizeof *b->label_list);
    b->values = allocate(b, placed->count * metrics, sizeof *b->values);
    for (size_t i = 0; i < placed->count && !b->failed; i++) {
        const struct placed *p = &placed->at[i];
        const struct placed_thread *t = &placed->threads[p->thread];
        Sample *s = &b->samples[i];
        Label *labels = &b->labels[i * each];
        fathom__pprof__sample__init(s);
        size_t before = b->location_count;
        const struct cct_node *level = add_path(b, p->node);
        s->n_location_id = b->location_count - before;
        s->n_value = metrics;
        s->value = b->values + i * metrics;
        for (uint32_t m = 0; m < metrics; m++) {
            uint64_t value = placed->values[i * metrics + m];
            s->value[m] = value > INT64_MAX ? INT64_MAX : (int64_t)value;
        }
        set_label(b, &labels[0], "thread", *t->comm ? t->comm : "?", 0, NULL);
        set_label(b, &labels[1], "tid", NULL, t->tid, "id");
        set_label(b, &labels[2], "pid", NULL, t->pid, "id");
        set_label(b, &labels[3], "sure", NULL, 100 * p->sure / PLACED_SURE_STEPS, "percent");
        s->n_label = LABELS + add_levels(b, level, &labels[LABELS]);
        s->label = b->label_list + i * each;
        for (size_t l = 0; l < s->n_label; l++)
            s->label[l] = &labels[l];
    }
    size_t at = 0; /* the array no longer moves */
    for (size_t i = 0; i < placed->count && !b->failed; i++) {
        b->samples[i].location_id = b->location_ids + at;
        at += b->samples[i].n_location_id;
    }
}

/* Pointers to the elements of an array. */
static void **list_of(struct building *b, void *array, size_t count, size_t size)
{
    void **list = allocate(b, count, sizeof *list);
    for (size_t i = 0; list && array && i < count; i++)
        list[i] = (char *)array + i * size;
    return list;
}

static void put_together(struct building *b)
{
    b->sample_list = list_of(b, b->samples, b->placed.count, sizeof *b->samples);
    b->mapping_list = list_of(b, b->mappings, b->mapping_count, sizeof *b->mappings);
    b->location_list = list_of(b, b->locations, b->sites.count, sizeof *b->locations);
    b->function_list = list_of(b, b->functions, b->function_count, sizeof *b->functions);
    Profile *p = &b->profile;
    p->n_sample = b->placed.count;
    p->sample = (Sample **)(void *)b->sample_list;
    p->n_mapping = b->mapping_count;
    p->mapping = (Mapping **)(void *)b->mapping_list;
    p->n_location = b->sites.count;
    p->location = (Location **)(void *)b->location_list;
    p->n_function = b->function_count;
    p->function = (Function **)(void *)b->function_list;
    p->time_nanos = b->resource ? (int64_t)b->resource->from : 0;
    p->duration_nanos =
        (int64_t)(b->resource ? b->resource->until - b->resource->from : b->placed.last - b->placed.first);
    uint32_t texts = names_count(b->texts);
    b->strings = allocate(b, texts + 1ul, sizeof *b->strings);
    for (uint32_t i = 0; b->strings && i <= texts; i++)
        b->strings[i] = i ? (char *)(uintptr_t)names_text(b->texts, i - 1) : (char *)(uintptr_t) "";
    p->n_string_table = texts + 1ul;
    p->string_table = b->strings;
}

static int write_profile(struct building *b, FILE *out, struct fathom_error *err)
{
    struct printer printer = {.out = out};
    size_t size = b->failed ? 0 : fathom__pprof__profile__get_packed_size(&b->profile), zipped_size;
    uint8_t *packed = b->failed ? NULL : malloc(size + 1), *zipped = NULL;
    if (packed) {
        fathom__pprof__profile__pack(&b->profile, packed);
        zipped = gzip_pack(packed, size, &zipped_size);
    }
    free(packed);
    if (!zipped)
        return error_memory(err);
    printer_bytes(&printer, (const char *)zipped, zipped_size);
    free(zipped);
    return printer_finish(&printer, err);
}

static void building_clear(struct building *b)
{
    void *all[] = {b->samples,     b->labels,       b->label_list,    b->location_ids,  b->values,
                   b->mappings,    b->locations,    b->lines,         b->line_list,     b->functions,
                   b->sample_list, b->mapping_list, b->location_list, b->function_list, b->strings};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    placed_clear(&b->placed);
    used_frames_clear(&b->used);
    sites_clear(&b->sites);
    names_free(b->texts);
    table_free(b->mappings_by_name);
    table_free(b->functions_by_key);
}

int pprof_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct building b = {.contexts = report->contexts,
                         .resource = report->heading->resource,
                         .texts = names_new(),
                         .mappings_by_name = table_new(),
                         .functions_by_key = table_new()};
    struct branches branches;
    int rc = export_branches(report->contexts, &branches, err); /* its items have frames */
    bool listed = rc == 0;
    if (rc == 0)
        rc = used_frames_find(report->contexts, &b.used, err);
    if (rc == 0)
        rc = sites_begin(&b.sites, report->contexts, &b.used, err);
    if (rc == 0)
        rc = b.texts && b.mappings_by_name && b.functions_by_key
                 ? placed_add_up(report->contexts, &(struct placing){.slices = 1}, &b.placed, err)
                 : error_memory(err);
    if (rc == 0) {
        fathom__pprof__profile__init(&b.profile);
        add_types(&b);
        add_samples(&b);
        add_locations(&b, &branches);
        int64_t comment = text(&b, report->heading->command);
        b.profile.n_comment = comment != 0;
        b.profile.comment = &comment;
        put_together(&b);
        rc = write_profile(&b, out, err);
    }
    if (listed)
        branches_clear(&branches);
    building_clear(&b);
    return rc;
}
