#include "api/trace/duplicating.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "streams/trace/site_list.h"

#define NAME_ROOM   4096
#define START_FILES 512 /* bytes of code */

static bool is_chosen(const struct image *image, uint32_t function, const struct fathom_trace_code *code)
{
    char shown[NAME_ROOM];
    const char *raw = image_function(image, function)->name;
    image_function_format(image, function, shown, sizeof shown);
    for (size_t i = 0; i < code->function_count; i++) {
        const char *pattern = code->functions[i];
        size_t bare = strcspn(shown, "("); /* the pattern may leave out arguments */
        if (fnmatch(pattern, shown, 0) == 0 || (raw && fnmatch(pattern, raw, 0) == 0))
            return true;
        if (shown[bare] && strlen(pattern) == bare && strncmp(pattern, shown, bare) == 0)
            return true;
    }
    return false;
}

/* *chosen: the functions to duplicate; freed by the caller; NULL: all. */
static int choose_functions(const struct image *image, const struct fathom_trace_code *code, bool **chosen,
                            struct fathom_error *err)
{
    uint32_t count = image_function_count(image), found = 0;
    if (!code->function_count)
        return 0;
    *chosen = calloc(count + 1ul, sizeof **chosen);
    if (!*chosen)
        return error_memory(err);
    for (uint32_t i = 0; i < count; i++)
        found += (*chosen)[i] = is_chosen(image, i, code);
    return found ? 0
                 : error_set(err, ENODATA, "%s has none of the functions that are to be traced",
                             image_path(image));
}

static bool logs(const struct fathom_trace_code *code, enum fathom_trace_log what)
{
    return code->log >> what & 1;
}

static struct duplicate_options options_of(const struct fathom_trace_code *code, const bool *chosen)
{
    static const enum duplicate_entries entries[] = {[FATHOM_TRACE_CYCLES] = DUPLICATE_ENTRIES_CYCLES,
                                                     [FATHOM_TRACE_CALLERS] = DUPLICATE_ENTRIES_CALLERS,
                                                     [FATHOM_TRACE_ALL] = DUPLICATE_ENTRIES_ALL};
    return (struct duplicate_options){.entries = entries[code->entries],
                                      .boring = code->boring < 0           ? DUPLICATE_LOOPS_ALL
                                                : code->boring > INT32_MAX ? INT32_MAX
                                                                           : (int32_t)code->boring,
                                      .loads = logs(code, FATHOM_TRACE_LOADS),
                                      .stores = logs(code, FATHOM_TRACE_STORES),
                                      .stack = logs(code, FATHOM_TRACE_STACK),
                                      .blocks = logs(code, FATHOM_TRACE_BLOCKS),
                                      .entered = logs(code, FATHOM_TRACE_CALLS),
                                      .chosen = chosen};
}

/* The largest function that is not traced although it should be; IMAGE_NO_FUNCTION: none. *bytes: size of all of them. */
static uint32_t largest_refused(const struct image *image, const struct duplicated *d, const bool *chosen,
                                uint64_t *bytes)
{
    struct table *traced = table_new();
    uint32_t largest = IMAGE_NO_FUNCTION, most = 0;
    bool ok = traced;
    *bytes = 0;
    for (size_t i = 0; ok && i < d->part_count; i++)
        ok = table_put(traced, d->parts[i].address, NULL);
    for (uint32_t f = 0; ok && f < image_function_count(image); f++) {
        const struct image_function *function = image_function(image, f);
        if (function->owner != f || image_function_is_stub(image, f) || (chosen && !chosen[f]) ||
            table_find(traced, function->address))
            continue;
        *bytes += function->size;
        if (function->size > most) {
            most = function->size;
            largest = f;
        }
    }
    table_free(traced);
    return largest;
}

/* The C library's start files in every program are not worth a note. */
static void say_refused(const struct image *image, const struct duplicated *d, const bool *chosen,
                        uint32_t refused, const struct host *host)
{
    char name[NAME_ROOM];
    uint64_t bytes;
    uint32_t largest = largest_refused(image, d, chosen, &bytes);
    if (largest == IMAGE_NO_FUNCTION)
        return;
    image_function_format(image, largest, name, sizeof name);
    log_write(&host->log, bytes < START_FILES && !chosen ? LOG_DEBUG : LOG_NOTE,
              "%s: %u of %u functions are not traced, the largest is %s (--verbose says why)",
              image_path(image), refused, refused + d->functions, name);
}

static void say_summary(const struct image *image, const struct duplicated *d, const bool *chosen,
                        const struct host *host)
{
    const char *file = image_path(image);
    static const char *const forms[] = {"beyond the room before an instruction", "of string instructions",
                                        "relative to a segment", "of gathers and scatters",
                                        "by 32-bit addresses"};
    uint32_t refused = d->early;
    for (size_t i = 0; i < MOVE_REFUSALS; i++)
        refused += d->refused[i];
    log_write(&host->log, LOG_DEBUG,
              "%s: %u functions in two versions, checks at %u entries and in %u loops; %u loops are boring; "
              "%zu places log, %u of them with saved registers",
              file, d->functions, d->entry_checks, d->loop_checks, d->boring, d->site_count, d->slow);
    if (d->unchecked)
        log_write(&host->log, LOG_DEBUG, "%s: %u loops have no place for a check", file, d->unchecked);
    if (refused)
        say_refused(image, d, chosen, refused, host);
    for (size_t i = 1; i < MOVE_REFUSALS; i++)
        if (d->refused[i])
            log_write(&host->log, LOG_DEBUG, "%s: %u function%s not traced: %s", file, d->refused[i],
                      d->refused[i] == 1 ? " is" : "s are", move_refusal_text((enum move_refusal)i));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (d->unlogged[i])
            log_write(&host->log, LOG_DEBUG, "%s: %u references %s are not logged", file, d->unlogged[i],
                      forms[i]);
}

/* The caller closes *out even after an error. */
static int write_file(struct outfile **out, const char *like, const char *path, const struct duplicated *d,
                      struct fathom_error *err)
{
    struct stat status;
    int fd, rc = outfile_open(path, out, err);
    if (rc == 0 && outfile_is_stream(*out))
        rc = error_set(err, EINVAL, "a list is written beside the duplicated file: give the name of a file");
    if (rc == 0)
        rc = outfile_begin(*out, &fd, err);
    if (rc == 0)
        rc = file_write_all(fd, d->moved.elf, d->moved.size, path, err);
    if (rc == 0 && (stat(like, &status) < 0 || fchmod(fd, status.st_mode & 0777) < 0))
        rc = error_system(err, errno, "cannot make %s executable", path);
    return rc;
}

static int write_both(const struct image *image, const struct duplicated *d, const char *output,
                      struct fathom_error *err)
{
    struct outfile *program = NULL, *list = NULL;
    char *beside = NULL;
    if (asprintf(&beside, "%s%s", output, SITE_LIST_SUFFIX) < 0)
        return error_memory(err);
    int rc = write_file(&program, image_path(image), output, d, err);
    if (rc == 0)
        rc = outfile_open(beside, &list, err);
    if (rc == 0)
        rc = site_list_write(list,
                             &(struct site_list){.original = (char *)(uintptr_t)image_path(image),
                                                 .list = d->sites,
                                                 .count = d->site_count,
                                                 .parts = d->parts,
                                                 .part_count = d->part_count},
                             err);
    if (rc == 0)
        rc = outfile_publish(program, false, err);
    outfile_close(list);
    outfile_close(program);
    free(beside);
    return rc;
}

int duplicating_write(const char *file, const char *output, const struct fathom_trace_code *code,
                      const struct host *host, struct fathom_error *err)
{
    struct image *image = NULL;
    struct calls *calls = NULL;
    struct duplicated made = {0};
    bool *chosen = NULL;
    char *whole = realpath(file, NULL);
    int rc = whole ? image_open(whole, &(struct image_options){.log = &host->log}, &image, err)
                   : error_system(err, errno, "cannot read %s", file);
    if (rc == 0)
        rc = choose_functions(image, code, &chosen, err);
    if (rc == 0)
        rc = calls_build(image, &calls, err);
    if (rc == 0) {
        struct duplicate_options options = options_of(code, chosen);
        rc = duplicate_image(image, calls, &options, &made, err);
    }
    if (rc == 0)
        say_summary(image, &made, chosen, host);
    if (rc == 0 && chosen && !made.functions)
        rc = error_set(err, ENODATA, "%s: no function that is to be traced can be (--verbose says why)",
                       whole);
    if (rc == 0)
        rc = write_both(image, &made, output, err);
    duplicated_clear(&made);
    calls_free(calls);
    image_close(image);
    free(chosen);
    free(whole);
    return rc;
}

int fathom_trace_emit(const char *file, const char *output, const struct fathom_trace_code *code,
                      const struct fathom_listener *listener, struct fathom_error *err)
{
    struct host host;
    host_init(&host, listener);
    return duplicating_write(file, output, code, &host, err);
}
