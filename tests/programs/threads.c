/*
 * Threads that start late and have their own names, on stacks of each kind. 200 ms each:
 *
 *   main           main before
 *   plain          worker crunch              the C library's stack
 *   guardless      worker crunch              one without a guard page, so that it touches its neighbours
 *   supplied       worker crunch              memory of the program's own, base not at a page's end
 *   nested         worker spawn crunch        a thread that a thread started: "inner", worker crunch, too
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "program.h"

static volatile char sink;

struct job {
    const char *name;
    int nested;
    pthread_attr_t attributes;
    pthread_t thread;
};

KNOWN static void crunch(void)
{
    spin(200);
}

static void start(struct job *job);

KNOWN static void spawn(void)
{
    struct job inner = {.name = "inner"};
    pthread_attr_init(&inner.attributes);
    start(&inner);
    crunch();
    pthread_join(inner.thread, NULL);
}

KNOWN static void *worker(void *context)
{
    struct job *job = context;
    pthread_setname_np(pthread_self(), job->name);
    if (job->nested)
        spawn();
    else
        crunch();
    sink = 1;
    return NULL;
}

KNOWN static void start(struct job *job)
{
    if (pthread_create(&job->thread, &job->attributes, worker, job))
        abort();
}

KNOWN static void before(void)
{
    spin(200);
}

int main(void)
{
    enum { JOBS = 4, STACK = 256 * 1024 };
    static struct job jobs[JOBS] = {
        {.name = "plain"}, {.name = "guardless"}, {.name = "supplied"}, {.name = "nested", .nested = 1}};
    before();
    for (unsigned i = 0; i < JOBS; i++)
        pthread_attr_init(&jobs[i].attributes);
    pthread_attr_setguardsize(&jobs[1].attributes, 0);
    /* Between other pages of the same mapping, and its end is not the end of a page. */
    char *memory = mmap(NULL, 3 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || pthread_attr_setstack(&jobs[2].attributes, memory + STACK, STACK - 1040))
        abort();
    for (unsigned i = 0; i < JOBS; i++)
        start(&jobs[i]);
    for (unsigned i = 0; i < JOBS; i++)
        pthread_join(jobs[i].thread, NULL);
    return 0;
}
