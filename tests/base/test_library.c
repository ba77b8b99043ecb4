/* test_library.c - libraries that are loaded when they are needed: base/library.h. */
#include <criterion/criterion.h>
#include <errno.h>

#include "base/library.h"

static double (*cosine)(double);
static void (*other)(void);

Test(library, is_loaded_and_stays)
{
    const struct library_function functions[] = {{"cos", &cosine}};
    struct library library = {"libm.so.6", functions, 1, false};
    struct fathom_error err = {0};
    cr_assert_eq(library_load(&library, &err), 0, "%s", err.text);
    cr_assert_eq(cosine(0), 1);
    library.file = "libnothing.so.1"; /* not asked for again */
    cr_assert_eq(library_load(&library, &err), 0);
}

Test(library, that_is_missing_is_named)
{
    struct library library = {"libnothing.so.1", NULL, 0, false};
    struct fathom_error err = {0};
    cr_assert_eq(library_load(&library, &err), -ELIBACC);
    cr_assert(strstr(err.text, "libnothing.so.1 cannot be loaded: "), "%s", err.text);
    cr_assert_not(library.loaded);
}

Test(library, without_a_function_is_not_used)
{
    const struct library_function functions[] = {{"cos", &cosine}, {"no_such_function", &other}};
    struct library library = {"libm.so.6", functions, 2, false};
    struct fathom_error err = {0};
    cr_assert_eq(library_load(&library, &err), -ELIBBAD);
    cr_assert_str_eq(err.text, "libm.so.6 lacks the function no_such_function");
    cr_assert_not(library.loaded);
}
