/*
 * Calls that come back through code of libraries: qsort, bsearch, twalk, pthread_once, a thread's start, exit
 * and, in another library, visit_each(), given a comparison by std::sort. Prints how often compare() and
 * weigh() were called. Of the time:
 *
 *   30%  main order (qsort) compare work
 *   15%  main search (bsearch) compare work
 *   15%  main plant (twalk) see_leaf work
 *   10%  main prepare (pthread_once) once work
 *   10%  (a thread) run work
 *   10%  main tour visit_each sort_one (std::sort) weigh work
 *   10%  (exit) leave work
 */
#include <algorithm>
#include <cstdio>
#include <pthread.h>
#include <search.h>

#include "program.h"
extern "C" {
#include "visit.h"
}

static volatile char sink;
static unsigned long compared, weighed;

KNOWN static void work(unsigned us)
{
    for (uint64_t end = thread_ns() + us * UINT64_C(1000); thread_ns() < end;)
        for (unsigned i = 0; i < 5000; i++)
            CALLED();
    sink = 1;
}

KNOWN static int compare(const void *a, const void *b)
{
    compared++;
    work(500);
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static int numbers[64];

KNOWN static void order()
{
    /* 64 numbers in falling order: merging halves compares 32 * 6 = 192 times. */
    for (int i = 0; i < 64; i++)
        numbers[i] = 64 - i;
    qsort(numbers, 64, sizeof numbers[0], compare);
    sink = 1;
}

typedef void *(*searcher)(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
static searcher volatile find_number = bsearch; /* the header's own is inlined */

/* 16 times 6 comparisons: of a number above all others. */
KNOWN static void search()
{
    int above = 1000;
    for (int i = 0; i < 16; i++)
        sink = find_number(&above, numbers, 64, sizeof numbers[0], compare) != nullptr;
}

KNOWN static int by_address(const void *a, const void *b)
{
    return a < b ? -1 : a > b;
}

KNOWN static void see_leaf(const void *, VISIT when, int)
{
    if (when == leaf)
        work(24000);
    sink = 1;
}

KNOWN static void plant()
{
    void *root = nullptr;
    for (int i : {1, 0, 2}) /* a root and two leaves */
        tsearch(&numbers[i], &root, by_address);
    twalk(root, see_leaf);
    sink = 1;
}

KNOWN static void once()
{
    work(32000);
    sink = 1;
}

KNOWN static void prepare()
{
    static pthread_once_t done = PTHREAD_ONCE_INIT;
    volatile char room[400]; /* or once() and see_leaf() have one height */
    room[0] = 1;
    pthread_once(&done, once);
    sink = 1;
}

KNOWN static void *run(void *argument)
{
    work(32000);
    sink = 1;
    return argument;
}

KNOWN static bool weigh(int a, int b)
{
    weighed++;
    work(500);
    return a < b;
}

/* 8 numbers in rising order: 7 comparisons, and again 7 that find each in its place. */
KNOWN static void sort_one(void *, unsigned)
{
    int few[8];
    for (int i = 0; i < 8; i++)
        few[i] = i;
    std::sort(few, few + 8, weigh);
    sink = static_cast<char>(few[0]);
}

KNOWN static void tour()
{
    visit_each(5, sort_one, nullptr);
    sink = 1;
}

KNOWN static void leave()
{
    work(32000);
    printf("compare %lu\nweigh %lu\n", compared, weighed);
}

int main()
{
    pthread_t thread;
    atexit(leave);
    order();
    search();
    plant();
    prepare();
    pthread_create(&thread, nullptr, run, nullptr);
    pthread_join(thread, nullptr);
    tour();
    return 0;
}
