/*
 * Three paths with one CID, none of which has half of the weight:
 *
 *   40%  main a b c leaf
 *   30%  main a c b leaf
 *   30%  main b c a leaf
 */
#include "program.h"

static volatile char sink;

KNOWN static void leaf(unsigned ms)
{
    spin(ms);
}

static void a(const char *order, unsigned ms);
static void b(const char *order, unsigned ms);
static void c(const char *order, unsigned ms);

static inline __attribute__((always_inline)) void follow(const char *order, unsigned ms)
{
    if (*order == 'a')
        a(order + 1, ms);
    else if (*order == 'b')
        b(order + 1, ms);
    else if (*order == 'c')
        c(order + 1, ms);
    else
        leaf(ms);
    sink = 1;
}

KNOWN static void a(const char *order, unsigned ms)
{
    follow(order, ms);
}

KNOWN static void b(const char *order, unsigned ms)
{
    follow(order, ms);
}

KNOWN static void c(const char *order, unsigned ms)
{
    follow(order, ms);
}

int main(void)
{
    /* By turns, so that no part of the run has but one of them. */
    for (unsigned i = 0; i < 10; i++) {
        a("bc", 24);
        a("cb", 18);
        b("ca", 18);
    }
    return 0;
}
