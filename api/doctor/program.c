/* program.c - the rows of a program or a running process; see doctor.h. */
#include <errno.h>
#include <inttypes.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/doctor/doctor.h"
#include "api/doctor/runtimes.h"
#include "api/hooks/hooks.h"
#include "api/cached_maps.h"
#include "collector/targets/proc.h"
#include "image/coverage.h"
#include "image/elf/program.h"
#include "pathmap/map/map_cache.h"

/* The C start-up code has no unwind information, and runs only once: 147 to 190 bytes in 122 small programs and libraries of Debian.
 * Besides it, up to a hundredth of the code may lack unwind information before that counts as a limit. */
#define START_CODE 256
#define BARE_SHARE 0.01
#define NAMES_SIZE 400

/* Appends "name, name, ..., and more" to a list that fits. */
static void list_name(char names[NAMES_SIZE], const char *name)
{
    size_t used = strlen(names);
    if (used + strlen(name) + 10 < NAMES_SIZE)
        snprintf(names + used, NAMES_SIZE - used, "%s%s", used ? ", " : "", name);
    else if (used + 5 < NAMES_SIZE && strcmp(names + used - 3, "...") != 0)
        strcat(names, " ...");
}

static void add_symbols(const struct image *image, const struct image_coverage *c, struct rows *rows)
{
    char hex[2 * BUILD_ID_MAX + 1];
    build_id_format(image_build_id(image), hex);
    const bool named = c->names != COVERAGE_EXPORTED || (c->functions && c->named == c->functions);
    enum fathom_finding_state state = named ? FATHOM_FINDING_OK : FATHOM_FINDING_LIMIT;
    static const char *const from[] = {[COVERAGE_EXPORTED] =
                                           "stripped, and no separate debug file is found: ",
                                       [COVERAGE_EMBEDDED] = "of its compressed symbols: ",
                                       [COVERAGE_DEBUG_FILE] = "of a separate debug file: ",
                                       [COVERAGE_OWN] = ""};
    rows_add(rows, "symbols", "symbols", state, "%s%u of %u functions have a name%s%s%s", from[c->names],
             c->named, c->functions, c->lines ? "; lines, too" : "", c->debug_file ? ": " : "",
             c->debug_file ? c->debug_file : "");
    if (state == FATHOM_FINDING_OK)
        return;
    rows_costs(rows, "the others are shown as %s+0x1234; paths are as good as with names", image_name(image));
    if (hex[0])
        rows_mend(rows,
                  "install its debug symbols below /usr/lib/debug/.build-id/%.2s (Debian: the package's "
                  "-dbgsym), or set DEBUGINFOD_URLS",
                  hex);
    else
        rows_mend(rows, "build it without -s and strip");
}

/* Whether functions that matter lack unwind information. A file without any has no functions but exported ones. */
static bool lacks_cfi(const struct image_coverage *c)
{
    return !(c->covered + c->derived) || c->bare > START_CODE + (uint64_t)((double)c->code * BARE_SHARE);
}

static void add_cfi(const struct image *image, const struct image_coverage *c, struct rows *rows)
{
    char names[NAMES_SIZE] = "";
    const uint64_t rest = c->code - c->covered, known = c->derived + c->bare,
                   outside = rest > known ? rest - known : 0;
    char derived[96] = "";
    if (c->derived && c->code) /* sizes of functions have padding */
        snprintf(derived, sizeof derived, "; derived from %s of %.1f%%",
                 c->go ? "Go's table or the code" : "the code",
                 100.0 * (double)(rest - outside) / (double)c->code * (double)c->derived / (double)known);
    for (uint32_t i = 0; i < c->listed_count; i++) {
        char name[256];
        image_function_format(image, c->listed[i], name, sizeof name);
        list_name(names, name);
    }
    rows_add(rows, "cfi", "unwind information", lacks_cfi(c) ? FATHOM_FINDING_LIMIT : FATHOM_FINDING_OK,
             "of %.1f%% of %" PRIu64 " bytes of code (.eh_frame)%s%s%s",
             c->code ? 100.0 * (double)c->covered / (double)c->code : 0.0, c->code, derived,
             names[0] ? "; functions without: " : "", names);
    if (lacks_cfi(c)) {
        rows_costs(
            rows,
            "samples in functions without it, and in what they call, have their innermost callers alone");
        rows_mend(rows,
                  c->go ? "none for Go, whose compiler makes no .eh_frame: the frame pointers that it keeps "
                          "are followed by 'perf record --call-graph fp', whose recording fathom report reads"
                        : "compile with -fasynchronous-unwind-tables, and do not remove .eh_frame; in "
                          "assembler, .cfi_startproc");
    } else if (outside > START_CODE) {
        rows_costs(
            rows, "%" PRIu64 " bytes are in no known function: tables, or code whose samples have no callers",
            outside);
    }
}

static void add_identity(const struct image *image, const struct image_coverage *c, struct rows *rows)
{
    char hex[2 * BUILD_ID_MAX + 1];
    build_id_format(image_build_id(image), hex);
    rows_add(rows, "build-id", "build-id", hex[0] ? FATHOM_FINDING_OK : FATHOM_FINDING_LIMIT, "%s",
             hex[0] ? hex : "none");
    if (hex[0])
        return;
    rows_costs(
        rows,
        "another build at the same path is not recognised; nothing learned is kept for later recordings");
    rows_mend(rows, c->go ? "go build -ldflags='-B gobuildid'; Go 1.24 adds one by itself"
                          : "link with -Wl,--build-id");
}

static void add_kept(const struct build_id *id, struct rows *rows)
{
    struct map_cache_entry *entries;
    size_t count;
    unsigned kept = 0;
    if (!id->size || map_cache_list(NULL, &entries, &count, NULL) < 0)
        return;
    for (size_t i = 0; i < count; i++)
        kept += build_id_equal(&entries[i].program, id);
    map_cache_list_free(entries, count);
    if (!cached_maps_wanted(false))
        rows_add(rows, "kept-map", "kept map", FATHOM_FINDING_NOTE, "not used: FATHOM_NO_CACHE is set");
    else if (kept)
        rows_add(rows, "kept-map", "kept map", FATHOM_FINDING_OK, "of %u recording%s (fathom map cache list)",
                 kept, kept == 1 ? "" : "s");
    else
        rows_add(rows, "kept-map", "kept map", FATHOM_FINDING_NOTE,
                 "none: no recording of this build has been kept");
}

static int add_image(struct image *image, struct runtimes *runtimes, struct rows *rows,
                     struct fathom_error *err)
{
    struct image_coverage coverage;
    if (image_coverage(image, &coverage) < 0)
        return error_memory(err);
    runtimes_see(runtimes, image, coverage.go);
    add_identity(image, &coverage, rows);
    add_symbols(image, &coverage, rows);
    add_cfi(image, &coverage, rows);
    add_kept(image_build_id(image), rows);
    return 0;
}

static void add_hooks(const struct program *program, struct rows *rows)
{
    const char *why;
    enum fathom_train_way way = hooks_way(program, &why);
    if (way == FATHOM_TRAIN_PATCH) {
        rows_add(rows, "hooks", "training", FATHOM_FINDING_OK, "by hooks: every call is seen");
        return;
    }
    rows_add(rows, "hooks", "training",
             way == FATHOM_TRAIN_UPROBE ? FATHOM_FINDING_NOTE : FATHOM_FINDING_LIMIT, "by %s: it %s",
             way == FATHOM_TRAIN_UPROBE ? "uprobes" : "samples", why);
    rows_costs(rows, way == FATHOM_TRAIN_UPROBE ? "every call is seen, but slowly"
                                                : "calls that no sample shows are not in the map");
    if (way != FATHOM_TRAIN_UPROBE)
        rows_mend(rows, "run train as root, which can use uprobes (--via uprobe)");
}

/* Explains why the file cannot be examined. */
static void add_foreign(const char *path, struct rows *rows)
{
    struct stat st;
    const char *other = stat(path, &st) != 0      ? NULL
                        : S_ISDIR(st.st_mode)     ? "a directory"
                        : !S_ISREG(st.st_mode)    ? "neither a program nor a library"
                        : access(path, X_OK) != 0 ? "neither an executable file nor an x86-64 library"
                                                  : NULL;
    if (other) {
        rows_add(rows, "file", "file", FATHOM_FINDING_FAIL, "%s is %s", path, other);
        rows_mend(rows, "name the command or the library to examine, or a process (-p PID)");
        return;
    }
    rows_add(rows, "file", "file", FATHOM_FINDING_FAIL, "%s is not a readable x86-64 program", path);
    rows_costs(rows, "it can be recorded, but nothing is known of its code");
}

/* The error for a name that is not in PATH, with what was probably meant. */
static int refuse_name(const char *name, int rc, struct fathom_error *err)
{
    bool digits = *name && !name[strspn(name, "0123456789")];
    if (rc != -ENOENT || strchr(name, '/'))
        return rc;
    if (*name && access(name, F_OK) == 0)
        return error_set(err, ENOENT, "there is no command %s; for the file of that name, give ./%s", name,
                         name);
    return digits ? error_set(err, ENOENT, "there is no command %s; for the process, give -p %s", name, name)
                  : rc;
}

int doctor_program(const struct doctor_machine *machine, const char *name, struct rows *rows,
                   struct fathom_error *err)
{
    struct program program;
    struct runtimes runtimes = {0};
    rows->group = "program";
    int rc = program_find(name, &program, err);
    if (rc < 0)
        return refuse_name(name, rc, err);
    if (program.kind == PROGRAM_FOREIGN) {
        add_foreign(program.path, rows);
        return 0;
    }
    struct image *image;
    rc = image_open(program.path, NULL, &image, err);
    if (rc < 0)
        return rc;
    bool library = program.kind == PROGRAM_STATIC && image_soname(image);
    rows_add(rows, "file", "file", FATHOM_FINDING_OK, "%s: %s%s", program.path,
             library                           ? "a library"
             : program.kind == PROGRAM_DYNAMIC ? "dynamically linked"
                                               : "statically linked",
             program.raised ? ", set-user-ID or with capabilities" : "");
    rc = add_image(image, &runtimes, rows, err);
    if (rc == 0)
        runtimes_add(&runtimes, 0, machine, rows);
    if (rc == 0 && !library)
        add_hooks(&program, rows);
    image_close(image);
    return rc;
}

/* Adds a row about the files that are mapped for execution, except the program itself. */
static void add_libraries(pid_t pid, const char *program, struct runtimes *runtimes, struct rows *rows)
{
    struct maps maps;
    char nameless[NAMES_SIZE] = "", bare[NAMES_SIZE] = "", closed[NAMES_SIZE] = "";
    unsigned count = 0;
    if (proc_maps(pid, &maps) != 0)
        return;
    for (size_t i = 0; i < maps.count; i++) {
        const struct vma *v = &maps.list[i];
        char file[PATH_MAX];
        struct image *image;
        struct image_coverage c;
        if (!(v->prot & PROT_EXEC) || v->path[0] != '/' || strcmp(v->path, program) == 0 ||
            (i && strcmp(maps.list[i - 1].path, v->path) == 0 && maps.list[i - 1].prot & PROT_EXEC))
            continue;
        count++;
        const char *slash = strrchr(v->path, '/');
        snprintf(file, sizeof file, "/proc/%d/root%s", (int)pid, v->path);
        if (image_open_as(file, v->path, NULL, &image, NULL) < 0 &&
            image_open(v->path, NULL, &image, NULL) < 0) {
            list_name(closed, slash + 1);
            continue;
        }
        if (image_coverage(image, &c) == 0) {
            runtimes_see(runtimes, image, c.go);
            if (c.names == COVERAGE_EXPORTED)
                list_name(nameless, slash + 1);
            if (lacks_cfi(&c))
                list_name(bare, slash + 1);
        }
        image_close(image);
    }
    proc_maps_free(&maps);
    rows_add(rows, "libraries", "libraries",
             bare[0] || closed[0] ? FATHOM_FINDING_LIMIT
             : nameless[0]        ? FATHOM_FINDING_NOTE
                                  : FATHOM_FINDING_OK,
             "%u%s%s%s%s%s%s", count, bare[0] ? "; unwind information is missing in " : "", bare,
             closed[0] ? "; cannot be read: " : "", closed, nameless[0] ? "; only exported names: " : "",
             nameless);
    if (bare[0] || closed[0])
        rows_costs(rows, "samples in such code, and in what it calls, have their innermost callers alone");
    if (nameless[0])
        rows_mend(rows,
                  "for names, install debug symbols (Debian: -dbgsym packages), or set DEBUGINFOD_URLS");
}

static void add_stacks(const struct process_facts *p, struct rows *rows)
{
    rows_add(rows, "stack-base", "stack's base", p->start_stack ? FATHOM_FINDING_OK : FATHOM_FINDING_LIMIT,
             p->start_stack ? "the kernel tells that of the first thread" : "the kernel does not tell it");
    if (!p->start_stack) {
        rows_costs(rows, "heights are found by voting among the samples");
        rows_mend(rows, "record as root, or with CAP_SYS_PTRACE");
    }
    rows_add(rows, "threads", "threads",
             p->memory || p->threads == 1 ? FATHOM_FINDING_OK : FATHOM_FINDING_LIMIT,
             "%u, %u of them with a base known now; its memory %s", p->threads, p->located,
             p->memory ? "can be read, so that the others get one at their first sample" : "cannot be read");
    if (!p->memory && p->threads > 1) {
        rows_costs(rows, "heights of threads' samples are found by voting");
        rows_mend(rows, "record as root, or with CAP_SYS_PTRACE; or set yama.ptrace_scope to 0");
    }
}

int doctor_process(const struct doctor_machine *machine, pid_t pid, struct rows *rows,
                   struct fathom_error *err)
{
    struct process_facts p;
    struct runtimes runtimes = {0};
    char file[64];
    rows->group = "program";
    int rc = process_facts_read(pid, &p, err);
    if (rc < 0)
        return rc;
    if (p.allowed == -ESRCH) { /* it has ended, but its parent has not waited for it yet */
        if (err)
            *err = p.refusal;
        return p.allowed;
    }
    rows_add(rows, "record", "recording it", p.allowed ? FATHOM_FINDING_FAIL : FATHOM_FINDING_OK, "%s",
             p.allowed ? p.refusal.text : "is allowed");
    if (p.allowed)
        rows_costs(rows, "process %d cannot be recorded", (int)pid);
    if (p.kernel) {
        rows_add(rows, "file", "file", FATHOM_FINDING_LIMIT,
                 "process %d is a thread of the kernel, without a program", (int)pid);
        rows_costs(rows, "it never runs in user mode, which alone is sampled");
        return 0;
    }
    add_stacks(&p, rows);
    if (!p.program[0]) {
        rows_add(rows, "file", "file", FATHOM_FINDING_LIMIT,
                 "process %d does not tell its program to this user", (int)pid);
        rows_mend(rows, "run as root, or as that user");
        return 0;
    }
    rows_add(rows, "file", "file", FATHOM_FINDING_OK, "%s", p.program);
    snprintf(file, sizeof file, "/proc/%d/exe", (int)pid);
    struct image *image;
    rc = image_open_as(file, p.program, NULL, &image, err);
    if (rc < 0)
        return rc;
    rc = add_image(image, &runtimes, rows, err);
    image_close(image);
    if (rc < 0)
        return rc;
    add_libraries(pid, p.program, &runtimes, rows);
    runtimes_add(&runtimes, pid, machine, rows);
    return 0;
}
