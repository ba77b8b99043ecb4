/* program_maps.c - see program_maps.h. */
#include "infer/engine/program_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "infer/engine/learn.h"
#include "infer/engine/mapped_files.h"

#define PROGRAMS_MAX 256u /* programs; further ones are ignored */
#define NO_PROGRAM   UINT64_MAX

struct program {
    struct build_id id;
    char *path;
    struct learner *learner;
};

struct program_maps {
    struct processes *processes;
    struct mapped_files *files;
    const struct event *events;
    size_t event_count;
    uint32_t event;
    struct program *programs;
    size_t count, capacity;
    struct table *by_state; /* process_state() -> index, or NO_PROGRAM */
};

static int add_program(struct program_maps *m, const char *path, const struct build_id *id,
                       struct fathom_error *err)
{
    struct program program = {.id = *id, .path = strdup(path), .learner = learner_new(LEARN_AUDITS, false)};
    if (!program.path || !program.learner || trie_image(program.learner->trie, path, id) == TRIE_NONE ||
        !vec_push(m->programs, m->count, m->capacity, program)) {
        free(program.path);
        learner_free(program.learner);
        return error_memory(err);
    }
    learner_events(program.learner, m->events, m->event_count, m->event);
    return 0;
}

/* The index of the process's program, added if new; NO_PROGRAM: it is not learned. */
static int find_program(struct program_maps *m, const struct process *process, uint64_t *out,
                        struct fathom_error *err)
{
    const struct build_id *id;
    const struct mapping *mapping = process_program_mapping(process, &id);
    *out = NO_PROGRAM;
    for (size_t i = 0; mapping && i < m->count; i++)
        if (build_id_equal(&m->programs[i].id, id))
            *out = i;
    if (!mapping || *out != NO_PROGRAM || m->count == PROGRAMS_MAX)
        return 0;
    *out = m->count;
    return add_program(m, mapping->path, id, err);
}

static int program_of(struct program_maps *m, const struct process *process, uint64_t *out,
                      struct fathom_error *err)
{
    bool added;
    uint64_t *known = table_put(m->by_state, process_state(process), &added);
    if (!known)
        return error_memory(err);
    int rc = added ? find_program(m, process, known, err) : 0;
    *out = *known;
    return rc;
}

/* An order_sink. */
static int take_record(void *maps, const struct record *record, struct fathom_error *err)
{
    struct program_maps *m = maps;
    struct learned learned;
    if (mapped_files_note(m->files, record, NULL) < 0)
        return error_memory(err);
    if (record->kind != RECORD_SAMPLE)
        return processes_apply(m->processes, record, err);
    const struct sample *sample = &record->sample;
    if (!sample->stack && !sample->walk && sample->known != SAMPLE_STACK_SAME)
        return 0;
    uint64_t index = NO_PROGRAM;
    struct process *process = process_at(m->processes, sample);
    int rc = process ? program_of(m, process, &index, err) : 0;
    if (index == NO_PROGRAM)
        return rc;
    return learner_take(m->programs[index].learner, m->processes, record, &learned, err);
}

int program_maps_read(struct reader *reader, struct image_cache *images, struct program_maps **out,
                      struct fathom_error *err)
{
    struct program_maps *m = calloc(1, sizeof *m);
    if (!m)
        return error_memory(err);
    m->event_count = reader_events(reader, &m->events);
    m->processes = processes_new(images, NULL);
    m->by_state = table_new();
    m->files = mapped_files_new();
    size_t names_size;
    const void *names = reader_code_names(reader, &names_size);
    const bool named = image_cache_code_names(images, names, names_size) == 0;
    int rc = m->processes && m->by_state && m->files && named
                 ? reader_main_event(reader, NULL, &m->event, err)
                 : error_memory(err);
    if (rc == 0)
        rc = reader_run(reader, take_record, m, err);
    if (rc < 0)
        program_maps_free(m);
    else
        *out = m;
    return rc;
}

uint64_t program_maps_recording(const struct program_maps *m)
{
    return mapped_files_recording(m->files);
}

size_t program_maps_count(const struct program_maps *m)
{
    return m->count;
}

struct program_map program_maps_at(const struct program_maps *m, size_t index)
{
    const struct program *p = &m->programs[index];
    return (struct program_map){p->id, p->path, p->learner->trie, p->learner->learned};
}

void program_maps_free(struct program_maps *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++) {
        free(m->programs[i].path);
        learner_free(m->programs[i].learner);
    }
    free(m->programs);
    table_free(m->by_state);
    mapped_files_free(m->files);
    processes_free(m->processes);
    free(m);
}
