/* Which bytes the kernel's program samples: how far the next one is. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#include "collector/verify/poisson.h"

Test(poisson, distances_are_those_of_libm)
{
    static const __u32 means[] = {1, 1000, 524288, UINT32_MAX};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        const double mean = means[i];
        for (__u64 random = 0; random <= UINT32_MAX; random += 1 + random / 7) {
            const double exact = -log(((double)random + 1) / 0x1p32) * mean;
            cr_expect_float_eq((double)poisson_next((__u32)random, means[i]), exact + 1,
                               1 + mean * (1e-4 + 1e-5 * exact / mean), "%llu of %g",
                               (unsigned long long)random, mean);
        }
        cr_expect_eq(poisson_next(UINT32_MAX, means[i]), 1);
    }
}
