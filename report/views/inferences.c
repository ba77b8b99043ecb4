/* inferences.c - see inferences.h. */
#include "report/views/inferences.h"

static void write_count(struct printer *printer, const char *label, uint64_t count, const char *text)
{
    if (count > 0)
        printer_write(printer, "%-10s%llu context%s %s\n", label, (unsigned long long)count,
                      count == 1 ? "" : "s", text);
}

void inferences_write(struct printer *printer, const struct inferences *inferences)
{
    write_count(
        printer, "open:", inferences->open,
        "may have come through frames without a fixed size (alloca): their heights are only likely ones");
    write_count(printer, "given up:", inferences->given_up,
                "not searched, as their stacks are too deep for inference's memory: train a map");
    write_count(printer, "no path:", inferences->impossible,
                "at a height that no calls, observed or found in the binaries, lead to");
    if (inferences->steps)
        printer_write(printer, "work:     %llu steps to find paths\n", (unsigned long long)inferences->steps);
    if (inferences->cut)
        printer_write(printer, "cut:      %llu sample%s: looking for their paths would take too much work%s",
                      (unsigned long long)inferences->cut, inferences->cut == 1 ? "" : "s",
                      ": train a map, or record with '--dumps unlimited'\n");
}
