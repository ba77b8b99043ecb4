/*
 * crash.c - prints the call path of the point at which it crashed, by a path map; no unwinding, and nothing of the stack's contents is needed.
 *
 *     cc -O2 -g crash.c -o crash $(pkg-config --cflags --libs fathom)
 *     fathom train --image crash -o crash.fmap -- ./crash 3         # ends well
 *     ./crash 0 crash.fmap                                         # crashes
 *     ulimit -c unlimited; ./crash 0; ./crash core crash.fmap core # the same of a core
 *
 * A handler of a crash can call next to nothing. It takes the point (fathom_interrupted()), gives it to a child that waits since the start, and lets this
 * read its mappings before it ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fathom.h>

#define INLINED_MOST 8 /* functions at one place */

static int to_child, from_child;
static char handler_stack[65536]; /* a stack that overflowed is no place for a handler */

static void on_crash(int number, siginfo_t *info, void *context)
{
    struct fathom_point point = fathom_interrupted(context);
    char none;
    (void)number, (void)info;
    ssize_t told = write(to_child, &point, sizeof point);
    if (told == sizeof point)
        told = read(from_child, &none, 1); /* until the child has what it needs, and ends */
    (void)told;
    /* It returns to where it crashes again, with the signal's default: a core has the true point. */
}

static void print_path(const struct fathom_answer *answer)
{
    if (fathom_answer_certainty(answer) == FATHOM_UNKNOWN)
        fprintf(stderr, "crash: its path is unknown: %s\n", fathom_answer_reason(answer));
    else
        fprintf(stderr, "crash: with a probability of %.2f it came by\n",
                fathom_answer_probability(answer, 0));
    for (size_t i = fathom_answer_depth(answer, 0); i-- > 0;) { /* innermost first */
        struct fathom_source source[INLINED_MOST];
        const size_t sources = fathom_answer_source(answer, 0, i, source, INLINED_MOST);
        fprintf(stderr, "  %s (%s+0x%llx)\n", fathom_answer_function(answer, 0, i),
                fathom_answer_image(answer, 0, i), (unsigned long long)fathom_answer_address(answer, 0, i));
        for (size_t k = 0; k < sources; k++) /* with debug information */
            if (source[k].function && source[k].file)
                fprintf(stderr, "    in %s at %s:%u\n", source[k].function, source[k].file, source[k].line);
    }
}

/* Of the child's parent, or of a core's first thread. */
static int explain(const char *map, pid_t crashed, const char *core, struct fathom_point point)
{
    struct fathom_error error = {0, ""};
    struct fathom_resolver *resolver = NULL;
    const struct fathom_answer *answer = NULL;
    uint32_t tid;
    int rc = fathom_resolver_open(map, NULL, &resolver, &error);
    if (rc == 0)
        rc = core ? fathom_resolver_core(resolver, core, &error)
                  : fathom_resolver_follow(resolver, crashed, &error);
    if (rc == 0 && core)
        rc = fathom_resolver_thread(resolver, 0, &tid, &point);
    if (rc == 0)
        rc = fathom_resolver_resolve(resolver, &point, &answer, &error);
    if (rc == 0)
        print_path(answer);
    else
        fprintf(stderr, "crash: %s\n", error.text);
    fathom_resolver_close(resolver);
    return rc < 0;
}

static int watch_for_crashes(const char *map)
{
    int points[2], answers[2];
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND};
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    pid_t self = getpid(), child;
    if (pipe(points) < 0 || pipe(answers) < 0 || (child = fork()) < 0)
        return -1;
    if (child == 0) {
        struct fathom_point point;
        close(points[1]);
        close(answers[0]);
        _exit(read(points[0], &point, sizeof point) == sizeof point ? explain(map, self, NULL, point) : 0);
    }
    close(points[0]);
    close(answers[1]);
    to_child = points[1];
    from_child = answers[0];
    prctl(PR_SET_PTRACER, child, 0, 0,
          0); /* where Yama is on, a child may read this process only if that says so */
    return sigaltstack(&stack, NULL) < 0 || sigaction(SIGSEGV, &action, NULL) < 0 ||
           sigaction(SIGFPE, &action, NULL) < 0;
}

static volatile int sum = 1000;

__attribute__((noinline)) static int divide(int a, int b)
{
    int result = a / b;
    __asm__ volatile("" : "+r"(result)); /* for the example: a call before a return is no call else */
    return result;
}

__attribute__((noinline)) static int average(int count)
{
    return 1 + divide(sum, count);
}

__attribute__((noinline)) static int report(int count)
{
    return 1 + average(count);
}

int main(int argc, char **argv)
{
    if (argc > 3)
        return explain(argv[2], 0, argv[3], (struct fathom_point){0, 0, 0});
    if (argc > 2 && watch_for_crashes(argv[2])) {
        perror("crash");
        return 1;
    }
    printf("%d\n", report(argc > 1 ? atoi(argv[1]) : 1));
    return 0;
}
