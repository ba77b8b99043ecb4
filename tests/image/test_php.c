/* Whether an image has PHP, and of which version. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "image/script.h"
#include "tests/image/build.h"

static struct image *build(const char *header, const char *state)
{
    char source[1024];
    snprintf(source, sizeof source,
             "const char header[] = \"%s\";\n"
             "long %s[225];\n"
             "void *zend_execute_ex;\n"
             "void execute_ex(void) {}\n",
             header, state);
    build_source("php.c", source);
    build_run("$CC -shared -fPIC -o php.so php.c");
    return build_open("php.so");
}

Test(php, has_a_version_and_a_state, .fini = build_clean)
{
    struct image *image = build("Set-Cookie: \\0X-Powered-By: PHP/8.2.36-dev", "executor_globals");
    const struct script_runtime *php = image_script(image);
    cr_assert(php && php->has_layout);
    cr_expect_eq(php->layout.language, (unsigned)SCRIPT_PHP);
    cr_expect_eq(php->major, 8u);
    cr_expect_eq(php->minor, 2u);
    cr_expect(image_covers(image, php->state));
    cr_expect_eq(php->layout.php.globals_call, 488u);
    image_close(image);
}

static void expect_unknown(const char *why, unsigned minor, struct image *image)
{
    const struct script_runtime *php = image_script(image);
    cr_assert(php, "%s", why);
    cr_expect_not(php->has_layout, "%s", why);
    cr_expect_eq(php->minor, minor, "%s", why);
    image_close(image);
}

Test(php, that_is_not_known_has_no_layout, .fini = build_clean)
{
    expect_unknown("an older one", 1, build("X-Powered-By: PHP/8.1.2", "executor_globals"));
    expect_unknown("a later one", 20, build("X-Powered-By: PHP/8.20.2", "executor_globals"));
    expect_unknown("none", 0, build("X-Powered-By: PHP", "executor_globals"));
    expect_unknown("no number", 0, build("X-Powered-By: PHP/x8.2", "executor_globals"));
    expect_unknown("cut", 0, build("X-Powered-By: PHP/8", "executor_globals"));
    expect_unknown("with ZTS", 2, build("X-Powered-By: PHP/8.2.1", "executor_globals_id"));
}
