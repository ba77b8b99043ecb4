/* settings.c - see settings.h. */
#include "infer/samples/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"
#include "image/mapped_name.h"

/* Numbers of files, ascending. */
struct set {
    uint32_t *files;
    uint32_t count;
    uint32_t program; /* the file mapped at the lowest address */
};

struct settings {
    struct names *paths;
    struct setting_file *files;
    uint32_t file_count, file_capacity;
    struct table *file_of; /* hash of a file -> its number + 1 */
    struct set *sets;      /* the first is set 0 */
    uint32_t set_count, set_capacity;
    struct table *set_of;   /* hash of a set -> its number + 1 */
    struct table *state_of; /* process_state() -> set, in this pass */
    struct setting *all;
    uint32_t count, capacity;
    struct table *number_of; /* hash of a setting -> its number + 1 */
    struct table *united;    /* program -> the set of all of its files, once requested */
    uint64_t last_state;     /* the last one looked up; 0: none, as no process has it */
    uint32_t last_set;
};

struct settings *settings_new(void)
{
    struct settings *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->paths = names_new();
    s->file_of = table_new();
    s->set_of = table_new();
    s->state_of = table_new();
    s->number_of = table_new();
    s->united = table_new();
    if (!s->paths || !s->file_of || !s->set_of || !s->state_of || !s->number_of || !s->united ||
        !vec_reserve(s->sets, 0, s->set_capacity, 1) || !vec_reserve(s->all, 0, s->capacity, 1)) {
        settings_free(s);
        return NULL;
    }
    s->sets[s->set_count++] = (struct set){.program = UINT32_MAX};
    s->all[s->count++] = (struct setting){SETTING_START_ANY, ORIGIN_UNKNOWN, 0};
    return s;
}

void settings_free(struct settings *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->set_count; i++)
        free(s->sets[i].files);
    names_free(s->paths);
    table_free(s->file_of);
    table_free(s->set_of);
    table_free(s->state_of);
    table_free(s->number_of);
    table_free(s->united);
    free(s->files);
    free(s->sets);
    free(s->all);
    free(s);
}

void settings_begin_pass(struct settings *s)
{
    uint64_t key, value;
    for (size_t cursor = 0; table_next(s->state_of, &cursor, &key, &value); cursor = 0)
        table_remove(s->state_of, key);
    s->last_state = 0;
}

/* The path without the suffix of a file that is gone. NAMES_NONE: out of memory. */
static uint32_t intern_path(struct settings *s, const char *path)
{
    if (!mapped_is_gone(path))
        return names_intern(s->paths, path);
    char *bare = strndup(path, mapped_path_length(path));
    uint32_t number = bare ? names_intern(s->paths, bare) : NAMES_NONE;
    free(bare);
    return number;
}

/* If its build was not recorded, the file itself may have it. */
static struct setting_file make_file(const struct mapping *mapping, const char *path,
                                     const struct build_id *build_id)
{
    struct setting_file file = {.path = path};
    if (build_id)
        file.build_id = *build_id;
    else if (mapping->image)
        file.build_id = *image_build_id(mapping->image);
    else if (path[0] == '/' && !mapped_is_gone(mapping->path))
        build_id_read(path, &file.build_id, NULL);
    return file;
}

/* The file's number; -ENOMEM. */
static int64_t file_number(struct settings *s, const struct mapping *mapping, const struct build_id *build_id)
{
    uint32_t path = intern_path(s, mapping->path);
    if (path == NAMES_NONE)
        return -ENOMEM;
    uint64_t hash = hash_u64(path);
    for (uint32_t i = 0; build_id && i < build_id->size; i++)
        hash = hash_u64(hash ^ build_id->bytes[i]);
    const size_t number = table_index(s->file_of, hash, s->files, s->file_count, s->file_capacity,
                                      make_file(mapping, names_text(s->paths, path), build_id));
    return number == SIZE_MAX ? -ENOMEM : (int64_t)number;
}

/* The number of the set of these files, which are sorted; takes ownership of them. 0 or -ENOMEM. */
static int set_number(struct settings *s, uint32_t *files, uint32_t count, uint32_t program, uint32_t *out)
{
    const uint32_t kept = (uint32_t)sort_unique(files, count);
    uint64_t hash = hash_u64(program);
    for (uint32_t i = 0; i < kept; i++)
        hash = hash_u64(hash ^ files[i]);
    const uint32_t before = s->set_count;
    const size_t number = table_index(s->set_of, hash, s->sets, s->set_count, s->set_capacity,
                                      (struct set){files, kept, program});
    if (s->set_count == before)
        free(files);
    if (number == SIZE_MAX)
        return -ENOMEM;
    *out = (uint32_t)number;
    return 0;
}

/* The set of files that the process maps. 0 or -ENOMEM. */
static int mapped_set(struct settings *s, const struct process *process, uint32_t *out)
{
    uint64_t state = process_state(process);
    if (state == s->last_state) {
        *out = s->last_set;
        return 0;
    }
    uint64_t *value = table_put(s->state_of, state, NULL);
    if (!value)
        return -ENOMEM;
    if (*value == 0) {
        uint32_t *files = NULL, count = 0, capacity = 0, program = UINT32_MAX, set;
        const struct build_id *build_id;
        const struct mapping *mapping;
        for (size_t i = 0; (mapping = process_mapping_at(process, i, &build_id)); i++) {
            int64_t file = file_number(s, mapping, build_id);
            if (file < 0 || !vec_reserve(files, count, capacity, 1)) {
                free(files);
                return -ENOMEM;
            }
            if (program == UINT32_MAX && mapping->path[0] == '/')
                program = (uint32_t)file;
            files[count++] = (uint32_t)file;
        }
        if (set_number(s, files, count, program, &set) < 0)
            return -ENOMEM;
        *value = set;
    }
    s->last_state = state;
    s->last_set = *out = (uint32_t)*value;
    return 0;
}

int settings_number(struct settings *s, struct setting setting, uint32_t *out)
{
    uint64_t hash = hash_u64(hash_u64(setting.files) ^ setting.called) ^ setting.start;
    const size_t number = table_index(s->number_of, hash, s->all, s->count, s->capacity, setting);
    if (number == SIZE_MAX)
        return -ENOMEM;
    *out = (uint32_t)number;
    return 0;
}

int settings_of(struct settings *s, const struct origins *origins, const struct process *process,
                const struct sample *sample, uint32_t *out)
{
    struct setting setting = {SETTING_START_OTHER, ORIGIN_UNKNOWN, 0};
    uint64_t base;
    if (mapped_set(s, process, &setting.files) < 0)
        return -ENOMEM;
    if (process_stack_base(process, sample->tid, sample->sp, &base) == STACK_OWN) {
        struct origin origin = origins_of(origins, process, sample->tid);
        setting.start = origin.start == STACK_START_PROGRAM ? SETTING_START_PROGRAM : SETTING_START_THREAD;
        setting.called = origin.called;
    }
    return settings_number(s, setting, out);
}

uint32_t settings_count(const struct settings *s)
{
    return s->count;
}

struct setting settings_at(const struct settings *s, uint32_t number)
{
    return s->all[number];
}

uint32_t settings_sets(const struct settings *s)
{
    return s->set_count;
}

bool settings_set_has(const struct settings *s, uint32_t set, const char *path,
                      const struct build_id *build_id)
{
    for (uint32_t i = 0; i < s->sets[set].count; i++) {
        const struct setting_file *file = &s->files[s->sets[set].files[i]];
        if (build_id && build_id->size && file->build_id.size ? build_id_equal(build_id, &file->build_id)
                                                              : strcmp(file->path, path) == 0)
            return true;
    }
    return false;
}

bool settings_together(const struct settings *s, const struct setting_file *a, const struct setting_file *b)
{
    bool any_a = false, any_b = false;
    for (uint32_t set = 1; set < s->set_count; set++) {
        bool has_a = settings_set_has(s, set, a->path, &a->build_id);
        bool has_b = settings_set_has(s, set, b->path, &b->build_id);
        if (has_a && has_b)
            return true;
        any_a |= has_a;
        any_b |= has_b;
    }
    return !any_a || !any_b;
}

/* The set of all files of the sets with this program. 0 or -ENOMEM. */
static int unite_sets(struct settings *s, uint32_t program, uint32_t *out)
{
    uint32_t *files = NULL, count = 0, capacity = 0;
    for (uint32_t i = 1; i < s->set_count; i++) {
        const struct set *of = &s->sets[i];
        for (uint32_t f = 0; of->program == program && f < of->count; f++) {
            if (!vec_reserve(files, count, capacity, 1)) {
                free(files);
                return -ENOMEM;
            }
            files[count++] = of->files[f];
        }
    }
    return set_number(s, files, count, program, out);
}

int settings_wider(struct settings *s, uint32_t number, uint32_t *out)
{
    struct setting wide = {s->all[number].start, ORIGIN_UNKNOWN, s->all[number].files};
    uint32_t program = s->sets[wide.files].program;
    uint64_t *united = table_put(s->united, program, NULL);
    if (!united)
        return -ENOMEM;
    if (wide.files && *united == 0) {
        uint32_t set;
        if (unite_sets(s, program, &set) < 0)
            return -ENOMEM;
        *united = set;
    }
    wide.files = wide.files ? (uint32_t)*united : 0;
    return settings_number(s, wide, out);
}
