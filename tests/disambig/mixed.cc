/*
 * Two functions in either order, by direct calls, then two by virtual ones, which go on by a jump: to what a pointer says, or to a function of
 * another image. Functions are called directly and through pointers. Exceptions pass through all of it.
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

#define KEPT __attribute__((noipa))

static volatile unsigned sum;

struct Noted {
    unsigned value;
    KEPT ~Noted()
    {
        sum = sum * 7 + value;
    }
};

struct Step {
    KEPT virtual void go(unsigned n, Step *const *next) = 0;
    virtual ~Step()
    {
    }
};

KEPT static void leaf(unsigned n, Step *const *)
{
    if (n % 3 == 0)
        throw n;
    if (n % 7 == 0)
        throw std::runtime_error("seven");
    sum = sum * 3 + n;
}

struct Leaf : Step {
    KEPT void go(unsigned n, Step *const *next) override
    {
        sum = sum + 5;
        leaf(n, next);
    }
};

/* Goes on by a jump to another image. */
struct Away : Step {
    KEPT void go(unsigned n, Step *const *) override
    {
        sum = sum * 5 + n;
        std::putchar('.');
    }
};

/* Goes on by a jump to what a pointer says. */
struct On : Step {
    KEPT void go(unsigned n, Step *const *next) override
    {
        sum = sum + n;
        next[0]->go(n + 1, next + 1);
    }
};

struct A : Step {
    KEPT void go(unsigned n, Step *const *next) override
    {
        Noted noted = {n};
        try {
            next[0]->go(n + 2, next + 1);
        } catch (unsigned thrown) {
            if (thrown % 2)
                throw;
            sum = sum + 11 * thrown;
        }
        leaf(3 * n + 1, next);
        sum = sum + 1;
    }
};

struct B : Step {
    KEPT void go(unsigned n, Step *const *next) override
    {
        Noted noted = {n * 5};
        next[0]->go(n + 2, next + 1);
        sum = sum + 2;
    }
};

KEPT static void second(unsigned n, bool first, Step *const *next);

KEPT static void one(unsigned n, bool first, Step *const *next)
{
    Noted noted = {n};
    if (first)
        second(n + 1, false, next);
    else
        next[0]->go(n, next + 1);
    sum = sum + 1;
}

KEPT static void second(unsigned n, bool first, Step *const *next)
{
    Noted noted = {n * 3};
    if (first)
        one(n + 1, false, next);
    else
        next[0]->go(n, next + 1);
    leaf(3 * n + 2, next);
    sum = sum + 2;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)std::atoi(argv[1]) : 60, caught = 0;
    A a;
    B b;
    On on;
    Away away;
    Leaf end;
    Step *ways[][4] = {{&a, &b, &end},      {&b, &a, &end}, {&on, &away},
                       {&on, &a, &b, &end}, {&away},        {&on, &b, &end}};
    for (unsigned n = 0; n < rounds; n++) {
        Step *const *way = ways[n % 6];
        try {
            one(n, n & 8, way);
            second(n, n & 16, way);
        } catch (const std::runtime_error &) {
            caught++;
        } catch (unsigned thrown) {
            caught += thrown;
        }
    }
    std::printf("%u %u\n", sum, caught);
}
