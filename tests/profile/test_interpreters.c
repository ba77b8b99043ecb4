/* Which profiles are of programs that an interpreter runs. */
#include <criterion/criterion.h>

#include "base/script_language.h"
#include "profile/interpreters.h"

static struct cct *tree;
static struct frames *frames;

static void set_up(void)
{
    tree = cct_new(1);
    frames = frames_new();
    cr_assert(tree && frames);
}

static void tear_down(void)
{
    cct_free(tree);
    frames_free(frames);
}

TestSuite(interpreters, .init = set_up, .fini = tear_down);

/* A function of an image, called from the node, with weight of its own. */
static struct cct_node *add(struct cct_node *caller, const char *name, const char *image, uint64_t weight)
{
    struct cct_node *node =
        cct_child(tree, caller ? caller : cct_root(tree), frames_named(frames, name, image, 1));
    cr_assert(node);
    cct_weigh(tree, node, &weight);
    return node;
}

static const char *found(void)
{
    const struct contexts contexts = {.tree = tree, .frames = frames};
    return interpreter_in(&contexts);
}

static const char *found_alone(const char *image)
{
    add(NULL, "run", image, 100);
    const char *name = found();
    tear_down();
    set_up();
    return name ? "one" : "none";
}

Test(interpreters, are_known_by_their_files)
{
    static const char *const are[] = {"python3.11", "libpython3.12.so.1.0",
                                      "ruby3.1",    "libruby-3.1.so.3.1.2",
                                      "php8.2",     "node",
                                      "java",       "libjvm.so",
                                      "perl",       "libperl.so.5.36",
                                      "lua5.4",     "luajit-2.1.0"};
    static const char *const are_not[] = {"perlbench", "javac",     "noded",  "prog",
                                          "lib",       "libc.so.6", "rubyish"};
    for (size_t i = 0; i < sizeof are / sizeof *are; i++)
        cr_expect_str_eq(found_alone(are[i]), "one", "%s", are[i]);
    for (size_t i = 0; i < sizeof are_not / sizeof *are_not; i++)
        cr_expect_str_eq(found_alone(are_not[i]), "none", "%s", are_not[i]);
}

Test(interpreters, have_what_they_call)
{
    struct cct_node *start = add(NULL, "_start", "prog", 0);
    struct cct_node *eval = add(add(start, "Py_Main", "libpython3.11.so", 0), "sort", "libc.so.6", 5);
    cr_expect_not_null(eval);
    struct cct_node *own = add(start, "own", "prog", 95);
    cr_expect_str_eq(found(), "libpython3.11.so", "5%% is below it");
    add(own, "more", "prog", 1);
    cr_expect_null(found(), "less than 5%%");
    add(start, "lua_call", "liblua5.4.so", 40);
    cr_expect_str_eq(found(), "liblua5.4.so", "the one with the most");
}

Test(interpreters, what_they_run_is_named)
{
    const struct frame script = {FRAME_SCRIPT, "main", "app.py", 1, "/app.py", 0};
    struct cct_node *loop = add(NULL, "loop", "python3.11", 4);
    struct cct_node *run = cct_child(tree, loop, frames_add(frames, &script));
    cr_assert(run);
    cct_weigh(tree, run, &(uint64_t){90});
    add(add(run, "sort", "python3.11", 3), "loop", "python3.11", 3);
    cr_expect_null(found(), "4%% alone are not");
    add(loop, "start", "python3.11", 85);
    cr_expect_null(found(), "nor is what the interpreter itself does, less than they do");
    add(loop, "collect", "python3.11", 10);
    cr_expect_str_eq(found(), "python3.11", "most are not");
}

Test(interpreters, unknown_weight_does_not_count)
{
    add(NULL, "run", "ruby3.1", 5);
    struct cct_node *unknown =
        cct_child(tree, cct_root(tree), frames_label(frames, FRAME_UNKNOWN_CONTEXT, "[unknown context]"));
    cct_weigh(tree, unknown, &(uint64_t){1000});
    cr_expect_str_eq(found(), "ruby3.1");
}

Test(interpreters, whose_functions_are_there)
{
    const struct frame script = {FRAME_SCRIPT, "main", "app.js", 1, "/app.js", SCRIPT_JAVASCRIPT};
    cr_assert(cct_child(tree, cct_root(tree), frames_add(frames, &script)));
    const struct contexts contexts = {.tree = tree, .frames = frames};
    cr_expect(interpreters_run(&contexts, SCRIPT_JAVASCRIPT));
    cr_expect_not(interpreters_run(&contexts, SCRIPT_PHP));
}
