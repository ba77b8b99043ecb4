/* trial_read.c - the figures of a check's recording; see trial.h. */
#include <stdlib.h>
#include <string.h>

#include "api/doctor/trial.h"
#include "infer/contexts/certainty.h"
#include "infer/engine/engine.h"

#define FRAMES 3 /* number of innermost frames that distinguish the workload's paths */

struct reading {
    const struct hardware_trial *trial;
    const struct trial_memory *memory;
    struct trial_seen *seen;
    struct engine *engine;
    struct workload_functions functions;
    const char *self; /* this program's file */
    uint64_t time;    /* of the last sample */
    uint32_t *path;
    size_t path_capacity;
};

/* Address of a map's function in this program's file; 0: it is in another file. */
static uint64_t own_address(const struct reading *r, const struct pathmap *map, uint32_t number)
{
    const struct pathmap_function function = pathmap_function(map, number);
    return strcmp(pathmap_image(map, function.image).path, r->self) == 0 ? function.address : 0;
}

static void count_path(struct reading *r, const uint64_t inner[FRAMES], bool proved)
{
    const struct workload_functions *f = &r->functions;
    struct trial_seen *seen = r->seen;
    bool step = inner[0] == f->step;
    unsigned way = 0;
    while (way < WORKLOAD_WAYS && inner[step] != f->ways[way])
        way++;
    seen->steps += step;
    if (!proved || (way == WORKLOAD_WAYS && !step))
        return;
    seen->proved += step;
    if (way == WORKLOAD_WAYS || inner[step + 1] != f->loop)
        seen->astray++;
    else if (step)
        seen->by_way[way]++;
}

static int count_calls(struct reading *r, const struct resolved *resolved, struct fathom_error *err)
{
    const struct pathmap *map = engine_map(r->engine);
    uint64_t inner[FRAMES] = {0};
    if (resolved->kind == RESOLVED_UNKNOWN) {
        const struct place *place = &resolved->cid.place;
        r->seen->steps += place->image && place->function != IMAGE_NO_FUNCTION &&
                          strcmp(image_path(place->image), r->self) == 0 &&
                          image_function(place->image, place->function)->address == r->functions.step;
        return 0;
    }
    int depth = pathmap_read_path(map, resolved->node, &r->path, &r->path_capacity, err);
    for (int i = 0; i < FRAMES && i < depth; i++)
        inner[i] = own_address(r, map, r->path[depth - 1 - i]);
    if (depth >= 0)
        count_path(r, inner, certainty_of(resolved) == CERTAINTY_PROVED);
    return depth < 0 ? depth : 0;
}

static int count_sample(void *context, const struct process *process, const struct sample *sample,
                        const struct resolved *resolved, struct fathom_error *err)
{
    struct reading *r = context;
    (void)process;
    r->seen->samples++;
    r->seen->timed += sample->time != r->time;
    r->time = sample->time;
    if (r->trial->workload == FATHOM_WORKLOAD_CALLS)
        return count_calls(r, resolved, err);
    r->seen->addressed += sample->addr - r->memory->start < r->memory->size;
    r->seen->slow += sample->weight >= r->trial->latency;
    return 0;
}

static int read_trial(struct reading *r, struct reader *reader, struct fathom_error *err)
{
    const struct event *events;
    struct engine_input input = {.reader = reader};
    int rc = reader_main_event(reader, NULL, &input.event, err);
    if (rc < 0)
        return rc;
    reader_events(reader, &events);
    r->seen->precise = events[input.event].attr.precise_ip;
    return engine_run(r->engine, &input, count_sample, r, err);
}

int trial_read(const struct hardware_trial *trial, const char *recording, const char *self,
               const struct trial_memory *memory, struct trial_seen *out, struct fathom_error *err)
{
    static const struct engine_options options = {.learning = LEARN_DUMPS, .own_dumps = true};
    struct reading r = {.trial = trial, .memory = memory, .seen = out, .self = self};
    struct reader *reader = NULL;
    workload_functions(&r.functions);
    struct image_cache *images = image_cache_new(&(struct image_options){0});
    r.engine = images ? engine_new(images, &options, NULL) : NULL;
    int rc = r.engine ? reader_open(recording, NULL, &reader, err) : error_memory(err);
    if (rc == 0)
        rc = read_trial(&r, reader, err);
    free(r.path);
    engine_free(r.engine);
    image_cache_free(images);
    reader_close(reader);
    return rc;
}
