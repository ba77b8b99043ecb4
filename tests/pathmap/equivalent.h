/* equivalent.h - checks a plan against the image that it was made for, without running anything. */
#ifndef TESTS_PATHMAP_EQUIVALENT_H
#define TESTS_PATHMAP_EQUIVALENT_H

#include "pathmap/train/plan.h"

/* Every hook's code is placed at a pretend address and decoded by capstone: it must do what the original
 * instructions do, operand by operand, with the same absolute targets. Then: the original bytes are the
 * image's; no direct branch of any function leads into replaced bytes but to the first one of a hook; every
 * function that is called by the plan's rules has a hook or is named among those left out. Fails the test
 * otherwise. */
void equivalent_check(const struct image *image, const struct plan *plan, const struct plan_summary *summary);

#endif
