/* script_poll.c - see script_poll.h. */
#include "collector/scripts/script_poll.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"
#include "collector/rings/clock_pair.h"
#include "collector/scripts/python_reader.h"
#include "collector/scripts/script_queue.h"
#include "collector/targets/proc.h"

#define ROUND_NS UINT64_C(1000000) /* ns: the least time between two readings, */
#define COST     25u               /* and a multiple of the CPU time that one takes: at most 4% of a CPU */
#define PART_NS                                                                                              \
    UINT64_C(                                                                                                \
        1000000) /* a longer reading is cut into parts: adding a process or stopping waits for one part */
#define CLOCK_NS UINT64_C(1000000000) /* how often the recording's clock is measured */
#define IDS_NS   UINT64_C(100000000)  /* the least time between two reads of a process's thread IDs */

/* A polled process. */
struct polled {
    struct python_process python;
    bool apart;        /* in a PID namespace of its own: its threads have other IDs there */
    struct table *ids; /* of its threads: IDs in its namespace -> ours */
    uint64_t ids_at;   /* when `ids` was read, ns */
};

struct script_poll {
    const struct log *log;
    struct script_queue *queue;
    uint64_t offset;   /* recording's clock (clock_pair.h) minus CLOCK_MONOTONIC, ns, modulo 2^64 */
    uint64_t clock_at; /* when it was measured, ns */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    bool started, stop;
    struct polled *processes;
    size_t count, capacity;
    size_t at; /* index of the process to read now or next */
    /* that process, in the walk over its threads; its PID 0: the walk has not begun */
    struct python_process python;
    struct python_threads threads;
    struct python_chain chain;
};

int script_poll_new(uint64_t id, const struct log *log, struct script_poll **out, struct fathom_error *err)
{
    struct script_poll *p = calloc(1, sizeof *p);
    if (!p)
        return error_memory(err);
    p->log = log;
    p->queue = script_queue_new(id);
    if (!p->queue) {
        free(p);
        return error_memory(err);
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    *out = p;
    return 0;
}

void script_poll_free(struct script_poll *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (p->started)
        pthread_join(p->thread, NULL);
    for (size_t i = 0; i < p->count; i++)
        table_free(p->processes[i].ids);
    free(p->processes);
    script_queue_free(p->queue);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* Threads ----------------------------------------------------------------------------------------------------- */

static void learn_ids(struct polled *process)
{
    pid_t *tids;
    size_t count;
    struct proc_self self;
    if (proc_threads(process->python.pid, &tids, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t *ours =
            proc_self(tids[i], &self) == 0 ? table_put(process->ids, (uint64_t)self.pid, NULL) : NULL;
        if (ours)
            *ours = (uint64_t)tids[i];
    }
    free(tids);
}

/* Checked, as a process may claim to run another's thread. */
static bool has_thread(struct polled *process, pid_t id)
{
    char path[64];
    if (table_find(process->ids, (uint64_t)id))
        return true;
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)process->python.pid, (int)id);
    return access(path, F_OK) == 0 && table_put(process->ids, (uint64_t)id, NULL);
}

/* A thread's ID in our namespace; 0: unknown. */
static uint32_t our_id(struct polled *process, pid_t id, uint64_t now)
{
    if (!process->apart)
        return has_thread(process, id) ? (uint32_t)id : 0;
    const uint64_t *ours = table_find(process->ids, (uint64_t)id);
    if (!ours && now - process->ids_at > IDS_NS) {
        process->ids_at = now;
        learn_ids(process);
        ours = table_find(process->ids, (uint64_t)id);
    }
    return ours ? (uint32_t)*ours : 0;
}

static bool begin_process(struct script_poll *p)
{
    p->python = p->processes[p->at].python;
    if (python_threads_begin(&p->python, &p->threads))
        return true;
    if (errno == EPERM)
        script_queue_refused(p->queue, p->python.pid);
    return false;
}

/* Reads the current process's threads, continuing after the last part. false: the part took its full time. */
static bool read_process(struct script_poll *p, uint64_t begun)
{
    struct polled *process = &p->processes[p->at];
    bool more = p->python.pid == process->python.pid || begin_process(p);
    while (more && (more = python_threads_next(&p->threads))) {
        const uint64_t now = clock_ns();
        const uint32_t tid = our_id(process, python_threads_id(&p->threads), now);
        if (tid && python_threads_chain(&p->threads, &p->chain))
            script_queue_add(p->queue, &p->python, tid, now + p->offset, &p->chain);
        if (clock_ns() - begun > PART_NS)
            return false;
    }
    p->python.pid = 0;
    return true;
}

/* A round, or a part of one: a process may claim any number of threads and frames. */
static void read_part(struct script_poll *p, uint64_t now)
{
    if (!p->clock_at || now - p->clock_at > CLOCK_NS) {
        uint64_t here, there;
        p->clock_at = now;
        if (clock_pair_read(&here, &there) == 0)
            p->offset = there - here;
    }
    p->at = p->at < p->count ? p->at : 0; /* processes may have ended since */
    do {
        if (!read_process(p, now))
            return;
        p->at = (p->at + 1) % p->count;
    } while (p->at && clock_ns() - now <= PART_NS);
}

/* CPU time of this thread, ns. Not elapsed time: while others have the CPU a reading costs nothing, and the
 * next one is all the more due. */
static uint64_t cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * SECOND_NS + (uint64_t)used.tv_nsec;
}

static void *run_poll(void *poll)
{
    struct script_poll *p = poll;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        const uint64_t begun = clock_ns(), used = cpu_ns();
        if (!p->count) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        read_part(p, begun);
        const uint64_t rest = (cpu_ns() - used) * COST;
        const uint64_t due = rest > ROUND_NS ? clock_ns() + rest : begun + ROUND_NS;
        const struct timespec until = {(time_t)(due / SECOND_NS), (long)(due % SECOND_NS)};
        while (!p->stop && pthread_cond_clockwait(&p->changed, &p->lock, CLOCK_MONOTONIC, &until) == 0)
            ;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Processes --------------------------------------------------------------------------------------------------- */

/* Called with the lock, like all below. Signals are left to the recording thread. */
static void start_thread(struct script_poll *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->started = p->started || pthread_create(&p->thread, NULL, run_poll, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!p->started)
        log_write(p->log, LOG_WARNING,
                  "cannot start the thread that reads what Python runs: it is not named");
}

static struct polled *find(struct script_poll *p, uint32_t pid)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->processes[i].python.pid == (pid_t)pid)
            return &p->processes[i];
    return NULL;
}

static void remove_process(struct script_poll *p, uint32_t pid)
{
    struct polled *process = find(p, pid);
    if (!process)
        return;
    if (p->python.pid == (pid_t)pid)
        p->python.pid = 0;
    table_free(process->ids);
    *process = p->processes[--p->count];
}

static void add_process(struct script_poll *p, const struct python_process *python)
{
    struct proc_self self;
    struct polled made = {.python = *python};
    remove_process(p, (uint32_t)python->pid);
    made.apart = proc_self(python->pid, &self) == 0 && self.pid != python->pid;
    made.ids = table_new();
    if (!made.ids || !vec_push(p->processes, p->count, p->capacity, made)) {
        table_free(made.ids);
        log_write(p->log, LOG_WARNING, "out of memory: what process %d runs is not named", (int)python->pid);
        return;
    }
    start_thread(p);
    pthread_cond_signal(&p->changed);
}

void script_poll_process(void *poll, uint32_t pid, const struct script_runtime *script, uint64_t state)
{
    struct script_poll *p = poll;
    pthread_mutex_lock(&p->lock);
    if (!script)
        remove_process(p, pid);
    else if (script->layout.language == SCRIPT_PYTHON)
        add_process(p, &(struct python_process){(pid_t)pid, state, script->layout.python});
    pthread_mutex_unlock(&p->lock);
}

void script_poll_fork(struct script_poll *p, uint32_t parent, uint32_t child)
{
    pthread_mutex_lock(&p->lock);
    const struct polled *of = find(p, parent);
    if (of) {
        struct python_process python = of->python;
        python.pid = (pid_t)child;
        add_process(p, &python);
    }
    pthread_mutex_unlock(&p->lock);
}

int script_poll_pass(struct script_poll *p, struct batch *batch, struct fathom_error *err)
{
    const pid_t refused = script_queue_take_refused(p->queue);
    if (refused)
        log_write(p->log, LOG_WARNING,
                  "the functions of Python's process %d are not named: its memory may not be read (that of "
                  "one's own commands may; "
                  "of others with kernel.yama.ptrace_scope at 0, or as root)",
                  (int)refused);
    return script_queue_pass(p->queue, batch, err);
}
