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
#include "report/export/export.h"
#include "report/export/messages.h"
#include "report/export/profile.pb-c.h"

typedef Fathom__Pprof__Profile Profile;
typedef Fathom__Pprof__Sample Sample;
typedef Fathom__Pprof__Label Label;
typedef Fathom__Pprof__Mapping Mapping;
typedef Fathom__Pprof__Location Location;
typedef Fathom__Pprof__Line Line;
typedef Fathom__Pprof__Function Function;
typedef Fathom__Pprof__ValueType ValueType;

enum { LABELS = 4 + LEVELS }; /* of a sample, at most: thread, TID, process, certainty, levels */

struct building {
    struct messages m;
    const struct view_resource *resource; /* NULL: unknown */
    Profile profile;
    struct message_list types, samples, mappings, locations, strings;
    struct message_list functions; /* a frame has one for each file of its lines */
};

static ValueType *type_of_metric(struct building *b, struct message_list *list, uint32_t m)
{
    const struct metrics *metrics = b->m.contexts->metrics;
    ValueType *t = MESSAGE(&b->m, list, ValueType, fathom__pprof__value_type__init);
    if (t) {
        t->type = message_text(&b->m, metrics->at[m]->name);
        t->unit = message_text(&b->m, export_pprof_unit(metrics_unit(metrics, m)));
    }
    return t;
}

static void add_types(struct building *b)
{
    for (uint32_t m = 0; m < b->m.contexts->metrics->count; m++)
        type_of_metric(b, &b->types, m);
    b->profile.period_type = type_of_metric(b, NULL, 0);
    b->profile.period = 1;
    b->profile.default_sample_type = b->m.failed ? 0 : b->profile.period_type->type;
}

/* The mapping of a file, by its name; 0: no file. */
static uint64_t mapping_of(struct building *b, const char *name)
{
    bool added;
    uint64_t *id = *name ? table_put(b->m.mappings, (uint64_t)message_text(&b->m, name), &added) : NULL;
    if (!id)
        return 0;
    if (added) {
        const struct frame_image *image = frames_image(b->m.contexts->frames, name);
        char build_id[2 * BUILD_ID_MAX + 1] = "";
        Mapping *m = MESSAGE(&b->m, &b->mappings, Mapping, fathom__pprof__mapping__init);
        if (!m)
            return 0;
        m->id = *id = b->mappings.count;
        m->memory_limit = UINT64_MAX >> 1; /* addresses are addresses in the file */
        m->has_functions = true;
        m->filename = message_text(&b->m, image ? image->path : name);
        if (image)
            build_id_format(&image->build_id, build_id);
        m->build_id = message_text(&b->m, build_id);
    }
    return *id;
}

/* Whether a file is probably the program: not the loader, and with the name of a thread, which is by default the program's, truncated. */
static bool is_program(const struct building *b, const struct frame *frame)
{
    if (strcmp(frame->name, "_start") == 0)
        return strncmp(frame->image, "ld-", 3) != 0;
    for (size_t i = 0; i < b->m.placed.thread_count; i++) {
        const char *comm = b->m.placed.threads[i].comm;
        if (*comm && strncmp(frame->image, comm, strlen(comm)) == 0)
            return true;
    }
    return false;
}

/* Readers assume that the first mapping is the program's, so add it first, found on the heaviest path. */
static void add_program(struct building *b, const struct branches *branches)
{
    for (uint32_t i = 1; i < branches->count; i++) {
        const struct frame *frame = frames_at(b->m.contexts->frames, branches->at[i].item);
        if (*frame->image && is_program(b, frame)) {
            mapping_of(b, frame->image);
            return;
        }
    }
}

/* The function of a site, with its file if known. */
static uint64_t function_of(struct building *b, const struct site *site, int32_t file)
{
    bool added;
    uint64_t *id = table_put(b->m.functions, (uint64_t)site->frame << 32 | (uint32_t)file, &added);
    b->m.failed |= !id;
    if (!b->m.failed && added) {
        Function *f = MESSAGE(&b->m, &b->functions, Function, fathom__pprof__function__init);
        if (f) {
            f->id = *id = b->functions.count;
            f->name = f->system_name = message_text(&b->m, site_name(&b->m.sites, site));
            f->filename = file;
        }
    }
    return b->m.failed ? 0 : *id;
}

/* Adds a location for each site, with its function. */
static void add_locations(struct building *b)
{
    for (size_t i = 0; i < b->m.sites.count && !b->m.failed; i++) {
        const struct site *site = &b->m.sites.at[i];
        const struct frame *frame = frames_at(b->m.contexts->frames, b->m.used.items[site->frame]);
        const struct frame *at = site_line(&b->m.sites, site);
        Location *l = MESSAGE(&b->m, &b->locations, Location, fathom__pprof__location__init);
        Line *line = MESSAGE(&b->m, NULL, Line, fathom__pprof__line__init);
        Line **lines = message_memory(&b->m, sizeof *lines);
        if (!lines)
            return;
        lines[0] = line;
        line->line = at ? (int64_t)at->address : 0;
        line->function_id = function_of(b, site, message_text(&b->m, at ? at->source : NULL));
        l->id = i + 1;
        l->mapping_id = mapping_of(b, frame->image);
        l->address = frame->address;
        l->n_line = 1;
        l->line = lines;
    }
}

static void add_label(struct building *b, Sample *s, const char *key, const char *words, int64_t number,
                      const char *unit)
{
    Label *label = MESSAGE(&b->m, NULL, Label, fathom__pprof__label__init);
    if (!label)
        return;
    label->key = message_text(&b->m, key);
    label->str = message_text(&b->m, words);
    label->num = number;
    label->num_unit = message_text(&b->m, unit);
    s->label[s->n_label++] = label;
}

static void add_labels(struct building *b, const struct placed *p, const struct cct_node *level, Sample *s)
{
    const struct placed_thread *t = &b->m.placed.threads[p->thread];
    struct level_label of[LEVELS];
    add_label(b, s, "thread", *t->comm ? t->comm : "?", 0, NULL);
    add_label(b, s, "tid", NULL, t->tid, "id");
    add_label(b, s, "pid", NULL, t->pid, "id");
    add_label(b, s, "sure", NULL, 100 * p->sure / PLACED_SURE_STEPS, "percent");
    const int count = level_labels(b->m.contexts, level, of);
    b->m.failed |= count < 0;
    for (int i = 0; i < count; i++)
        add_label(b, s, of[i].key, of[i].text, 0, NULL);
    level_labels_clear(of, count);
}

static void add_sample(struct building *b, size_t i)
{
    const uint32_t metrics = b->m.contexts->metrics->count;
    const struct placed *p = &b->m.placed.at[i];
    const struct cct_node *level = sites_path(&b->m.sites, p->node);
    const size_t length = level ? b->m.sites.length : 0;
    Sample *s = MESSAGE(&b->m, &b->samples, Sample, fathom__pprof__sample__init);
    uint64_t *path = message_memory(&b->m, length * sizeof *path);
    int64_t *values = message_memory(&b->m, metrics * sizeof *values);
    Label **labels = message_memory(&b->m, LABELS * sizeof *labels);
    b->m.failed |= !level;
    if (b->m.failed)
        return;
    if (length)
        memcpy(path, b->m.sites.path, length * sizeof *path);
    for (uint32_t m = 0; m < metrics; m++) {
        uint64_t value = b->m.placed.values[i * metrics + m];
        values[m] = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    }
    s->n_location_id = length;
    s->location_id = path;
    s->n_value = metrics;
    s->value = values;
    s->label = labels;
    add_labels(b, p, level, s);
}

static void put_together(struct building *b)
{
    Profile *p = &b->profile;
    message_strings(&b->m, &b->strings);
#define LIST(member, list, type)                                                                             \
    p->n_##member = b->list.count;                                                                           \
    p->member = (type *)(void *)b->list.at
    LIST(sample_type, types, ValueType *);
    LIST(sample, samples, Sample *);
    LIST(mapping, mappings, Mapping *);
    LIST(location, locations, Location *);
    LIST(function, functions, Function *);
    LIST(string_table, strings, char *);
#undef LIST
    p->time_nanos = b->resource ? (int64_t)b->resource->from : 0;
    p->duration_nanos = (int64_t)(b->resource ? b->resource->until - b->resource->from
                                              : b->m.placed.last - b->m.placed.first);
}

static int write_profile(struct building *b, FILE *out, struct fathom_error *err)
{
    struct printer printer = {.out = out};
    size_t size = b->m.failed ? 0 : fathom__pprof__profile__get_packed_size(&b->profile), zipped_size;
    uint8_t *packed = b->m.failed ? NULL : malloc(size + 1), *zipped = NULL;
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

int pprof_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct building b = {.resource = report->heading->resource};
    struct branches branches = {0};
    int rc = messages_begin(&b.m, report->contexts, err);
    if (rc == 0)
        rc = export_branches(report->contexts, &branches, err);
    if (rc == 0) {
        fathom__pprof__profile__init(&b.profile);
        add_types(&b);
        for (size_t i = 0; i < b.m.placed.count && !b.m.failed; i++)
            add_sample(&b, i);
        add_program(&b, &branches);
        add_locations(&b);
        int64_t comment = message_text(&b.m, report->heading->command);
        b.profile.n_comment = comment != 0;
        b.profile.comment = &comment;
        put_together(&b);
        rc = write_profile(&b, out, err);
    }
    struct message_list *lists[] = {&b.types,     &b.samples,   &b.mappings,
                                    &b.locations, &b.functions, &b.strings};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->at);
    branches_clear(&branches);
    messages_clear(&b.m);
    return rc;
}
