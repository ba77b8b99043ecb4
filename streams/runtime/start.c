/*
 * start.c - starts the runtime in a process with duplicated code (rewrite/duplicate/).
 * FATHOM_TRACE=CHECKS:BURST:BYTES[:HEAP]:DIR in its environment has the number of checks between bursts (0: all
 * is one burst) and in a burst, the maximal size of each thread's file and of the process's file with its
 * allocations (0 or missing: these are not logged), and the directory.
 *
 * It is linked with -z initfirst, so that duplicated constructors already run with a block.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/raw.h"
#include "streams/runtime/block.h"
#include "streams/runtime/contexts.h"
#include "streams/runtime/process.h"

extern int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));

static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static pthread_key_t leaving;
static bool works;

static const char *find_options(char **environment)
{
    static const char name[] = "FATHOM_TRACE=";
    for (char **e = environment; e && *e; e++)
        if (raw_begins(*e, name))
            return *e + sizeof name - 1;
    return NULL;
}

static const char *read_number(const char *at, uint64_t *out)
{
    for (*out = 0; *at >= '0' && *at <= '9' && *out < UINT64_MAX / 100; at++)
        *out = *out * 10 + (uint64_t)(*at - '0');
    return *at == ':' ? at + 1 : NULL;
}

static bool read_options(const char *text)
{
    uint64_t checks = 0, burst = 0;
    if (!text || !(text = read_number(text, &checks)) || !(text = read_number(text, &burst)) ||
        !(text = read_number(text, &trace_options.most)) || checks > UINT32_MAX || burst > UINT32_MAX)
        return false;
    if (*text >= '0' && *text <= '9' && !(text = read_number(text, &trace_options.heap)))
        return false;
    size_t length = raw_length(text);
    if (*text != '/' || length + 2 > sizeof trace_options.directory)
        return false;
    raw_copy(trace_options.directory, text, length);
    trace_options.directory[length] = '/';
    trace_options.checks0 = (uint32_t)checks;
    trace_options.burst0 = (uint32_t)burst;
    return true;
}

static void leave_thread(void *block)
{
    (void)block;
    block_leave();
}

struct thread {
    void *(*start)(void *);
    void *argument;
};

static void *run_thread(void *argument)
{
    struct thread thread = *(struct thread *)argument;
    free(argument);
    /* the place of the return address: the call below may be a jump, which leaves it to the program's function */
    contexts_thread((void **)__builtin_frame_address(0) + 1);
    pthread_setspecific(leaving, block_enter());
    return thread.start(thread.argument);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                                                          void *(*start)(void *), void *argument)
{
    struct thread *thread = works ? malloc(sizeof *thread) : NULL;
    if (!real_create)
        real_create = (__typeof__(real_create))dlsym(RTLD_NEXT, "pthread_create");
    if (!thread)
        return real_create(out, attributes, start, argument);
    *thread = (struct thread){start, argument};
    int rc = real_create(out, attributes, run_thread, thread);
    if (rc)
        free(thread);
    return rc;
}

static void handle_fork(void)
{
    process_child();
    block_forked();
}

__attribute__((constructor)) static void begin(int count, char **arguments, char **environment)
{
    (void)count;
    (void)arguments;
    if (!read_options(find_options(environment)))
        return;
    contexts_begin();
    process_begin();
    block_enter();
    __register_atfork(NULL, process_parent, handle_fork, &__dso_handle);
    works = pthread_key_create(&leaving, leave_thread) == 0;
}

__attribute__((destructor)) static void end(void)
{
    if (!works)
        return;
    block_leave();
    process_end();
}
