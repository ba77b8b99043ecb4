/* write.c - makes and writes the changed program and its map, or the list for the GCC plugin (docs/pads.md). */
#include "api/disambig/disambig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "rewrite/move/appended.h"
#include "disambig/moved_map.h"

static int by_address(const void *a, const void *b)
{
    const struct pad *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->copy > y->copy) - (x->copy < y->copy);
}

static bool has_wraps(const struct fathom_disambig *d, uint64_t address, uint32_t copy)
{
    for (size_t i = 0; i < d->wrapped.count; i++)
        if (d->wrapped.list[i].address == address && d->wrapped.list[i].copy == copy)
            return true;
    return false;
}

/* Whether each function of the map has guards. NULL: out of memory. */
static bool *guarded_functions(const struct fathom_disambig *d)
{
    bool *guarded = calloc(pathmap_function_count(d->map) + 1ul, sizeof *guarded);
    for (uint32_t i = 0; guarded && i < d->cloned.edges.place_count; i++)
        if (d->cloned.edges.places[i].guards)
            guarded[bodies_function(d->cloned.bodies, d->cloned.edges.places[i].body)] = true;
    return guarded;
}

int disambig_list_pads(struct fathom_disambig *d, struct fathom_error *err)
{
    const struct bodies *bodies = d->cloned.bodies;
    uint32_t count = bodies ? bodies_count(bodies) : pathmap_function_count(d->map);
    d->pads = malloc((count + 1ul) * sizeof *d->pads);
    if (!d->pads)
        return error_memory(err);
    bool *guarded = guarded_functions(d);
    if (!guarded)
        return error_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t function = bodies ? bodies_function(bodies, i) : i;
        struct pad pad = {pathmap_function(d->map, function).address, d->found.pads[i],
                          bodies ? bodies_copy(bodies, i) : 0};
        bool own = d->join.functions[function] != IMAGE_NO_FUNCTION;
        if (pad.bytes || guarded[function] || (bodies && bodies_copies(bodies, function) > 1) ||
            (own && has_wraps(d, pad.address, pad.copy)))
            d->pads[d->pad_count++] = pad;
    }
    free(guarded);
    qsort(d->pads, d->pad_count, sizeof *d->pads, by_address);
    return 0;
}

/* Lists the calls and guards that lead to copies or bypass the PLT. The caller frees both; the plan borrows them. */
static int list_calls(const struct fathom_disambig *d, struct move_call **calls, struct move_guard **guards,
                      struct enlarge_plan *plan, struct fathom_error *err)
{
    struct map_frames_of of = disambig_frames_of(d);
    struct bodies *single = NULL;
    const struct bodies *bodies = d->cloned.bodies;
    int rc = 0;
    if (d->past && !bodies) {
        bodies = single = bodies_new(pathmap_function_count(d->map));
        rc = single ? 0 : error_memory(err);
    }
    if (rc == 0 && bodies)
        rc = clone_calls(&of, &d->join, bodies, calls, &plan->call_count, err);
    bodies_free(single);
    if (rc == 0 && d->cloned.edges.count)
        rc = clone_guards(&of, &d->cloned, guards, &plan->guard_count, err);
    plan->calls = *calls;
    plan->guards = *guards;
    return rc;
}

static int make_file(struct fathom_disambig *d, struct fathom_error *err)
{
    struct move_call *calls = NULL;
    struct move_guard *guards = NULL;
    struct enlarge_plan plan = {
        .pads = d->pads, .count = d->pad_count, .wraps = d->wrapped.list, .wrap_count = d->wrapped.count};
    int rc = list_calls(d, &calls, &guards, &plan, err);
    if (rc == 0)
        rc = enlarge_frames(d->image, d->growth, &plan, &d->file, err);
    free(calls);
    free(guards);
    size_t appended = rc == 0 ? appended_bytes(d->file.elf, d->file.size) : 0;
    if (appended)
        log_write(&d->host.log, LOG_WARNING,
                  "%zu bytes are appended to %s: a signature there does not hold for the copy", appended,
                  d->options.program);
    return rc;
}

int disambig_write_program(struct fathom_disambig *d, struct outfile *out, struct fathom_error *err)
{
    struct stat status;
    int fd, rc = make_file(d, err);
    if (rc == 0)
        rc = outfile_begin(out, &fd, err);
    if (rc == 0)
        rc = file_write_all(fd, d->file.elf, d->file.size, outfile_path(out), err);
    if (rc == 0 && !outfile_is_stream(out) &&
        (stat(d->options.program, &status) < 0 || fchmod(fd, status.st_mode & 0777) < 0))
        rc = error_system(err, errno, "cannot make %s executable", outfile_path(out));
    if (rc == 0 && fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
        rc = error_system(err, errno, "cannot write to %s", outfile_path(out));
    return rc;
}

int disambig_write_map(struct fathom_disambig *d, const struct outfile *program, struct outfile *out,
                       struct fathom_error *err)
{
    char *path = outfile_absolute(program);
    bool copies = d->cloned.bodies;
    struct moved_map moved = {.map = copies ? d->cloned.cloned.map : d->map,
                              .bodies = d->cloned.bodies,
                              .image = d->number,
                              .path = path ? path : d->options.output,
                              .id = &d->file.id,
                              .pads = d->found.pads,
                              .unshifted = copies ? d->cloned.unshifted : d->join.unshifted,
                              .wraps = d->wrapped.wraps,
                              .heads = d->cloned.heads,
                              .file = &d->file};
    d->moved = trie_new();
    int rc = d->moved ? moved_map_make(&moved, d->moved, err) : error_memory(err);
    if (rc == 0 && out)
        rc = trie_write(d->moved, out, err);
    free(path);
    return rc;
}

int disambig_emit(const struct fathom_disambig *d, struct outfile *out, struct fathom_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *list = open_memstream(&text, &size);
    if (!list)
        return error_memory(err);
    fputs("# symbol\tbytes\n", list);
    for (size_t i = 0; i < d->pad_count; i++) {
        uint32_t function = image_function_entry(d->image, d->pads[i].address);
        fprintf(list, "%s\t%u\n", image_function(d->image, function)->name, d->pads[i].bytes);
    }
    bool failed = ferror(list);
    int rc = fclose(list) != 0 || failed ? error_memory(err) : outfile_put(out, text, size, err);
    free(text);
    return rc;
}
