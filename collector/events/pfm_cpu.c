/* pfm_cpu.c - see pfm_cpu.h. */
#include "collector/events/pfm_cpu.h"

#include <perfmon/pfmlib.h>

#include <stdio.h>
#include <string.h>

#include "collector/events/pfm.h"

void pfm_cpu(char *out, size_t size)
{
    out[0] = '\0';
    if (pfm_begin() != PFM_SUCCESS)
        return;
    for (int pmu = PFM_PMU_NONE; pmu < PFM_PMU_MAX; pmu++) {
        pfm_pmu_info_t unit = {.size = sizeof unit};
        if (pmu == PFM_PMU_INTEL_X86_ARCH || pfm_get_pmu_info((pfm_pmu_t)pmu, &unit) != PFM_SUCCESS ||
            !unit.is_present || unit.type != PFM_PMU_TYPE_CORE)
            continue;
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s (%s)", used ? ", " : "", unit.name, unit.desc);
    }
}
