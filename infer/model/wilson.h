/* wilson.h - the 95% interval of a share that was estimated by counting (Wilson, 1927). */
#ifndef FATHOM_INFER_MODEL_WILSON_H
#define FATHOM_INFER_MODEL_WILSON_H

#include <math.h>

#define WILSON_Z 1.96 /* standard deviations */

struct wilson {
    double least, most;
};

/* count: the sample size, more than 0. */
static inline struct wilson wilson_of(double share, double count)
{
    const double z = WILSON_Z;
    double middle = (share + z * z / (2 * count)) / (1 + z * z / count);
    double half = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count);
    return (struct wilson){fmax(middle - half, 0), fmin(middle + half, 1)};
}

#endif
