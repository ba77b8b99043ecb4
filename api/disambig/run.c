/* run.c - runs a disambiguation: opens its outputs, and runs its steps in order. */
#include "api/disambig/disambig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* program: the patched file, or the list of pads. NULL for either: not wanted. */
static int run_steps(struct fathom_disambig *d, struct outfile *program, struct outfile *map,
                     struct fathom_error *err)
{
    int rc = disambig_open(d, err);
    if (rc == 0)
        rc = disambig_search(d, err);
    if (rc == 0)
        rc = disambig_list_pads(d, err);
    if (rc == 0 && program)
        rc = d->options.emit ? disambig_emit(d, program, err) : disambig_write_program(d, program, err);
    if (rc == 0 && (map || d->options.command))
        rc = disambig_write_map(d, program, map, err);
    if (rc == 0 && program)
        rc = outfile_publish(program, false, err);
    return rc;
}

/* Refuses outputs that overwrite each other or an input; only the program may be replaced, by its patched copy. */
static int check_places(const struct fathom_disambig_options *o, const struct outfile *program,
                        const struct outfile *map, struct fathom_error *err)
{
    char *to = program ? outfile_absolute(program) : NULL, *map_to = map ? outfile_absolute(map) : NULL;
    char *from = realpath(o->map, NULL), *old = realpath(o->program, NULL);
    bool same = map && (strcmp(o->output, o->map_output) == 0 || (to && map_to && strcmp(to, map_to) == 0));
    int rc = 0;
    if (o->command && outfile_is_stream(program))
        rc = error_set(err, EINVAL, "--selftest runs the copy, and %s is no file: name one",
                       outfile_path(program));
    else if (same)
        rc = error_set(err, EINVAL, "%s cannot be both the program and its map: name two files",
                       o->map_output);
    else if (to && from && strcmp(to, from) == 0)
        rc = error_set(err, EINVAL, "%s is the map that is read: name another output", o->map);
    else if ((o->emit ? to : map_to) && old && strcmp(o->emit ? to : map_to, old) == 0)
        rc = error_set(err, EINVAL, "%s is the program that is read: name another output", o->program);
    free(to);
    free(map_to);
    free(from);
    free(old);
    return rc;
}

static struct disambig_methods methods_of(unsigned given)
{
    bool edges = given & 1u << FATHOM_DISAMBIG_EDGES;
    return (struct disambig_methods){.anew = given & ~(1u << FATHOM_DISAMBIG_RESIZE),
                                     .clone = edges || given & 1u << FATHOM_DISAMBIG_CLONE,
                                     .insert = given & 1u << FATHOM_DISAMBIG_INSERT,
                                     .wrap = given & 1u << FATHOM_DISAMBIG_WRAP,
                                     .edges = edges};
}

int fathom_disambig_open(const struct fathom_disambig_options *options,
                         const struct fathom_listener *listener, struct fathom_disambig **out,
                         struct fathom_error *err)
{
    struct fathom_disambig *d = calloc(1, sizeof *d);
    const char *output = options->emit ? options->emit : options->output;
    if (!d)
        return error_memory(err);
    d->options = *options;
    d->methods = methods_of(options->methods);
    host_init(&d->host, listener);
    int rc = !options->output && (options->map_output || options->command)
                 ? error_set(err, EINVAL, "a map of the patched file, or a test of it, needs an output")
                 : 0;
    if (rc == 0 && output)
        rc = outfile_open(output, &d->out, err);
    if (rc == 0 && options->map_output)
        rc = outfile_open(options->map_output, &d->map_out, err);
    if (rc == 0)
        rc = check_places(options, d->out, d->map_out, err);
    if (rc == 0)
        *out = d;
    else
        fathom_disambig_close(d);
    return rc;
}

static void close_outputs(struct fathom_disambig *d)
{
    outfile_close(d->out);
    outfile_close(d->map_out);
    d->out = d->map_out = NULL;
}

int fathom_disambig_run(struct fathom_disambig *d, struct fathom_error *err)
{
    int rc = run_steps(d, d->out, d->map_out, err);
    close_outputs(d); /* a file that is open for writing cannot be run */
    return rc;
}

void fathom_disambig_close(struct fathom_disambig *d)
{
    if (!d)
        return;
    disambig_test_clear(d);
    close_outputs(d);
    trie_free(d->moved);
    free(d->pads);
    free(d->searched.pads);
    clone_clear(&d->cloned);
    wrap_clear(&d->wrapped);
    map_frames_clear(&d->join);
    enlarged_clear(&d->file);
    growth_free(d->growth);
    image_close(d->image);
    pathmap_close(d->map);
    pathmap_close(d->read);
    trie_free(d->past);
    free(d);
}
