/* resolver.c - finds the paths of points; see fathom/resolve.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/host.h"
#include "api/resolve/answer.h"
#include "api/resolve/dumped.h"
#include "api/resolve/followed.h"
#include "api/resolve/resolving.h"
#include "infer/model/calibration.h"
#include "infer/samples/builds.h"

#define GIVEN_PID (UINT32_MAX - 1) /* for a process that is not running; no running one has this PID */

struct fathom_resolver {
    struct host host;
    struct image_cache *images;
    struct processes *processes;
    struct followed *followed; /* NULL: none; at most one of this and the next is set */
    struct core_dump *core;    /* NULL: none */
    struct pathmap *map;
    struct resolver *resolver;
    struct calibration *calibration;
    struct builds *builds;
    struct known_frames frames;
    struct fathom_answer answer;
};

/* From now on, points are of another process, or of one whose mappings the caller gives. */
static void stop_following(struct fathom_resolver *r)
{
    followed_free(r->followed);
    core_dump_close(r->core);
    r->followed = NULL;
    r->core = NULL;
}

/* Calibrates as report does for a run without stacks of its own: by how well parts of the training predict each other. */
static bool believe_training(struct fathom_resolver *r)
{
    const struct trained trained = trained_of(r->map);
    r->calibration = calibration_new();
    if (r->calibration)
        calibration_train(r->calibration, &trained);
    return r->calibration != NULL;
}

int fathom_resolver_open(const char *map, const struct fathom_listener *listener,
                         struct fathom_resolver **out, struct fathom_error *error)
{
    struct fathom_resolver *r = calloc(1, sizeof *r);
    if (!r)
        return error_memory(error);
    host_init(&r->host, listener);
    r->images = image_cache_new(&(struct image_options){.log = &r->host.log});
    r->processes = r->images ? processes_new(r->images, &r->host.log) : NULL;
    int rc = r->processes ? pathmap_open(map, &r->map, error) : error_memory(error);
    if (rc == 0) {
        r->frames = (struct known_frames){.images = r->images, .map = r->map};
        r->resolver = resolver_new(r->map, NULL);
        r->builds = builds_new(r->map, &r->host.log);
        rc = r->resolver && r->builds && believe_training(r) ? 0 : error_memory(error);
    }
    if (rc < 0)
        fathom_resolver_close(r);
    else
        *out = r;
    return rc;
}

void fathom_resolver_close(struct fathom_resolver *r)
{
    if (!r)
        return;
    answer_clear(&r->answer);
    known_frames_clear(&r->frames);
    builds_free(r->builds);
    calibration_free(r->calibration);
    resolver_free(r->resolver);
    pathmap_close(r->map);
    stop_following(r);
    processes_free(r->processes);
    image_cache_free(r->images);
    free(r);
}

static uint32_t pid_of(const struct fathom_resolver *r)
{
    return r->followed ? (uint32_t)followed_pid(r->followed) : GIVEN_PID;
}

/* Compares the mapped files with those of the map; warns about other builds. */
static int note_builds(struct fathom_resolver *r, struct fathom_error *err)
{
    const struct process *process = process_find(r->processes, pid_of(r));
    const struct build_id *id;
    const struct mapping *mapping;
    for (size_t i = 0; process && (mapping = process_mapping_at(process, i, &id)); i++)
        if (id && builds_note(r->builds, mapping->path, id) < 0)
            return error_memory(err);
    return 0;
}

int fathom_resolver_follow(struct fathom_resolver *r, pid_t pid, struct fathom_error *error)
{
    struct followed *followed = NULL;
    int rc = followed_new(pid ? pid : getpid(), r->processes, &followed, error);
    if (rc < 0)
        return rc;
    stop_following(r);
    r->followed = followed;
    return note_builds(r, error);
}

int fathom_resolver_core(struct fathom_resolver *r, const char *core, struct fathom_error *error)
{
    struct core_dump *opened = NULL;
    int rc = core_dump_open(core, &opened, error);
    if (rc == 0)
        rc = dumped_read(opened, GIVEN_PID, r->processes, &r->host.log, error);
    if (rc < 0) {
        core_dump_close(opened);
        return rc;
    }
    stop_following(r);
    r->core = opened;
    return note_builds(r, error);
}

size_t fathom_resolver_threads(const struct fathom_resolver *r)
{
    const struct core_thread *threads;
    return r->core ? core_dump_threads(r->core, &threads) : 0;
}

int fathom_resolver_thread(const struct fathom_resolver *r, size_t index, uint32_t *tid,
                           struct fathom_point *point)
{
    const struct core_thread *threads;
    if (index >= fathom_resolver_threads(r))
        return -ERANGE;
    core_dump_threads(r->core, &threads);
    *tid = threads[index].tid;
    *point = (struct fathom_point){threads[index].pc, threads[index].sp, threads[index].bp};
    return 0;
}

int fathom_resolver_mapping(struct fathom_resolver *r, const struct fathom_mapping *mapping,
                            struct fathom_error *error)
{
    struct record record = {.kind = RECORD_MMAP,
                            .pid = GIVEN_PID,
                            .mmap = {.address = mapping->start,
                                     .length = mapping->end - mapping->start,
                                     .offset = mapping->offset,
                                     .executable = true,
                                     .path = mapping->path}};
    if (mapping->end <= mapping->start || !mapping->path ||
        (mapping->build_id && mapping->build_id_size > sizeof record.mmap.build_id))
        return error_set(
            error, EINVAL,
            "0x%llx-0x%llx is no mapping of a file: give its path, and 20 bytes of build-id at most",
            (unsigned long long)mapping->start, (unsigned long long)mapping->end);
    if (mapping->build_id) {
        record.mmap.build_id_size = (uint8_t)mapping->build_id_size;
        memcpy(record.mmap.build_id, mapping->build_id, mapping->build_id_size);
    }
    stop_following(r);
    int rc = processes_apply(r->processes, &record, error);
    return rc == 0 ? note_builds(r, error) : rc;
}

int fathom_resolver_stack(struct fathom_resolver *r, uint64_t low, uint64_t base, struct fathom_error *error)
{
    struct process *process = process_find(r->processes, GIVEN_PID);
    if (low >= base || !process)
        return error_set(error, EINVAL, "0x%llx-0x%llx is no stack%s", (unsigned long long)low,
                         (unsigned long long)base, process ? "" : " of a process: give a mapping first");
    stop_following(r);
    return process_set_shared_stack(process, low, base, error);
}

static struct cid cid_of(struct fathom_resolver *r, const struct fathom_point *point)
{
    const uint32_t pid = pid_of(r);
    const struct sample sample = {.pid = pid,
                                  .tid = pid,
                                  .ip = point->pc,
                                  .has_regs = true,
                                  .reg_ip = point->pc,
                                  .sp = point->sp,
                                  .bp = point->bp};
    return cid_of_sample(process_find(r->processes, pid), &sample);
}

/* Finds the point's CID. Unknown mappings and stacks are searched for in the running process or the core. */
static int find_cid(struct fathom_resolver *r, const struct fathom_point *point, struct cid *out,
                    struct fathom_error *err)
{
    *out = cid_of(r, point);
    int rc = 0;
    if (r->followed && out->reason == UNKNOWN_MAPPING) {
        rc = followed_read(r->followed, err);
        *out = cid_of(r, point);
    }
    if (rc == 0 && (r->followed || r->core) && out->reason == UNKNOWN_BASE) {
        rc = r->followed ? followed_find_stack(r->followed, point->pc, point->sp, err)
                         : dumped_find_stack(r->core, process_find(r->processes, GIVEN_PID), point->sp, err);
        if (rc > 0)
            *out = cid_of(r, point);
    }
    return rc < 0 ? rc : 0;
}

/* Whether training would have seen code of this image run. If not, the answer says why. */
static bool is_observed(const struct fathom_resolver *r, const struct image *image,
                        struct fathom_answer *answer)
{
    bool stale;
    const uint32_t number = pathmap_find_image(r->map, image_path(image), image_build_id(image), &stale);
    if (number == PATHMAP_NONE && stale)
        snprintf(answer->reason, sizeof answer->reason, "the map was trained with another build of %.150s",
                 image_path(image));
    else if (number == PATHMAP_NONE && builds_foreign(r->builds))
        snprintf(answer->reason, sizeof answer->reason, "the map is of other programs");
    else if (pathmap_hooked(r->map) && (number == PATHMAP_NONE || !pathmap_covers(r->map, number)))
        snprintf(answer->reason, sizeof answer->reason, "training did not count the calls into %.150s",
                 image_path(image));
    else
        return true;
    return false;
}

static enum fathom_novelty novelty_of(const struct fathom_resolver *r, const struct cid *cid,
                                      struct fathom_answer *answer)
{
    if (answer->path_count)
        return FATHOM_SEEN;
    return cid->reason == UNKNOWN_NOT && is_observed(r, cid->place.image, answer) ? FATHOM_NEVER_SEEN
                                                                                  : FATHOM_NOT_TOLD;
}

int fathom_resolver_resolve(struct fathom_resolver *r, const struct fathom_point *point,
                            const struct fathom_answer **out, struct fathom_error *error)
{
    struct cid cid;
    struct resolved resolved;
    struct belief belief = {.factor = 1};
    int rc = find_cid(r, point, &cid, error);
    if (rc == 0)
        rc = resolver_resolve(r->resolver, &cid, SETTING_ANY, &resolved, error);
    if (rc < 0)
        return rc;
    if (resolved.kind != RESOLVED_UNKNOWN) {
        uint32_t unseen;
        pathmap_unseen(r->map, resolved.node, &unseen);
        belief = calibration_belief(r->calibration, &resolved, unseen);
        resolved.least = belief.least;
        resolved.most = belief.most;
    }
    rc = answer_fill(&r->answer, &resolved, belief.factor, &r->frames, error);
    if (rc < 0)
        return rc;
    r->answer.novelty = novelty_of(r, &cid, &r->answer);
    *out = &r->answer;
    return 0;
}

const struct pathmap *resolving_map(const struct fathom_resolver *r)
{
    return r->map;
}
