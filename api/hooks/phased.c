#include "api/hooks/phased.h"

#include <stdlib.h>

#include "api/record/phase_switch.h"
#include "base/path.h"
#include "base/vec.h"

#define CLOCK_HZ 999 /* of the samples that detect phases: about a hundred in 100 ms */

/* What the last reading of the stores found for a path. */
struct reading {
    uint64_t sum;   /* of the weights in all readings */
    uint64_t calls; /* in this reading alone */
};

/* How much a path's count grew in an interval. */
struct grown {
    uint32_t node;
    uint32_t phase;
    uint64_t calls;
};

struct phased {
    struct phased_options options;
    struct collector_options collect;
    struct collector *collector; /* NULL: not started */
    struct phase_switch *phases;
    struct phase_switch_user user;
    struct phase_control control;
    struct trie *paths;       /* the sum of all readings of the stores */
    struct reading *readings; /* by node of `paths` */
    size_t reading_count, reading_capacity;
    struct grown *grown;
    size_t grown_count, grown_capacity;
    uint32_t pending; /* phase of an interval that has ended, but whose counts were not read yet; 0: none */
    bool read;        /* the counts from before the first interval were read */
    pid_t pid;
    bool ended;
    int rc;
    struct fathom_error err;
};

/* Reads the stores, and attributes the growth since the last reading to the phase; 0: to none. */
static int read_counts(struct phased *p, uint32_t phase, struct fathom_error *err)
{
    struct harvest harvest = {.own = true};
    int rc = harvest_directory(&harvest, p->paths, p->options.images,
                               session_directory(p->options.hooked->session), NULL, err);
    harvest_free(&harvest);
    const uint32_t nodes = trie_node_count(p->paths);
    while (rc == 0 && p->reading_count < nodes)
        if (!vec_push(p->readings, p->reading_count, p->reading_capacity, (struct reading){0}))
            return error_memory(err);
    for (uint32_t i = 0; rc == 0 && i < nodes; i++) {
        const struct reading before = p->readings[i];
        const uint64_t sum = trie_self(p->paths, i), calls = sum - before.sum;
        p->readings[i] = (struct reading){sum, calls};
        if (phase && calls > before.calls &&
            !vec_push(p->grown, p->grown_count, p->grown_capacity,
                      (struct grown){i, phase, calls - before.calls}))
            rc = error_memory(err);
    }
    return rc;
}

static int read_pending(struct phased *p, struct fathom_error *err)
{
    const uint32_t phase = p->pending;
    p->pending = 0;
    return phase ? read_counts(p, phase, err) : 0;
}

/* The counts are read later: when hooks have had time to be removed, or are to stay or to be inserted again. */
static int end_interval(void *context, uint32_t phase, struct fathom_error *err)
{
    struct phased *p = context;
    int rc = read_pending(p, err);
    p->pending = phase;
    return rc;
}

static void turn_hooks(void *context, bool on)
{
    struct phased *p = context;
    /* Counts from before the first interval belong to no phase. */
    if (on && p->rc == 0)
        p->rc = p->pending ? read_pending(p, &p->err) : p->read ? 0 : read_counts(p, 0, &p->err);
    p->read = true;
    session_hooks(p->options.hooked->session, on);
}

int phased_new(const struct phased_options *options, struct phased **out, struct fathom_error *err)
{
    struct phased *p = calloc(1, sizeof *p);
    if (!p || !(p->paths = trie_new())) {
        free(p);
        return error_memory(err);
    }
    p->options = *options;
    p->user = (struct phase_switch_user){.turn = turn_hooks, .ended = end_interval, .context = p};
    *out = p;
    return 0;
}

void phased_free(struct phased *p)
{
    if (!p)
        return;
    phase_switch_free(p->phases);
    collector_close(p->collector);
    trie_free(p->paths);
    free(p->readings);
    free(p->grown);
    free(p);
}

static void note_result(struct phased *p, int rc)
{
    if (rc < 0 && p->rc == 0)
        p->rc = rc;
    if (p->rc < 0)
        atomic_store(&p->options.hooked->stop, true);
}

static int start_clock(struct phased *p, struct fathom_error *err)
{
    const struct phase_switch_options switching = {.interval = p->options.interval_ns,
                                                   .sampling = p->options.sampling,
                                                   .control = &p->control,
                                                   .user = &p->user};
    p->user.runtime = path_base(p->options.hooked->library);
    p->collect = (struct collector_options){.event = {.name = "cpu-clock", .frequency = CLOCK_HZ},
                                            .verify = {.wish = VERIFY_NEVER},
                                            .pids = &p->pid,
                                            .pid_count = 1,
                                            .scope = COLLECT_BY_THREAD};
    int rc = collector_open(&p->collect, &p->collector, err);
    if (rc == 0)
        rc = phase_switch_new(p->collector, &switching, &p->options.host->log, &p->phases, err);
    return rc == 0 ? collector_start(p->collector, phase_switch_see, p->phases, err) : rc;
}

void phased_begin(void *phased, pid_t pid)
{
    struct phased *p = phased;
    p->pid = pid;
    note_result(p, start_clock(p, &p->err));
}

void phased_poll(void *phased)
{
    struct phased *p = phased;
    if (!p->phases || p->rc < 0)
        return;
    int rc = read_pending(p, &p->err);
    if (rc == 0)
        rc = collector_poll(p->collector, 0, phase_switch_see, p->phases, &p->err);
    note_result(p, rc < 0 ? rc : 0);
}

int phased_end(struct phased *p, struct fathom_error *err)
{
    if (p->rc == 0 && p->phases && !p->ended)
        p->rc = collector_stop(p->collector, phase_switch_see, p->phases, &p->err);
    if (p->rc == 0)
        p->rc = read_pending(p, &p->err);
    p->ended = true;
    if (p->rc < 0) {
        *err = p->err;
        return p->rc;
    }
    return 0;
}

size_t phased_phases(const struct phased *p, const struct phase_tally **out)
{
    return p->phases ? phase_switch_phases(p->phases, out) : 0;
}

int phased_trie(const struct phased *p, uint32_t phase, struct trie **out, struct fathom_error *err)
{
    const uint32_t nodes = trie_node_count(p->paths);
    struct trie *trie = trie_new();
    double *weights = calloc(nodes, sizeof *weights);
    uint32_t *copies = malloc(nodes * sizeof *copies);
    const struct phase_tally *all = NULL;
    phased_phases(p, &all);
    bool good = trie && weights && copies && trie_copy_functions(trie, p->paths);
    for (uint32_t i = 0; good && i < nodes; i++)
        copies[i] = TRIE_NONE;
    for (size_t i = 0; good && i < p->grown_count; i++) {
        const struct grown *g = &p->grown[i];
        const struct phase_tally *of = &all[g->phase - 1];
        if ((!phase || g->phase == phase) && of->profiled_weight > 0)
            weights[g->node] += (double)g->calls * of->weight / of->profiled_weight;
    }
    for (uint32_t i = 0; good && i < nodes; i++) {
        const uint64_t weight = weights[i] < 0x1p63 ? (uint64_t)(weights[i] + 0.5) : UINT64_MAX / 2;
        const uint32_t node = weight ? trie_copy_node(trie, p->paths, i, copies) : TRIE_ROOT;
        good = node != TRIE_NONE;
        if (good && weight)
            trie_add(trie, node, weight, weight);
    }
    free(copies);
    free(weights);
    if (good)
        *out = trie;
    else
        trie_free(trie);
    return good ? 0 : error_memory(err);
}
