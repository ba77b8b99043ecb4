/* left_out.c - what a view omits because of its weight, and the line that reports it; see views.h. */
#include "report/views/views.h"

bool weighs_enough(const struct drawing *drawing, uint64_t weight)
{
    return weight > 0 && (double)weight * 100.0 >= drawing->options->min_percent * (double)drawing->whole;
}

void left_out_write(const struct drawing *drawing, uint64_t count, const char *one, const char *many,
                    uint64_t weight, const char *whose)
{
    if (count == 0)
        return;
    const struct view_options *options = drawing->options;
    char share[SHARE_SIZE];
    printer_write(drawing->printer, "... %llu more %s", (unsigned long long)count, count == 1 ? one : many);
    if (options->min_percent > 0 && options->max_rows == 0)
        printer_write(drawing->printer, " under %g%%", options->min_percent);
    printer_write(drawing->printer, ": %s %s\n", share_format(share, weight, drawing->whole), whose);
}
