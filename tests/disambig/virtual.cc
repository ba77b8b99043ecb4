/*
 * The same functions in two orders, all called through pointers: main, A::go, B::go, Leaf::go and main, B::go, A::go, Leaf::go. Only a
 * copy of Leaf::go, to which one of the two is led by a guard, parts them. Exceptions are caught by the callers of what threw, or pass
 * through both.
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

struct Leaf : Step {
    KEPT void go(unsigned n, Step *const *) override
    {
        getppid();
        if (n % 3 == 0)
            throw n;
        if (n % 7 == 0)
            throw std::runtime_error("seven");
        sum = sum * 3 + n;
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
        sum = sum + 1;
    }
};

struct B : Step {
    KEPT void go(unsigned n, Step *const *next) override
    {
        Noted noted = {n * 5};
        try {
            next[0]->go(n + 2, next + 1);
        } catch (unsigned thrown) {
            if (thrown % 4 == 1)
                throw;
            sum = sum + 13 * thrown;
        }
        sum = sum + 2;
    }
};

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)std::atoi(argv[1]) : 40, caught = 0;
    A a;
    B b;
    Leaf leaf;
    Step *ab[] = {&a, &b, &leaf}, *ba[] = {&b, &a, &leaf};
    for (unsigned n = 0; n < rounds; n++) {
        Step *const *steps = n % 2 ? ab : ba;
        try {
            steps[0]->go(n, steps + 1);
        } catch (const std::runtime_error &) {
            caught++;
        } catch (unsigned thrown) {
            caught += thrown;
        }
    }
    std::printf("%u %u\n", sum, caught);
}
