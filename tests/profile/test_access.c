/* Where a sample's data was found, by the kernel's numbers. */
#include <criterion/criterion.h>
#include <linux/perf_event.h>

#include "profile/access.h"

#define BITS(level) ((uint64_t)(level) << PERF_MEM_LVL_SHIFT)
#define NUMBER(n)   ((uint64_t)PERF_MEM_LVLNUM_##n << PERF_MEM_LVLNUM_SHIFT)
#define REMOTE      ((uint64_t)PERF_MEM_REMOTE_REMOTE << PERF_MEM_REMOTE_SHIFT)

Test(access, both_fields_name_the_same_source)
{
    static const struct {
        uint64_t bits, number;
        enum access_source source;
    } rows[] = {
        {PERF_MEM_LVL_L1 | PERF_MEM_LVL_HIT, NUMBER(L1), ACCESS_L1},
        {PERF_MEM_LVL_LFB | PERF_MEM_LVL_HIT, NUMBER(LFB), ACCESS_LFB},
        {PERF_MEM_LVL_L2 | PERF_MEM_LVL_HIT, NUMBER(L2), ACCESS_L2},
        {PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT, NUMBER(L3), ACCESS_L3},
        {PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_HIT, NUMBER(RAM), ACCESS_RAM},
        {PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_MISS, NUMBER(PMEM), ACCESS_RAM},
        {PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_HIT, NUMBER(RAM) | REMOTE, ACCESS_REMOTE},
        {PERF_MEM_LVL_REM_CCE2 | PERF_MEM_LVL_HIT, NUMBER(ANY_CACHE) | REMOTE, ACCESS_REMOTE},
        {PERF_MEM_LVL_L3 | PERF_MEM_LVL_MISS, NUMBER(ANY_CACHE), ACCESS_OTHER},
        {PERF_MEM_LVL_UNC | PERF_MEM_LVL_HIT, NUMBER(ANY_CACHE), ACCESS_OTHER},
        {PERF_MEM_LVL_NA, NUMBER(NA), ACCESS_UNKNOWN},
        {0, 0, ACCESS_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect_eq(access_source(BITS(rows[i].bits)), rows[i].source, "bits of row %zu", i);
        cr_expect_eq(access_source(rows[i].number | BITS(PERF_MEM_LVL_NA)), rows[i].source,
                     "number of row %zu", i);
    }
}

/* Values of real recordings (Skylake, load latency): 0x...  L1 hit, L3 hit, LFB hit, RAM hit. */
Test(access, real_values)
{
    cr_expect_eq(access_source(0x68100142), ACCESS_L1);
    cr_expect_eq(access_source(0x68100842), ACCESS_L3);
    cr_expect_eq(access_source(0x68100242), ACCESS_LFB);
    cr_expect_eq(access_source(0x68501042), ACCESS_RAM);
}
