/* script_queue.c - see script_queue.h. */
#include "collector/scripts/script_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "collector/rings/records.h"

#define QUEUE_BYTES (16u << 20) /* maximum bytes queued; more is dropped */
#define CHAINS_MOST (1u << 20)  /* maximum known chains: 32 MB */

struct script_queue {
    uint64_t id;
    struct table *threads; /* TID -> hash of its last record, not 0 */
    struct table *chains;  /* numbers of the chains already written */
    struct table *codes;   /* hash of a process and an address -> identity of the code written for it */
    struct table *changes; /* PID -> how often changed code was found */
    uint64_t turn;         /* index of the function of a chain to compare with its known code */
    struct python_code code;
    pthread_mutex_t lock; /* of all below */
    uint8_t *records;
    size_t used, capacity;
    bool full; /* a record did not fit, or out of memory */
    pid_t refused, told_refused;
};

static bool make_tables(struct script_queue *q)
{
    q->threads = table_new();
    q->chains = table_new();
    q->codes = table_new();
    q->changes = table_new();
    return q->threads && q->chains && q->codes && q->changes;
}

static void free_tables(struct script_queue *q)
{
    table_free(q->threads);
    table_free(q->chains);
    table_free(q->codes);
    table_free(q->changes);
}

struct script_queue *script_queue_new(uint64_t id)
{
    struct script_queue *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->id = id;
    pthread_mutex_init(&q->lock, NULL);
    if (make_tables(q))
        return q;
    script_queue_free(q);
    return NULL;
}

void script_queue_free(struct script_queue *q)
{
    if (!q)
        return;
    free_tables(q);
    free(q->records);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

/* Records ----------------------------------------------------------------------------------------------------- */

/* A sample with a script record as its raw data. */
struct raw_sample {
    struct sample_record sample;
    uint32_t raw_size; /* of all behind it */
    struct script_record script;
} __attribute__((packed));

struct of_thread {
    uint32_t pid, tid;
    uint64_t time;
};

/* Adds a record, with `size` bytes after it. */
static void put(struct script_queue *q, const struct of_thread *of, const struct script_record *script,
                const void *bytes, size_t size)
{
    const size_t whole = (sizeof(struct raw_sample) + size + 7) & ~(size_t)7;
    struct raw_sample r = {.sample = {.header = {.type = PERF_RECORD_SAMPLE,
                                                 .misc = PERF_RECORD_MISC_USER,
                                                 .size = (uint16_t)whole},
                                      .id = q->id,
                                      .pid = of->pid,
                                      .tid = of->tid,
                                      .time = of->time},
                           .raw_size = (uint32_t)(whole - offsetof(struct raw_sample, script)),
                           .script = *script};
    r.script.magic = SCRIPT_RECORD_MAGIC;
    r.script.version = SCRIPT_RECORD_VERSION;
    r.script.language = SCRIPT_PYTHON;
    pthread_mutex_lock(&q->lock);
    if (q->used + whole > QUEUE_BYTES || !vec_reserve(q->records, q->used, q->capacity, whole)) {
        q->full = true;
    } else {
        memset(q->records + q->used + whole - 8, 0, 8);
        memcpy(q->records + q->used, &r, sizeof r);
        if (size)
            memcpy(q->records + q->used + sizeof r, bytes, size);
        q->used += whole;
    }
    pthread_mutex_unlock(&q->lock);
}

/* Starts over as if nothing had been written: after something was lost, or too much is known. */
static void begin_anew(struct script_queue *q)
{
    pthread_mutex_lock(&q->lock);
    const bool full = q->full || (q->chains && table_count(q->chains) > CHAINS_MOST);
    q->full = false;
    pthread_mutex_unlock(&q->lock);
    if (!full)
        return;
    free_tables(q);
    if (!make_tables(q)) {
        free_tables(q);
        q->threads = q->chains = q->codes = q->changes = NULL;
    }
}

/* Code -------------------------------------------------------------------------------------------------------- */

static uint64_t *told_code(const struct script_queue *q, const struct python_process *process, uint64_t code)
{
    return table_put(q->codes, hash_u64(hash_u64((uint64_t)process->pid) + code), NULL);
}

/* false: there is none. */
static bool tell_code(struct script_queue *q, const struct python_process *process,
                      const struct of_thread *of, uint64_t code)
{
    struct python_code *c = &q->code;
    uint64_t *told = told_code(q, process, code);
    if (!told || !python_read_code(process, code, c))
        return false;
    *told = c->identity;
    put(q, of, &(struct script_record){.kind = SCRIPT_CODE, .count = c->table_size, .number = code}, &c->told,
        sizeof c->told + c->table_size);
    return true;
}

/* Writes the code of a chain that was not written yet. false: something in it is not code. */
static bool tell_codes(struct script_queue *q, const struct python_process *process,
                       const struct of_thread *of, const struct python_chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        const uint64_t code = chain->called[i].code, now = python_identity(process, code);
        const uint64_t *told = told_code(q, process, code);
        if (!now || !told || (*told != now && !tell_code(q, process, of, code)))
            return false;
    }
    return true;
}

/* How often changed code was found: compares one function of the chain. 0: out of memory, or it is not
 * code. */
static uint64_t count_changes(struct script_queue *q, const struct python_process *process,
                              const struct python_chain *chain)
{
    uint64_t *changes = table_put(q->changes, (uint64_t)process->pid, NULL);
    const uint64_t code = chain->called[q->turn++ % chain->count].code;
    const uint64_t now = python_identity(process, code);
    const uint64_t *told = changes && now ? told_code(q, process, code) : NULL;
    if (!told)
        return 0;
    *changes += *told && *told != now;
    return *changes + 1;
}

/* Threads ----------------------------------------------------------------------------------------------------- */

static void tell_chain(struct script_queue *q, const struct python_process *process,
                       const struct of_thread *of, const struct python_chain *chain, uint64_t *told)
{
    const uint64_t changes = count_changes(q, process, chain);
    struct script_record record = {.kind = SCRIPT_SAME,
                                   .flags = SCRIPT_POLLED | (chain->cut ? SCRIPT_CUT : 0),
                                   .at = chain->at,
                                   .number = hash_u64(chain->hash + changes) | 1};
    const uint64_t now = hash_u64(record.number + record.at) | 1;
    if (!changes || *told == now)
        return;
    bool added;
    if (!table_find(q->chains, record.number)) {
        if (!tell_codes(q, process, of, chain) || !table_put(q->chains, record.number, &added))
            return;
        record.kind = SCRIPT_CHAIN;
        record.count = chain->count;
    }
    *told = now;
    put(q, of, &record, chain->called, record.count * sizeof *chain->called);
}

void script_queue_add(struct script_queue *q, const struct python_process *process, uint32_t tid,
                      uint64_t time, const struct python_chain *chain)
{
    const struct of_thread of = {(uint32_t)process->pid, tid, time};
    begin_anew(q);
    uint64_t *told = q->threads ? table_put(q->threads, tid, NULL) : NULL;
    if (!told)
        return;
    if (chain->count) {
        tell_chain(q, process, &of, chain, told);
    } else if (*told) {
        *told = 0;
        put(q, &of, &(struct script_record){.kind = SCRIPT_NONE, .flags = SCRIPT_POLLED}, NULL, 0);
    }
}

void script_queue_refused(struct script_queue *q, pid_t pid)
{
    pthread_mutex_lock(&q->lock);
    if (!q->told_refused)
        q->refused = q->told_refused = pid;
    pthread_mutex_unlock(&q->lock);
}

pid_t script_queue_take_refused(struct script_queue *q)
{
    pthread_mutex_lock(&q->lock);
    const pid_t refused = q->refused;
    q->refused = 0;
    pthread_mutex_unlock(&q->lock);
    return refused;
}

int script_queue_pass(struct script_queue *q, struct batch *batch, struct fathom_error *err)
{
    pthread_mutex_lock(&q->lock);
    uint8_t *records = q->records;
    const size_t used = q->used;
    q->records = NULL;
    q->used = q->capacity = 0;
    pthread_mutex_unlock(&q->lock);
    const int rc = used ? batch_pass(batch, records, used, err) : 0;
    free(records);
    return rc;
}
