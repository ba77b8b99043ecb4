/* The names of functions as they are shown. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "image/d_name.h"
#include "image/name.h"

static const char *shown(const char *symbol)
{
    static char out[1024];
    name_format("/bin/prog", symbol, 0x10, out, sizeof out);
    return out;
}

Test(name, languages)
{
    cr_expect_str_eq(shown(NULL), "prog+0x10");
    cr_expect_str_eq(shown("run"), "run");
    cr_expect_str_eq(shown("_ZN2ns3runEi"), "ns::run");
    cr_expect_str_eq(shown("_ZN2ns3runEi@plt"), "ns::run@plt");
    cr_expect_str_eq(shown("_Dmain"), "D main");
    cr_expect_str_eq(shown("_D3foo3barFiZv"), "foo.bar(int)");
    cr_expect_str_eq(shown("_D3std5stdio__T7writelnTAyaZQnFNfQjZv"),
                     "std.stdio.writeln!(immutable(char)[]).writeln(immutable(char)[])");
    cr_expect_str_eq(shown("_DYNAMIC"), "_DYNAMIC");
    cr_expect_str_eq(shown("_Destroy"), "_Destroy");
}

/* Each argument has the one before twice. */
static void doubling(char *out, unsigned times)
{
    size_t before = strlen(strcpy(out, "_D1aF"));
    strcat(out, "B2ii");
    for (unsigned i = 1; i < times; i++) {
        size_t at = strlen(out);
        strcat(out, "B2");
        for (int k = 0; k < 2; k++) {
            size_t end = strlen(out);
            out[end] = 'Q';
            out[end + 1] = (char)('a' + (end - before));
            out[end + 2] = '\0';
        }
        before = at;
    }
    strcat(out, "Zv");
}

Test(name, of_d_are_bounded)
{
    char name[256];
    doubling(name, 3);
    char *text = d_name_demangle(name);
    cr_expect_not_null(text, "a few references are followed");
    free(text);
    doubling(name, 30);
    cr_expect_null(d_name_demangle(name), "the text of 30 would be 2^30 times as long");
    cr_expect_str_eq(shown(name), name);
}
