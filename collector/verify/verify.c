/* verify.c - loads the BPF program and gives it processes and stack bases; see verify.h. */
#include "collector/verify/verify.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "collector/events/open.h"
#include "collector/events/tracefs.h"
#include "collector/verify/kernel_members.h"
#include "collector/verify/known_stacks.h"
#include "collector/verify/rule.h"

/* program.S: the object files built from verify.bpf.c. */
extern const char verify_object[], verify_object_end[], verify_files_object[], verify_files_object_end[];

#define PAGE_BITS       12
#define PAGE_BITS_ALONE 6           /* if nothing is compared, a key is for one path */
#define FIRST_NAMESPACE 0xEFFFFFFCu /* PROC_PID_INIT_INO of include/linux/proc_ns.h */

struct verify {
    struct bpf_object *object;
    struct bpf_link *tasks;              /* NULL: the recorder alone follows children */
    struct bpf_link *switches, *wakeups; /* NULL: waits are not reported */
    struct bpf_link *wakings;            /* NULL: wakers are not reported */
    enum verify_follow follow;
    int program, outputs, followed, spaces, threads, waits, scripts, script_files, any_script;
    int processes, files, rows;                  /* -1: the program does not find files */
    bool finds_files;                            /* the program does */
    bool has_switches;                           /* the program can find threads' second stacks */
    const volatile struct verify_counts *counts; /* the program's memory, mapped */
    int64_t *rooms;                              /* likewise, by CPU */
    struct rule_words *words;                    /* likewise */
    struct known_stacks *stacks;
    pthread_mutex_t lock; /* of `stacks` */
};

static int drop_message(enum libbpf_print_level level, const char *format, va_list args)
{
    (void)level;
    (void)format;
    (void)args;
    return 0;
}

/* libbpf's print function is global to the process; it is restored when no thread needs silence any more. */
static void silence_libbpf(bool on)
{
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    static libbpf_print_fn_t print;
    static unsigned silent;
    pthread_mutex_lock(&guard);
    if (on && silent++ == 0)
        print = libbpf_set_print(drop_message);
    if (!on && --silent == 0)
        libbpf_set_print(print);
    pthread_mutex_unlock(&guard);
}

static int number_of_cpus(void)
{
    silence_libbpf(true);
    int count = libbpf_num_possible_cpus();
    silence_libbpf(false);
    if (count <= 0) /* no list: a container without /sys */
        count = (int)sysconf(_SC_NPROCESSORS_CONF);
    return count > 0 ? count : 1;
}

uint8_t verify_page_bits(unsigned compared)
{
    return compared ? PAGE_BITS : PAGE_BITS_ALONE;
}

/* Whether our PID namespace, *ns, is not the first one. */
static bool is_inner_namespace(struct stat *ns)
{
    return stat("/proc/self/ns/pid", ns) == 0 && ns->st_ino != FIRST_NAMESPACE;
}

/* Fills in the configuration. Returns whether the kernel can tell where files are mapped. */
static bool configure(const struct verify_options *options, struct verify_config *config)
{
    struct stat ns;
    *config = (struct verify_config){.started = clock_ns(),
                                     .burst = options->burst,
                                     .rate = options->rate,
                                     .wake = options->wake_ns,
                                     .cpus = (uint32_t)number_of_cpus(),
                                     .page_bits = verify_page_bits(options->compared),
                                     .compared = (uint8_t)options->compared,
                                     .follow = (uint8_t)options->follow,
                                     .joins = options->joins && options->compared == STACK_RECORD_ALL,
                                     .self = options->follow >= VERIFY_EVERYONE ? (uint32_t)getpid() : 0,
                                     .one_user = options->one_user,
                                     .user = options->user,
                                     .cgroup = options->cgroup,
                                     .level = options->level,
                                     .allocation_bytes = options->allocation_bytes};
    while (1U << config->cpu_bits < config->cpus)
        config->cpu_bits++;
    if (is_inner_namespace(&ns)) {
        config->ns_device = ns.st_dev;
        config->ns_inode = ns.st_ino;
    }
    if (options->wakers)
        config->interrupts = *options->wakers;
    return kernel_members_find(config);
}

static int map_fd(const struct verify *v, const char *name)
{
    return bpf_object__find_map_fd_by_name(v->object, name);
}

static const char *const programs[] = {[VERIFY_USER] = "verify_user",
                                       [VERIFY_KERNEL] = "verify_kernel",
                                       [VERIFY_TRACEPOINT] = "verify_tracepoint",
                                       [VERIFY_PROBE] = "verify_probe",
                                       [VERIFY_PRECISE] = "verify_precise"};

#define TASKS    "verify_task"
#define SWITCHES "verify_switch_task"
#define WAKEUPS  "verify_wakeup"
#define WAKINGS  "verify_waking"

static bool is_of_waits(const char *program)
{
    return strcmp(program, SWITCHES) == 0 || strcmp(program, WAKEUPS) == 0;
}

/* Does not load the programs for other kinds of events. */
static void choose_where(const struct verify_options *options, struct verify *v)
{
    struct bpf_program *program;
    bpf_object__for_each_program(program, v->object)
    {
        const char *name = bpf_program__name(program);
        bool wanted = strcmp(name, TASKS) == 0 || strcmp(name, programs[options->where]) == 0 ||
                      (options->waits && is_of_waits(name)) ||
                      (options->wakers && strcmp(name, WAKINGS) == 0);
        bpf_program__set_autoload(program, wanted);
    }
}

static bool field_is_at(const char *format, const char *field, unsigned offset)
{
    char text[64];
    snprintf(text, sizeof text, " %s;\toffset:%u;", field, offset);
    return strstr(format, text);
}

/* A tracepoint with a program, and the offsets of two fields of its records that the program assumes
 * (include/trace/events/). */
struct traced {
    const char *program, *directory;
    struct {
        const char *name;
        unsigned at;
    } fields[2];
};
static const struct traced
    traced_tasks = {TASKS,
                    "events/task/task_newtask",
                    {{"pid", VERIFY_TASK_TID_AT}, {"clone_flags", VERIFY_TASK_FLAGS_AT}}},
    traced_switches = {SWITCHES,
                       "events/sched/sched_switch",
                       {{"prev_state", VERIFY_SWITCH_STATE_AT}, {"next_pid", VERIFY_SWITCH_NEXT_AT}}},
    traced_wakeups = {WAKEUPS, "events/sched/sched_wakeup", {{"pid", VERIFY_WAKEUP_TID_AT}}},
    traced_wakings = {WAKINGS, "events/sched/sched_waking", {{"pid", VERIFY_WAKEUP_TID_AT}}};

static bool knows_fields(const struct traced *t)
{
    char *format, path[64];
    size_t size;
    snprintf(path, sizeof path, "%s/format", t->directory);
    if (tracefs_read(path, &format, &size) < 0)
        return false;
    bool knows = true;
    for (size_t i = 0; i < sizeof t->fields / sizeof *t->fields && t->fields[i].name; i++)
        knows &= field_is_at(format, t->fields[i].name, t->fields[i].at);
    free(format);
    return knows;
}

/* Attaches its program to a tracepoint, whose fields have PIDs of the first namespace. NULL: impossible. */
static struct bpf_link *attach_tracepoint(const struct verify *v, const struct traced *t)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = OPEN_ATTR_SIZE};
    uint64_t id;
    char path[64];
    snprintf(path, sizeof path, "%s/id", t->directory);
    if (is_inner_namespace(&(struct stat){0}) || !knows_fields(t) || tracefs_number(path, &id) < 0)
        return NULL;
    attr.config = id;
    /* Not bpf_program__attach_tracepoint(), which needs a mounted tracefs. A program on a tracepoint's event
     * runs on all CPUs. */
    int fd = open_event(&attr, -1, 0);
    if (fd < 0)
        return NULL;
    struct bpf_link *link =
        bpf_program__attach_perf_event(bpf_object__find_program_by_name(v->object, t->program), fd);
    if (!link)
        close(fd); /* else the link owns it */
    return link;
}

#define PROCESSES_AT_FIRST 8192 /* 9 MB */

/* Before Linux 6.1, programs on events may only use hash maps whose elements are preallocated (here 50
 * MB). */
static void allocate_at_first(struct bpf_object *object)
{
    struct bpf_map *map = bpf_object__find_map_by_name(object, "processes");
    if (map)
        bpf_map__set_max_entries(map, PROCESSES_AT_FIRST);
    bpf_object__for_each_map(map, object)
    {
        bpf_map__set_map_flags(map, bpf_map__map_flags(map) & ~(__u32)BPF_F_NO_PREALLOC);
    }
}

static int open_object(const struct verify_options *options, const struct verify_config *config,
                       struct verify *v)
{
    struct bpf_map *map;
    LIBBPF_OPTS(bpf_object_open_opts, how, .object_name = "verify");
    const char *begin = v->finds_files ? verify_files_object : verify_object,
               *end = v->finds_files ? verify_files_object_end : verify_object_end;
    v->object = bpf_object__open_mem(begin, (size_t)(end - begin), &how);
    if (!v->object)
        return -errno;
    map = bpf_object__find_map_by_name(v->object, "verify.rodata");
    v->has_switches = config->hooks.task_fs;
    if (!map || bpf_map__set_initial_value(map, config, sizeof *config) != 0)
        return -EINVAL;
    map = bpf_object__find_map_by_name(v->object, "buffers");
    choose_where(options, v);
    int rc = bpf_map__set_max_entries(map, config->cpus);
    map = bpf_object__find_map_by_name(v->object, "rooms");
    rc = rc ? rc : bpf_map__set_max_entries(map, config->cpus);
    map = bpf_object__find_map_by_name(v->object, "script_buffers");
    rc = rc ? rc : bpf_map__set_max_entries(map, config->cpus);
    map = bpf_object__find_map_by_name(v->object, "waits"); /* its 9 MB are preallocated, */
    rc = rc || options->waits ? rc : bpf_map__set_max_entries(map, 1);
    map = bpf_object__find_map_by_name(v->object, "entered"); /* and the 6 MB of this one */
    rc = rc || options->allocation_bytes ? rc : bpf_map__set_max_entries(map, 1);
    map = bpf_object__find_map_by_name(v->object, "outputs");
    return rc ? rc : bpf_map__set_max_entries(map, 2 * config->cpus);
}

static int load_program(const struct verify_options *options, const struct verify_config *config,
                        struct verify *v, bool allocated_at_first)
{
    int rc = open_object(options, config, v);
    if (rc == 0 && allocated_at_first)
        allocate_at_first(v->object);
    rc = rc ? rc : bpf_object__load(v->object);
    if (rc) {
        bpf_object__close(v->object);
        v->object = NULL;
    }
    return rc;
}

static int load_either(const struct verify_options *options, const struct verify_config *config,
                       struct verify *v, bool finds_files)
{
    v->finds_files = finds_files;
    int rc = load_program(options, config, v, false);
    return rc == -EINVAL ? load_program(options, config, v, true) : rc;
}

/* Whether the kernel has a helper for programs on events. */
static bool has_helper(enum bpf_func_id helper)
{
    return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, helper, NULL) == 1;
}

/* Loads the most capable program that this kernel accepts. */
static int load_best(const struct verify_options *options, struct verify *v)
{
    struct verify_config config;
    const bool finds_files =
        configure(options, &config) && options->compared == STACK_RECORD_ALL && has_helper(BPF_FUNC_find_vma);
    int rc = finds_files ? load_either(options, &config, v, true) : -ENOTSUP;
    return rc == 0 || rc == -EPERM ? rc : load_either(options, &config, v, false);
}

/* Sets the message why the program could not be loaded, if this user may load programs. Otherwise rc
 * says it. */
static int tell_refusal(const struct verify_options *options, int rc, struct fathom_error *err)
{
    if ((rc != -EACCES && rc != -EINVAL && rc != -E2BIG) ||
        libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_PERF_EVENT, NULL) != 1)
        return error_system(err, -rc, "cannot load the BPF program that verifies stacks");
    if ((options->where != VERIFY_USER || options->waits) && !has_helper(BPF_FUNC_task_pt_regs))
        return error_set(err, ENOTSUP,
                         "Linux 5.15 or later is needed, which gives BPF programs the registers that threads "
                         "entered it with");
    return error_set(err, ENOTSUP, "the kernel's verifier refuses the BPF program that verifies stacks (%s)",
                     strerror(-rc));
}

static size_t rooms_bytes(void)
{
    return (size_t)number_of_cpus() * sizeof(int64_t);
}

static size_t words_bytes(void)
{
    size_t page = 4096, bytes = (size_t)VERIFY_BLOCKS * sizeof(struct rule_words);
    return (bytes + page - 1) / page * page;
}

/* Maps a part of the program's memory. NULL: see errno. */
static void *map_part(const struct verify *v, const char *name, size_t size, int protection)
{
    void *part = mmap(NULL, size, protection, MAP_SHARED, map_fd(v, name), 0);
    return part == MAP_FAILED ? NULL : part;
}

/* Finds the maps and memory of the loaded program. */
static int find_parts(const struct verify_options *options, struct verify *v)
{
    v->program = bpf_program__fd(bpf_object__find_program_by_name(v->object, programs[options->where]));
    v->outputs = map_fd(v, "outputs");
    v->followed = map_fd(v, "followed");
    v->spaces = map_fd(v, "spaces");
    v->threads = map_fd(v, "threads");
    v->waits = map_fd(v, "waits");
    v->processes = v->finds_files ? map_fd(v, "processes") : -1;
    v->files = v->finds_files ? map_fd(v, "files") : -1;
    v->rows = v->finds_files ? map_fd(v, "rows") : -1;
    v->scripts = map_fd(v, "scripts");
    v->script_files = map_fd(v, "script_files");
    v->any_script = map_fd(v, "any_script");
    /* Not bpf_map__initial_value(): before libbpf 1.6 that is a copy which is not updated. */
    v->counts = map_part(v, "verify.bss", sizeof *v->counts, PROT_READ);
    v->rooms = v->counts ? map_part(v, "rooms", rooms_bytes(), PROT_READ | PROT_WRITE) : NULL;
    v->words = v->rooms ? map_part(v, "words", words_bytes(), PROT_READ | PROT_WRITE) : NULL;
    return v->words ? 0 : -errno;
}

static int put_entry(int map, const void *key, const void *value)
{
    return bpf_map_update_elem(map, key, value, BPF_ANY);
}

int verify_new(const struct verify_options *options, struct verify **out, struct fathom_error *err)
{
    struct verify *v = calloc(1, sizeof *v);
    if (!v)
        return error_memory(err);
    v->follow = options->follow;
    pthread_mutex_init(&v->lock, NULL);
    silence_libbpf(true);
    int rc = load_best(options, v);
    if (rc == 0)
        rc = find_parts(options, v);
    if (rc == 0)
        rc = known_stacks_new(&(struct known_stacks_maps){map_fd(v, "known"), v->threads,
                                                          v->has_switches ? map_fd(v, "switches") : -1,
                                                          v->words, bpf_map_lookup_elem, put_entry,
                                                          bpf_map_delete_elem},
                              options->compared, verify_page_bits(options->compared), &v->stacks);
    if (rc == 0)
        v->tasks = attach_tracepoint(v, &traced_tasks);
    if (rc == 0 && options->waits) {
        v->switches = attach_tracepoint(v, &traced_switches);
        v->wakeups = v->switches ? attach_tracepoint(v, &traced_wakeups) : NULL;
        v->wakings = v->wakeups && options->wakers ? attach_tracepoint(v, &traced_wakings) : NULL;
        rc = v->wakeups && (v->wakings || !options->wakers) ? 0 : -ENOTSUP;
    }
    if (rc < 0)
        rc = tell_refusal(options, rc, err);
    silence_libbpf(false);
    if (rc < 0) {
        verify_free(v);
        return rc;
    }
    *out = v;
    return 0;
}

void verify_free(struct verify *v)
{
    if (!v)
        return;
    known_stacks_free(v->stacks);
    bpf_link__destroy(v->tasks);
    bpf_link__destroy(v->switches);
    bpf_link__destroy(v->wakeups);
    bpf_link__destroy(v->wakings);
    if (v->counts)
        munmap((void *)(uintptr_t)v->counts, sizeof *v->counts);
    if (v->rooms)
        munmap(v->rooms, rooms_bytes());
    if (v->words)
        munmap(v->words, words_bytes());
    bpf_object__close(v->object);
    pthread_mutex_destroy(&v->lock);
    free(v);
}

bool verify_finds_files(const struct verify *v)
{
    return v->finds_files;
}

int verify_program(const struct verify *v)
{
    return v->program;
}

int verify_output(struct verify *v, int cpu, bool wakes, int fd, struct fathom_error *err)
{
    int index = wakes ? number_of_cpus() + cpu : cpu;
    if (bpf_map_update_elem(v->outputs, &index, &fd, BPF_ANY) != 0)
        return error_system(err, errno, "cannot give stacks to the ring buffer of CPU %d", cpu);
    return 0;
}

void verify_room(struct verify *v, int cpu, int64_t bytes)
{
    __atomic_store_n(&v->rooms[cpu], bytes, __ATOMIC_RELAXED);
}

void verify_follow(struct verify *v, pid_t id, bool follow)
{
    if (v->follow != VERIFY_PIDS && v->follow != VERIFY_TIDS)
        return;
    if (follow)
        bpf_map_update_elem(v->followed, &id, &(uint32_t){1}, BPF_ANY);
    else
        bpf_map_delete_elem(v->followed, &id);
}

uint64_t verify_birth(const struct verify *v, pid_t tid)
{
    struct rule_thread thread;
    return bpf_map_lookup_elem(v->threads, &tid, &thread) == 0 ? thread.birth : 0;
}

bool verify_base(struct verify *v, pid_t tid, uint64_t base)
{
    struct rule_thread thread = {0};
    if (bpf_map_lookup_elem(v->threads, &tid, &thread) == 0 && thread.base == base)
        return true;
    thread.base = base;
    return bpf_map_update_elem(v->threads, &tid, &thread, BPF_ANY) == 0;
}

bool verify_waits(struct verify *v, pid_t tid, enum wait_reason reason)
{
    const struct rule_wait wait = {.since = clock_ns(), .reason = (uint8_t)reason, .told = true};
    return bpf_map_update_elem(v->waits, &tid, &wait, BPF_NOEXIST) == 0;
}

int verify_waiting(const struct verify *v, verify_see_wait *see, void *context, struct fathom_error *err)
{
    uint32_t tid;
    struct rule_wait w;
    const uint64_t now = clock_ns();
    int rc = 0;
    uint32_t seen = 0; /* an entry removed meanwhile restarts the walk */
    for (const uint32_t *last = NULL;
         rc == 0 && seen++ < VERIFY_THREADS && bpf_map_get_next_key(v->waits, last, &tid) == 0; last = &tid) {
        if (bpf_map_lookup_elem(v->waits, &tid, &w) != 0 || !w.since || w.since > now)
            continue;
        struct wait_record r = rule_wait_record(&w, tid);
        r.kind = w.told ? WAIT_ENDS : WAIT_UNREAD;
        r.length = now - w.since;
        r.ready = w.woken && w.woken < now ? now - w.woken : 0;
        rc = w.told || r.length >= VERIFY_WAIT_LONG ? see(context, &r, err) : 0;
    }
    return rc;
}

void verify_end(struct verify *v, pid_t tid)
{
    bpf_map_delete_elem(v->waits, &tid);
    bpf_map_delete_elem(v->threads, &tid);
    if (v->finds_files)
        bpf_map_delete_elem(v->processes, &tid);
}

void verify_counts(const struct verify *v, struct verify_counts *out)
{
    *out = *v->counts;
}

int verify_know(void *verify, const struct known_stack *stack, struct fathom_error *err)
{
    struct verify *v = verify;
    pthread_mutex_lock(&v->lock);
    const int rc = known_stacks_add(v->stacks, stack, err);
    pthread_mutex_unlock(&v->lock);
    return rc;
}

bool verify_stacks_are(void *verify, uint32_t space, const struct go_stacks *go, uint64_t bias)
{
    struct verify *v = verify;
    return known_stacks_switch(v->stacks, space, go, bias);
}

void verify_place(void *verify, uint32_t pid, uint32_t space)
{
    struct verify *v = verify;
    if (space)
        bpf_map_update_elem(v->spaces, &pid, &space, BPF_ANY);
    else
        bpf_map_delete_elem(v->spaces, &pid);
}

void verify_number_file(void *verify, const struct stack_file *file, uint32_t number)
{
    struct verify *v = verify;
    if (v->finds_files)
        bpf_map_update_elem(v->files, file, &number, BPF_ANY);
}

bool verify_rows(void *verify, const struct code_rows_key *key, const struct code_rows *rows)
{
    struct verify *v = verify;
    struct code_rows_key old;
    if (!v->finds_files || bpf_map_update_elem(v->rows, key, rows, BPF_ANY) == 0)
        return true;
    while (bpf_map_get_next_key(v->rows, NULL, &old) == 0 && bpf_map_delete_elem(v->rows, &old) == 0)
        ;
    return false;
}

static void put_script(struct verify *v, int map, uint32_t key, const struct script_runtime *script,
                       uint64_t state)
{
    const struct rule_script rule = {.state = state, .layout = script->layout};
    if (bpf_map_update_elem(map, &key, &rule, BPF_ANY) == 0)
        bpf_map_update_elem(v->any_script, &(uint32_t){0}, &(uint32_t){1}, BPF_ANY);
}

void verify_script(void *verify, uint32_t pid, const struct script_runtime *script, uint64_t state)
{
    struct verify *v = verify;
    if (!script) {
        bpf_map_delete_elem(v->scripts, &pid);
        return;
    }
    put_script(v, v->scripts, pid, script, state);
}

void verify_script_file(void *verify, uint32_t number, const struct script_runtime *script, uint64_t state)
{
    struct verify *v = verify;
    put_script(v, v->script_files, number, script, state);
}

void verify_forget(void *verify, uint32_t space)
{
    struct verify *v = verify;
    pthread_mutex_lock(&v->lock);
    known_stacks_forget(v->stacks, space);
    pthread_mutex_unlock(&v->lock);
}

void verify_retract(void *verify, uint32_t number)
{
    struct verify *v = verify;
    pthread_mutex_lock(&v->lock);
    known_stacks_retract(v->stacks, number);
    pthread_mutex_unlock(&v->lock);
}
