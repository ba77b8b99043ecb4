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
    write_count(printer, "open:", inferences->open,
                "can have come through frames of no fixed size (alloca): their heights are only likely ones");
    write_count(printer, "given up:", inferences->given_up,
                "not looked up, as their stacks are too deep for the memory that inference has: train a map");
    write_count(printer, "no path:", inferences->impossible,
                "at a height to which no calls lead that were seen or that the binaries show");
}
