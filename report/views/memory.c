/* memory.c - accessed memory, by data, and by data and path: latency, and where it was found. */
#include "report/views/accessed.h"

int memory_write(const struct drawing *drawing, struct fathom_error *err)
{
    static const struct accessed_wording words = {.what = "data",
                                                  .one = "piece of data",
                                                  .many = "pieces of data",
                                                  .path = "data, and below it the path that accessed it",
                                                  .one_path = "access",
                                                  .many_paths = "accesses"};
    return accessed_write(drawing, &words, err);
}
