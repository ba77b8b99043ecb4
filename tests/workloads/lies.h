/* lies.h - what a program has that lies about what an interpreter runs, in each way for some time. It defines LOOP, the interpreter's, and WAYS before, and
 * lie() and change() behind. Ends after so many seconds of CPU time as its argument says. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile int stop;
volatile unsigned sink;

static void lie(unsigned way);     /* one way to lie; random ones each time */
static void *change(void *unused); /* until `stop`, in the last way */

static uint64_t wild(void)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   8,
                                   0x1000,
                                   0x7fffffffffff,
                                   0x7fffffffe000,
                                   0x800000000000,
                                   0xffff800000000000,
                                   0xffffffff81000000,
                                   UINT64_MAX,
                                   UINT64_MAX - 64};
    const uint64_t r = (uint64_t)random();
    return r % 3 ? odd[r / 3 % (sizeof odd / sizeof *odd)] : r << 17 ^ r;
}

__attribute__((noinline)) void LOOP(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sink += i;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    const double seconds = count > 1 ? atof(arguments[1]) : 1;
    for (unsigned way = 0; way < WAYS; way++) {
        lie(way);
        const clock_t start = clock();
        if (way == WAYS - 1 && pthread_create(&thread, NULL, change, NULL) != 0)
            return 1;
        while ((double)(clock() - start) < seconds / WAYS * CLOCKS_PER_SEC)
            LOOP(100000);
    }
    stop = 1;
    pthread_join(thread, NULL);
    return 0;
}
