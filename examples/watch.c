/*
 * watch.c - says when it runs in a context that training never saw, while it runs.
 *
 *     cc -O2 watch.c -o watch $(pkg-config --cflags --libs fathom) -lpthread
 *     fathom train --image watch -o watch.fmap -- ./watch orders
 *     ./watch orders watch.fmap                                    # as in training
 *     ./watch refunds watch.fmap                                   # not
 *
 * A timer's handler takes points, a thread looks at them. Work that was trained with hooks has all its calls in the map: then a context that is new is certainly new.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <fathom.h>

#define POINTS 4096u /* in the ring; those that find it full are dropped */
#define ENOUGH 300u  /* checked, and this example ends */

static struct fathom_point points[POINTS];
static atomic_uint taken, checked; /* the handler counts the first, the thread the second */
static atomic_bool done;

static void on_timer(int number, siginfo_t *info, void *context)
{
    unsigned next = atomic_load(&taken);
    (void)number, (void)info;
    if (next - atomic_load(&checked) < POINTS) {
        points[next % POINTS] = fathom_interrupted(context);
        atomic_store(&taken, next + 1);
    }
}

static void print_found(const struct fathom_watch *watch)
{
    struct fathom_watch_summary summary;
    struct fathom_watch_chance chance;
    fathom_watch_summary(watch, &summary);
    fathom_watch_chance(watch, &chance);
    printf("%zu contexts that training never saw, in %llu of %llu points; %llu were in code that it did not "
           "observe\n",
           fathom_watch_count(watch), (unsigned long long)summary.never_seen,
           (unsigned long long)summary.checked, (unsigned long long)summary.not_told);
    printf("false alarms: at most %.2g of the points by the counts of training\n", chance.most);
}

/* The thread. */
static void *watch_points(void *map)
{
    struct fathom_error error = {0, ""};
    struct fathom_resolver *resolver = NULL;
    struct fathom_watch *watch = NULL;
    int rc = fathom_resolver_open(map, NULL, &resolver, &error);
    if (rc == 0)
        rc = fathom_resolver_follow(resolver, 0, &error);
    if (rc == 0)
        rc = fathom_watch_open(resolver, 0, &watch, &error);
    while (rc >= 0 && atomic_load(&checked) < ENOUGH) {
        if (atomic_load(&checked) == atomic_load(&taken)) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
            continue;
        }
        rc = fathom_watch_check(watch, &points[atomic_load(&checked) % POINTS], NULL, &error);
        atomic_fetch_add(&checked, 1);
        if (rc > 0) {
            const struct fathom_anomaly *found = fathom_watch_at(watch, fathom_watch_count(watch) - 1);
            printf("never seen: %s, %llu bytes deep\n", fathom_anomaly_function(found),
                   (unsigned long long)fathom_anomaly_height(found));
        }
    }
    if (rc < 0)
        fprintf(stderr, "watch: %s\n", error.text);
    else
        print_found(watch);
    fathom_watch_close(watch);
    fathom_resolver_close(resolver);
    atomic_store(&done, true);
    return NULL;
}

static volatile unsigned sum;

__attribute__((noinline)) static void add(unsigned from)
{
    for (unsigned i = from; i < 100000; i++)
        sum += i;
}

__attribute__((noinline)) static void order(void)
{
    add(0);
    sum++;
}

__attribute__((noinline)) static void refund(void)
{
    volatile char receipt[256];
    for (unsigned i = 0; i < 100000; i++)
        receipt[i % sizeof receipt] = (char)sum;
    add(1);
    sum += (unsigned)receipt[0];
}

int main(int argc, char **argv)
{
    int refunds = argc > 1 && !strcmp(argv[1], "refunds");
    if (argc > 2) {
        struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART};
        struct itimerval every = {.it_interval.tv_usec = 1000, .it_value.tv_usec = 1000};
        sigset_t timer;
        pthread_t thread;
        sigemptyset(&timer);
        sigaddset(&timer, SIGPROF);
        pthread_sigmask(SIG_BLOCK, &timer, NULL); /* the thread inherits it: only work is looked at */
        if (pthread_create(&thread, NULL, watch_points, argv[2]))
            return 1;
        pthread_detach(thread);
        sigaction(SIGPROF, &action, NULL);
        pthread_sigmask(SIG_UNBLOCK, &timer, NULL);
        setitimer(ITIMER_PROF, &every, NULL);
    }
    for (unsigned i = 0; argc > 2 ? !atomic_load(&done) : i < 10000; i++) {
        order();
        if (refunds)
            refund();
    }
    return 0;
}
