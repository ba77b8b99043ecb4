/*
 * The same functions in two orders: main, a, b, leaf and main, b, a, leaf. Whatever the sizes of their frames, leaf is at one height;
 * only a copy of a function parts the two. Exceptions from leaf pass through both, and destructors run on their way.
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

#define KEPT __attribute__((noipa))

static volatile unsigned sum;
static unsigned work;

struct Guard {
    unsigned value;
    KEPT ~Guard()
    {
        sum = sum + value;
    }
};

KEPT static void leaf(unsigned n)
{
    for (volatile unsigned i = 0; i < work; i++)
        sum = sum + i;
    getppid();
    if (n % 4 == 0)
        throw std::runtime_error(n % 8 ? "odd" : "even");
    sum = sum * 3 + n;
}

KEPT static void b(unsigned n, bool first);

KEPT static void a(unsigned n, bool first)
{
    Guard guard = {n};
    if (first)
        b(n + 1, false);
    else
        leaf(n + 2);
    sum = sum + 1;
}

KEPT static void b(unsigned n, bool first)
{
    Guard guard = {n * 5};
    if (first)
        a(n + 3, false);
    else
        leaf(n + 1);
    sum = sum + 2;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)std::atoi(argv[1]) : 40, caught = 0;
    work = argc > 2 ? (unsigned)std::atoi(argv[2]) : 10;
    for (unsigned n = 0; n < rounds; n++) {
        try {
            a(n, true);
            b(n, true);
        } catch (const std::exception &error) {
            caught = caught * 7 + (unsigned)error.what()[0];
        }
        try {
            b(n, true);
        } catch (const std::runtime_error &error) {
            caught++;
        }
    }
    std::printf("%u %u\n", sum, caught);
    return 0;
}
