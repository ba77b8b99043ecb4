/*
 * otlp.c - OpenTelemetry profiles (OTLP, signal "profiles", development version): one profile per metric, with a common dictionary.
 * Samples with the same context, thread and certainty are combined, as in pprof.c. The messages are those of otlp.proto, by protobuf-c.
 *
 * Attributes have the names of OpenTelemetry's semantic conventions; those that have none there begin with "fathom.": "fathom.sure" is the
 * certainty of a path, in percent.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"
#include "image/script.h"
#include "report/export/export.h"
#include "report/export/messages.h"
#include "report/export/otlp.pb-c.h"

typedef Fathom__Otlp__Attribute Attribute;
typedef Fathom__Otlp__Dictionary Dictionary;
typedef Fathom__Otlp__Function Function;
typedef Fathom__Otlp__KeyValue KeyValue;
typedef Fathom__Otlp__Line Line;
typedef Fathom__Otlp__Link Link;
typedef Fathom__Otlp__Location Location;
typedef Fathom__Otlp__Mapping Mapping;
typedef Fathom__Otlp__Profile Profile;
typedef Fathom__Otlp__Sample Sample;
typedef Fathom__Otlp__Stack Stack;
typedef Fathom__Otlp__Value Value;
typedef Fathom__Otlp__ValueType ValueType;

enum { ATTRIBUTES = 4 + LEVELS }; /* of a sample: thread, TID, process, certainty, levels */

/* In lists, the first message is the default, to which 0 refers. */
struct building {
    struct messages m;
    const struct view_heading *heading;
    struct table *attributes, *stacks; /* a key -> its number */
    struct message_list mapping_list, location_list, function_list, attribute_list, stack_list, link_list,
        string_list;
    struct message_list samples[METRICS_MAX];
};

static Value *value_of(struct building *b, const char *words, int64_t number)
{
    Value *v = MESSAGE(&b->m, NULL, Value, fathom__otlp__value__init);
    if (!v)
        return NULL;
    if (words) {
        v->value_case = FATHOM__OTLP__VALUE__VALUE_STRING_VALUE;
        v->string_value = arena_strdup(b->m.arena, words);
        b->m.failed |= !v->string_value;
        if (v->string_value)
            text_clean(v->string_value);
    } else {
        v->value_case = FATHOM__OTLP__VALUE__VALUE_INT_VALUE;
        v->int_value = number;
    }
    return v;
}

/* The number of an attribute, whose value is a text or, if that is NULL, a number below 2^31. */
static int32_t attribute(struct building *b, const char *key, const char *words, uint32_t number,
                         const char *unit)
{
    const int32_t name = message_text(&b->m, key);
    const uint64_t value =
        words ? (uint64_t)1 << 31 | (uint32_t)message_text(&b->m, words) : number & INT32_MAX;
    bool added;
    uint64_t *place =
        b->m.failed ? NULL : table_put(b->attributes, (uint64_t)(uint32_t)name << 32 | value, &added);
    b->m.failed |= !place;
    if (!b->m.failed && added) {
        Attribute *a = MESSAGE(&b->m, &b->attribute_list, Attribute, fathom__otlp__attribute__init);
        if (a) {
            a->key_strindex = name;
            a->unit_strindex = message_text(&b->m, unit);
            a->value = value_of(b, words, (int64_t)value);
            *place = b->attribute_list.count - 1;
        }
    }
    return b->m.failed ? 0 : (int32_t)*place;
}

/* A list of one number; 0: an empty list. */
static int32_t *one_of(struct building *b, int32_t number, size_t *count)
{
    int32_t *list = number ? message_memory(&b->m, sizeof *list) : NULL;
    *count = list != NULL;
    if (list)
        *list = number;
    return list;
}

/* What locations refer to --------------------------------------------------------------------------------------------- */

static int32_t mapping_of(struct building *b, const char *name)
{
    bool added;
    uint64_t *number = *name ? table_put(b->m.mappings, (uint32_t)message_text(&b->m, name), &added) : NULL;
    if (!number)
        return 0;
    if (added) {
        const struct frame_image *image = frames_image(b->m.contexts->frames, name);
        char build_id[2 * BUILD_ID_MAX + 1] = "";
        Mapping *m = MESSAGE(&b->m, &b->mapping_list, Mapping, fathom__otlp__mapping__init);
        if (!m)
            return 0;
        if (image)
            build_id_format(&image->build_id, build_id);
        m->memory_limit = INT64_MAX; /* addresses are addresses in the file */
        m->filename_strindex = message_text(&b->m, image ? image->path : name);
        m->attribute_indices =
            one_of(b, *build_id ? attribute(b, "process.executable.build_id.gnu", build_id, 0, NULL) : 0,
                   &m->n_attribute_indices);
        *number = b->mapping_list.count - 1;
    }
    return (int32_t)*number;
}

/* The function of a site, with its file if known. */
static int32_t function_of(struct building *b, const struct site *site, const struct frame *line)
{
    const int32_t file = message_text(&b->m, line ? line->source : NULL);
    bool added;
    uint64_t *number = table_put(b->m.functions, (uint64_t)site->frame << 32 | (uint32_t)file, &added);
    b->m.failed |= !number;
    if (!b->m.failed && added) {
        Function *f = MESSAGE(&b->m, &b->function_list, Function, fathom__otlp__function__init);
        if (f) {
            f->name_strindex = message_text(&b->m, site_name(&b->m.sites, site));
            f->filename_strindex = file;
            *number = b->function_list.count - 1;
        }
    }
    return b->m.failed ? 0 : (int32_t)*number;
}

static int32_t type_of(struct building *b, const struct frame *frame)
{
    const struct script_facts *script = script_facts(frame->language);
    const char *type = frame->kind == FRAME_KERNEL   ? "kernel"
                       : frame->kind == FRAME_SCRIPT ? (script ? script->type : NULL)
                       : frame->kind == FRAME_FUNCTION || frame->kind == FRAME_INLINED ? "native"
                                                                                       : NULL;
    return type ? attribute(b, "profile.frame.type", type, 0, NULL) : 0;
}

/* Adds a location for each site, with the same number. */
static void add_locations(struct building *b)
{
    for (size_t i = 0; i < b->m.sites.count && !b->m.failed; i++) {
        const struct site *site = &b->m.sites.at[i];
        const struct frame *frame = frames_at(b->m.contexts->frames, b->m.used.items[site->frame]),
                           *line = site_line(&b->m.sites, site);
        Location *l = MESSAGE(&b->m, &b->location_list, Location, fathom__otlp__location__init);
        Line *of = MESSAGE(&b->m, NULL, Line, fathom__otlp__line__init),
             **lines = message_memory(&b->m, sizeof *lines);
        if (!l || !of || !lines)
            return;
        of->function_index = function_of(b, site, line);
        of->line = line ? (int64_t)line->address : 0;
        lines[0] = of;
        l->mapping_index = mapping_of(b, frame->image);
        l->address = frame->address;
        l->n_lines = 1;
        l->lines = lines;
        l->attribute_indices = one_of(b, type_of(b, frame), &l->n_attribute_indices);
    }
}

/* Samples -------------------------------------------------------------------------------------------------------------- */

/* The number of the path's stack. */
static int32_t stack_of(struct building *b, const struct cct_node *node)
{
    bool added;
    uint64_t *number = b->m.failed ? NULL : table_put(b->stacks, (uintptr_t)node, &added);
    b->m.failed |= !number;
    if (!b->m.failed && added) {
        Stack *s = MESSAGE(&b->m, &b->stack_list, Stack, fathom__otlp__stack__init);
        int32_t *path = message_memory(&b->m, b->m.sites.length * sizeof *path);
        if (!s || !path)
            return 0;
        for (size_t i = 0; i < b->m.sites.length; i++)
            path[i] = (int32_t)b->m.sites.path[i];
        s->n_location_indices = b->m.sites.length;
        s->location_indices = path;
        *number = b->stack_list.count - 1;
    }
    return b->m.failed ? 0 : (int32_t)*number;
}

/* Returns their number. */
static size_t add_attributes(struct building *b, const struct placed *p, const struct cct_node *level,
                             int32_t *to)
{
    const struct placed_thread *t = &b->m.placed.threads[p->thread];
    struct level_label labels[LEVELS];
    size_t count = 0;
    if (*t->comm)
        to[count++] = attribute(b, "thread.name", t->comm, 0, NULL);
    if (t->tid) {
        to[count++] = attribute(b, "thread.id", NULL, t->tid, NULL);
        to[count++] = attribute(b, "process.pid", NULL, t->pid, NULL);
    }
    to[count++] = attribute(b, "fathom.sure", NULL, 100u * p->sure / PLACED_SURE_STEPS, "percent");
    const int levels = level_labels(b->m.contexts, level, labels);
    b->m.failed |= levels < 0;
    for (int i = 0; i < levels; i++) {
        char key[64];
        snprintf(key, sizeof key, "fathom.%s", labels[i].key);
        to[count++] = attribute(b, key, labels[i].text, 0, NULL);
    }
    level_labels_clear(labels, levels);
    return count;
}

static void add_sample(struct building *b, size_t i)
{
    const uint32_t metrics = b->m.contexts->metrics->count;
    const struct placed *p = &b->m.placed.at[i];
    const struct cct_node *level = sites_path(&b->m.sites, p->node);
    int32_t *attributes = message_memory(&b->m, ATTRIBUTES * sizeof *attributes);
    int64_t *values = message_memory(&b->m, metrics * sizeof *values);
    b->m.failed |= !level;
    if (b->m.failed)
        return;
    const int32_t stack = stack_of(b, p->node);
    const size_t count = add_attributes(b, p, level, attributes);
    for (uint32_t m = 0; m < metrics && !b->m.failed; m++) {
        const uint64_t value = b->m.placed.values[i * metrics + m];
        Sample *s = MESSAGE(&b->m, &b->samples[m], Sample, fathom__otlp__sample__init);
        if (!s)
            return;
        values[m] = value > INT64_MAX ? INT64_MAX : (int64_t)value;
        s->stack_index = stack;
        s->n_attribute_indices = count;
        s->attribute_indices = attributes;
        s->n_values = 1;
        s->values = &values[m];
    }
}

/* The whole ------------------------------------------------------------------------------------------------------------ */

static ValueType *type_of_metric(struct building *b, uint32_t m)
{
    ValueType *t = MESSAGE(&b->m, NULL, ValueType, fathom__otlp__value_type__init);
    if (t) {
        const char *unit = metrics_unit(b->m.contexts->metrics, m);
        t->type_strindex = message_text(&b->m, b->m.contexts->metrics->at[m]->name);
        t->unit_strindex = message_text(&b->m, export_pprof_unit(unit));
    }
    return t;
}

static void add_profile(struct building *b, struct message_list *profiles, uint32_t m)
{
    const struct view_resource *r = b->heading->resource;
    Profile *p = MESSAGE(&b->m, profiles, Profile, fathom__otlp__profile__init);
    uint64_t *id = r ? message_memory(&b->m, 2 * sizeof *id) : NULL;
    if (!p)
        return;
    p->sample_type = type_of_metric(b, m);
    p->period_type = type_of_metric(b, 0);
    p->period = 1;
    p->n_samples = b->samples[m].count;
    p->samples = (Sample **)(void *)b->samples[m].at;
    p->time_unix_nano = r ? r->from : 0;
    p->duration_nano = r ? r->until - r->from : b->m.placed.last - b->m.placed.first;
    if (id) {
        id[0] = r->id;
        id[1] = m;
        p->profile_id = (ProtobufCBinaryData){2 * sizeof *id, (uint8_t *)id};
    }
}

static void add_resource_attribute(struct building *b, struct message_list *list, const char *key,
                                   const char *words)
{
    KeyValue *k = words && *words ? MESSAGE(&b->m, list, KeyValue, fathom__otlp__key_value__init) : NULL;
    if (!k)
        return;
    k->key = (char *)(uintptr_t)key;
    k->value = value_of(b, words, 0);
}

static void put_dictionary(struct building *b, Dictionary *d)
{
    fathom__otlp__dictionary__init(d);
    message_strings(&b->m, &b->string_list);
#define TABLE(name, type)                                                                                    \
    d->n_##name##_table = b->name##_list.count;                                                              \
    d->name##_table = (type *)(void *)b->name##_list.at
    TABLE(mapping, Mapping *);
    TABLE(location, Location *);
    TABLE(function, Function *);
    TABLE(link, Link *);
    TABLE(string, char *);
    TABLE(attribute, Attribute *);
    TABLE(stack, Stack *);
#undef TABLE
}

static int write_data(struct building *b, FILE *out, struct fathom_error *err)
{
    Fathom__Otlp__Data data;
    Fathom__Otlp__ResourceProfiles of_resource, *resources = &of_resource;
    Fathom__Otlp__ScopeProfiles of_scope, *scopes = &of_scope;
    Fathom__Otlp__Resource resource;
    Fathom__Otlp__Scope scope;
    Dictionary dictionary;
    struct message_list attributes = {0}, profiles = {0};
    const struct view_resource *r = b->heading->resource;
    fathom__otlp__data__init(&data);
    fathom__otlp__resource_profiles__init(&of_resource);
    fathom__otlp__scope_profiles__init(&of_scope);
    fathom__otlp__resource__init(&resource);
    fathom__otlp__scope__init(&scope);
    for (uint32_t m = 0; m < b->m.contexts->metrics->count; m++)
        add_profile(b, &profiles, m);
    add_resource_attribute(b, &attributes, "service.name", r ? r->service : NULL);
    add_resource_attribute(b, &attributes, "host.name", r ? r->host : NULL);
    add_resource_attribute(b, &attributes, "process.executable.build_id.gnu", r ? r->build : NULL);
    add_resource_attribute(b, &attributes, "process.command_line", b->heading->command);
    put_dictionary(b, &dictionary);
    resource.n_attributes = attributes.count;
    resource.attributes = (KeyValue **)(void *)attributes.at;
    scope.name = (char *)(uintptr_t) "fathom";
    of_scope.scope = &scope;
    of_scope.n_profiles = profiles.count;
    of_scope.profiles = (Profile **)(void *)profiles.at;
    of_resource.resource = &resource;
    of_resource.n_scope_profiles = 1;
    of_resource.scope_profiles = &scopes;
    data.n_resource_profiles = 1;
    data.resource_profiles = &resources;
    data.dictionary = &dictionary;
    const size_t size = b->m.failed ? 0 : fathom__otlp__data__get_packed_size(&data);
    uint8_t *packed = b->m.failed ? NULL : malloc(size + 1);
    struct printer printer = {.out = out};
    if (packed) {
        fathom__otlp__data__pack(&data, packed);
        printer_bytes(&printer, (const char *)packed, size);
    }
    free(attributes.at);
    free(profiles.at);
    free(packed);
    return packed ? printer_finish(&printer, err) : error_memory(err);
}

static void make_profiles(struct building *b)
{
    MESSAGE(&b->m, &b->mapping_list, Mapping, fathom__otlp__mapping__init);
    MESSAGE(&b->m, &b->location_list, Location, fathom__otlp__location__init);
    MESSAGE(&b->m, &b->function_list, Function, fathom__otlp__function__init);
    MESSAGE(&b->m, &b->link_list, Link, fathom__otlp__link__init);
    MESSAGE(&b->m, &b->attribute_list, Attribute, fathom__otlp__attribute__init);
    MESSAGE(&b->m, &b->stack_list, Stack, fathom__otlp__stack__init);
    for (size_t i = 0; i < b->m.placed.count && !b->m.failed; i++)
        add_sample(b, i);
    add_locations(b);
}

static void building_clear(struct building *b)
{
    struct message_list *lists[] = {&b->mapping_list,   &b->location_list, &b->function_list,
                                    &b->attribute_list, &b->stack_list,    &b->link_list,
                                    &b->string_list};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->at);
    for (size_t m = 0; m < METRICS_MAX; m++)
        free(b->samples[m].at);
    table_free(b->attributes);
    table_free(b->stacks);
    messages_clear(&b->m);
}

int otlp_write(const struct report *report, FILE *out, struct fathom_error *err)
{
    struct building b = {.heading = report->heading, .attributes = table_new(), .stacks = table_new()};
    int rc = messages_begin(&b.m, report->contexts, err);
    if (rc == 0 && (!b.attributes || !b.stacks))
        rc = error_memory(err);
    if (rc == 0) {
        make_profiles(&b);
        rc = write_data(&b, out, err);
    }
    building_clear(&b);
    return rc;
}
