/* case_threads.c - the ways in which a thread ends, and who makes calls then. */
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/probe/cases/cases.h"

static pthread_key_t key;
static volatile int alive = 1;

KNOWN void leaf(void)
{
    CALLED();
}

KNOWN void clean(void *unused)
{
    (void)unused;
    leaf();
    CALLED();
}

KNOWN void forget(void *unused)
{
    (void)unused;
    leaf();
    CALLED();
}

KNOWN void *returns(void *unused)
{
    leaf();
    witness();
    pthread_setspecific(key, &key);
    return unused;
}

KNOWN void quit(int depth)
{
    if (depth)
        quit(depth - 1);
    else if (alive)
        pthread_exit(NULL);
    CALLED();
}

KNOWN void *quits(void *unused)
{
    pthread_cleanup_push(clean, NULL);
    quit(2);
    pthread_cleanup_pop(0);
    return unused;
}

KNOWN void await_the_end(int depth)
{
    if (depth)
        await_the_end(depth - 1);
    while (alive)
        pause();
    CALLED();
}

KNOWN void *cancelled(void *unused)
{
    pthread_cleanup_push(clean, NULL);
    pthread_setspecific(key, &key);
    await_the_end(2);
    pthread_cleanup_pop(0);
    return unused;
}

static volatile int joining;

KNOWN void join(pthread_t id)
{
    joining = 1;
    pthread_join(id, NULL);
    CALLED();
}

int run_ends(const char *argument)
{
    (void)argument;
    pthread_t id;
    pthread_key_create(&key, forget);
    for (int i = 0; i < 2; i++) {
        pthread_create(&id, NULL, returns, NULL);
        join(id);
        pthread_create(&id, NULL, quits, NULL);
        join(id);
        pthread_create(&id, NULL, cancelled, NULL);
        usleep(20000);
        pthread_cancel(id);
        join(id);
    }
    return 0;
}

/* One after the other and side by side, on stacks that are used again. */
KNOWN void *brief(void *unused)
{
    leaf();
    CALLED();
    return unused;
}

int run_many(const char *argument)
{
    (void)argument;
    pthread_t ids[20];
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 20; i++)
            pthread_create(&ids[i], NULL, brief, NULL);
        for (int i = 0; i < 20; i++)
            join(ids[i]);
    }
    return 0;
}

/* The main thread ends first; the other one goes on. */
static pthread_t main_thread;

KNOWN void *last(void *unused)
{
    join(main_thread);
    leaf();
    CALLED();
    return unused;
}

int run_main_first(const char *argument)
{
    (void)argument;
    pthread_t id;
    main_thread = pthread_self();
    pthread_create(&id, NULL, last, NULL);
    quit(1);
    return 1;
}

/* A coroutine that begins in one thread, goes on in another, and ends in the first
 * ------------------------------ */

static ucontext_t here, routine_context;
static char stack[65536];

KNOWN void pass(void)
{
    leaf();
    swapcontext(&routine_context, &here);
    CALLED();
}

KNOWN void part(int i)
{
    pass();
    (void)i;
    CALLED();
}

KNOWN void routine(void)
{
    for (int i = 0; i < 4; i++)
        part(i);
    leaf();
    CALLED();
}

KNOWN void *resume(void *unused)
{
    swapcontext(&here, &routine_context);
    leaf();
    CALLED();
    return unused;
}

int run_wanders(const char *argument)
{
    (void)argument;
    pthread_t id;
    getcontext(&routine_context);
    routine_context.uc_stack.ss_sp = stack;
    routine_context.uc_stack.ss_size = sizeof stack;
    routine_context.uc_link = &here;
    makecontext(&routine_context, routine, 0);
    for (int i = 0; i < 2; i++) {
        resume(NULL);
        pthread_create(&id, NULL, resume, NULL);
        join(id);
    }
    resume(NULL);
    return 0;
}

/* A process that a thread starts: there it is the only one, on a thread's stack.
 * --------------------------------- */

KNOWN int in_child(int depth)
{
    leaf();
    witness();
    int status = depth ? in_child(depth - 1) : 0;
    CALLED();
    return status;
}

KNOWN void *forker(void *status)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(in_child(1));
    waitpid(pid, status, 0);
    leaf();
    CALLED();
    return NULL;
}

int run_fork_thread(const char *argument)
{
    (void)argument;
    pthread_t id;
    int status = -1;
    pthread_create(&id, NULL, forker, &status);
    join(id);
    return status;
}

/* The program is replaced by another thread than its first.
 * ----------------------------------------------------- */

KNOWN void *replacer(void *unused)
{
    while (!joining)
        usleep(1000);
    leaf();
    execl("/proc/self/exe", "case_threads", "many", (char *)NULL);
    return unused;
}

int run_exec_thread(const char *argument)
{
    (void)argument;
    pthread_t id;
    pthread_create(&id, NULL, replacer, NULL);
    join(id);
    return 1;
}

const struct known_case cases[] = {
    {"ends", run_ends},
    {"many", run_many},
    {"main-first", run_main_first},
    {"wanders", run_wanders},
    {"fork-thread", run_fork_thread},
    {"exec-thread", run_exec_thread},
    {0},
};
