/* What an interpreter runs, between the frames of its machine code. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "image/run_time.h"
#include "image/script.h"
#include "profile/script_frames.h"

#define MOST 64
#define LOOP "_PyEval_EvalFrameDefault"

static struct frames *frames;
static struct script_frames *scripts;
static struct script_code codes[MOST];
static struct script_frame chain[MOST];

static void start_with(bool lines, bool alone)
{
    frames = frames_new();
    scripts = script_frames_new(frames, lines, alone);
    cr_assert(frames && scripts);
}

static void start(void)
{
    start_with(false, false);
}

static void stop(void)
{
    script_frames_free(scripts);
    frames_free(frames);
}

TestSuite(script_frames, .init = start, .fini = stop);

/* A letter is a function: L the interpreter's loop, i one that is inlined, ? a root that is not known. */
static uint32_t item_of(char letter)
{
    const char name[] = {letter, 0};
    switch (letter) {
    case 'L':
        return frames_named(frames, script_facts(SCRIPT_PYTHON)->loop, "python3.11", 1);
    case 'i':
        return frames_add(frames, &(struct frame){FRAME_INLINED, "i", "python3.11", 0, NULL, 0});
    case '?':
        return frames_label(frames, FRAME_PARTIAL, "?");
    default:
        return frames_named(frames, name, "prog", (uint64_t)letter);
    }
}

/* Functions from the outermost on, of which capital ones were entered. A '-' first: there are more further out. Frames are kept, and so no
 * memory is used twice. */
static const struct script_frame *make_chain(const char *functions)
{
    static char names[MOST][2];
    static size_t used;
    const bool cut = *functions == '-';
    const struct script_frame *outer = NULL;
    for (functions += cut; *functions; functions++, used++) {
        cr_assert_lt(used, MOST);
        names[used][0] = *functions;
        codes[used] = (struct script_code){names[used], "/srv/pkg/__init__.py", 1, SCRIPT_PYTHON};
        chain[used] = (struct script_frame){.outer = outer,
                                            .code = &codes[used],
                                            .line = outer ? outer->line + 1 : 10,
                                            .entered = *functions < 'a',
                                            .cut = cut && !outer};
        outer = &chain[used];
    }
    return outer;
}

static const char *join(const char *path, const char *functions)
{
    static char out[256];
    uint32_t items[MOST];
    const uint32_t *joined;
    size_t count = 0, length = 0;
    for (; path[count]; count++)
        items[count] = item_of(path[count]);
    cr_assert_eq(script_frames_join(scripts, make_chain(functions), items, count, &joined, &count), 0);
    for (size_t i = 0; i < count; i++) {
        const struct frame *frame = frames_at(frames, joined[i]);
        const bool script = frame->kind == FRAME_SCRIPT;
        length +=
            (size_t)snprintf(out + length, sizeof out - length, "%s%s%s", script ? "(" : "",
                             strcmp(frame->name, script_facts(SCRIPT_PYTHON)->loop) == 0 ? "L" : frame->name,
                             script ? ")" : "");
    }
    return out;
}

Test(script_frames, follow_the_loop_that_runs_them)
{
    cr_expect_str_eq(join("mL", "Ab"), "mL(A)(b)");
    cr_expect_str_eq(join("mLsLc", "AbCd"), "mL(A)(b)sL(C)(d)c");
    cr_expect_str_eq(join("mLiisLi", "AbC"), "mL(A)(b)sL(C)", "what is inlined into the loop is left out");
}

Test(script_frames, from_a_root_on_the_outermost_pair)
{
    cr_expect_str_eq(join("mLsL", "Ab"), "mL(A)(b)sL", "the inner loop has not begun");
    cr_expect_str_eq(join("mL", "AbC"), "mL(A)(b)(C)", "it has just ended");
    cr_expect_str_eq(join("mf", "AbC"), "m(A)(b)(C)f", "it was not found");
}

Test(script_frames, of_a_greenlet_are_in_the_innermost_loops)
{
    cr_expect_str_eq(join("mLsLgLc", "AbCd"), "mLsL(A)(b)gL(C)(d)c");
    cr_expect_str_eq(join("mLsLgL", "Ab"), "mLsLgL(A)(b)", "two loops cannot begin at once");
}

Test(script_frames, without_a_root_the_innermost_pair)
{
    cr_expect_str_eq(join("?LsL", "Ab"), "?LsL(A)(b)");
    cr_expect_str_eq(join("?sL", "AbCd"), "?s(A)(b)L(C)(d)");
    cr_expect_str_eq(join("mLsL", "-ab"), "mLsL[script functions not read](a)(b)",
                     "functions further out were not read");
    cr_expect_str_eq(join("?f", "AbC"), "?(A)(b)(C)f");
}

Test(script_frames, have_lines_if_they_are_wanted)
{
    stop();
    start_with(true, false);
    cr_expect_str_eq(join("L", "Ab"), "L(A)pkg/__init__.py:10(b)pkg/__init__.py:11");
}

Test(script_frames, are_alone_if_that_is_wanted)
{
    stop();
    start_with(false, true);
    cr_expect_str_eq(join("mLsL", "AbC"), "(A)(b)(C)");
    const uint32_t items[] = {frames_label(frames, FRAME_LEVEL, "pid 7"), item_of('m')}, *joined;
    size_t count;
    cr_assert_eq(script_frames_join(scripts, make_chain("D"), items, 2, &joined, &count), 0);
    cr_assert_eq(count, 2u);
    cr_expect_eq(joined[0], items[0], "who ran it stays");
}

Test(script_frames, that_were_not_read_are_said)
{
    const uint32_t items[] = {item_of('m'), item_of('L')}, *joined;
    size_t count;
    cr_assert_eq(script_frames_join(scripts, &script_not_read, items, 2, &joined, &count), 0);
    cr_assert_eq(count, 3u);
    cr_expect_str_eq(frames_at(frames, joined[2])->name, "[script functions not read]");
}

static void read_functions(struct script_reading *reading, const char *functions)
{
    reading->innermost = make_chain(functions);
    reading->entered = 1;
    for (size_t i = 1; functions[i]; i++)
        reading->entered += functions[i] < 'a';
}

static const char *join_reading(const char *path, const struct script_reading *reading)
{
    static char out[256];
    struct script_frame sample = *reading->innermost;
    uint32_t items[MOST];
    const uint32_t *joined;
    size_t count = 0, length = 0;
    sample.reading = reading;
    for (; path[count]; count++)
        items[count] = item_of(path[count]);
    cr_assert_eq(script_frames_join(scripts, &sample, items, count, &joined, &count), 0);
    for (size_t i = 0; i < count; i++)
        length +=
            (size_t)snprintf(out + length, sizeof out - length, "%s ", frames_at(frames, joined[i])->name);
    return out;
}

Test(script_frames, of_readings_have_as_many_calls_as_the_path)
{
    struct script_reading r[3] = {{.after = &r[1]}, {.before = &r[0], .after = &r[2]}, {.before = &r[1]}};
    read_functions(&r[0], "Ab");
    read_functions(&r[1], "AbC");
    read_functions(&r[2], "AbCD");
    cr_expect_str_eq(join_reading("mLsL", &r[1]), "m " LOOP " A b s " LOOP " C ");
    cr_expect_str_eq(join_reading("mL", &r[1]), "m " LOOP " A b ", "the one before");
    cr_expect_str_eq(join_reading("mLsLtL", &r[1]), "m " LOOP " A b s " LOOP " C t " LOOP " D ",
                     "the one behind");
    r[1].before = NULL;
    cr_expect_str_eq(join_reading("mL", &r[1]), "m " LOOP " A b ", "inner calls have returned");
    r[2].before = NULL;
    cr_expect_str_eq(join_reading("mLLLL", &r[2]),
                     "m " LOOP " " LOOP " " LOOP " " LOOP " [script functions not read] ",
                     "nothing was read of so many");
    cr_expect_str_eq(join_reading("?L", &r[2]), "? A b C " LOOP " D ", "how many there are is not known");
}

/* A path of machine code, all of one file, or "[...]", or "~..." that was made and is named, with functions of PHP or Ruby, the first of which was entered, or of
 * JavaScript, all of which were. */
static const char *join_named(uint8_t language, const char *const *path, size_t count,
                              const char *const *functions)
{
    static char out[256];
    uint32_t items[MOST];
    const uint32_t *joined;
    struct script_code called[4];
    struct script_frame called_frames[4] = {0};
    size_t used = 0, length = 0;
    for (; functions[used]; used++) {
        called[used] = (struct script_code){functions[used], "a.php", 1, language};
        called_frames[used] = (struct script_frame){.outer = used ? &called_frames[used - 1] : NULL,
                                                    .code = &called[used],
                                                    .entered = !used || language == SCRIPT_JAVASCRIPT};
    }
    for (size_t i = 0; i < count; i++)
        items[i] =
            strcmp(path[i], RUN_TIME_NAME) == 0 && language == SCRIPT_JAVASCRIPT
                ? frames_label(frames, FRAME_LABEL, path[i])
            : *path[i] == '~' ? frames_named(frames, path[i], RUN_TIME_NAME, i)
            : *path[i] == '['
                ? frames_label(frames, FRAME_PARTIAL, path[i])
                : frames_named(frames, path[i], language == SCRIPT_PHP ? "php8.2" : "libruby.so.3.1.2", i);
    script_frames_free(scripts); /* which keeps what it has shown by where it stood */
    scripts = script_frames_new(frames, false, false);
    cr_assert(scripts);
    cr_assert_eq(script_frames_join(scripts, &called_frames[used - 1], items, count, &joined, &count), 0);
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(out + length, sizeof out - length, "%s%s", i ? ";" : "",
                                   frames_at(frames, joined[i])->name);
    return out;
}
#define JOIN_PHP(path, ...)                                                                                  \
    join_named(SCRIPT_PHP, path, sizeof path / sizeof *path, (const char *const[]){__VA_ARGS__, NULL})
#define JOIN_V8(path, ...)                                                                                   \
    join_named(SCRIPT_JAVASCRIPT, path, sizeof path / sizeof *path, (const char *const[]){__VA_ARGS__, NULL})
#define JOIN_RUBY(path, ...)                                                                                 \
    join_named(SCRIPT_RUBY, path, sizeof path / sizeof *path, (const char *const[]){__VA_ARGS__, NULL})

Test(script_frames, of_php_follow_code_that_was_made)
{
    const char *const path[] = {"[run-time code] JIT$a", "usort", "compare"};
    cr_expect_str_eq(JOIN_PHP(path, "{main}", "a", "b"), "[run-time code] JIT$a;{main};a;b;usort;compare");
    const char *const other[] = {"[no unwind table: x]", "execute_ex", "f"};
    cr_expect_str_eq(JOIN_PHP(other, "{main}", "a"), "[no unwind table: x];execute_ex;{main};a;f");
}

Test(script_frames, of_php_stand_once_if_c_implements_them)
{
    const char *const function[] = {"main", "execute_ex", "zif_str_repeat", "memset"};
    cr_expect_str_eq(JOIN_PHP(function, "{main}", "str_repeat"),
                     "main;execute_ex;{main};zif_str_repeat;memset");
    cr_expect_str_eq(JOIN_PHP(function, "{main}", "repeat"),
                     "main;execute_ex;{main};repeat;zif_str_repeat;memset");
    const char *const method[] = {"main", "execute_ex", "zim_PDO_query"};
    cr_expect_str_eq(JOIN_PHP(method, "{main}", "PDO::query"), "main;execute_ex;{main};zim_PDO_query");
    cr_expect_str_eq(JOIN_PHP(method, "{main}", "PDO::que"), "main;execute_ex;{main};PDO::que;zim_PDO_query");
}

Test(script_frames, of_ruby_follow_the_core_of_the_loop)
{
    const char *const named[] = {"main", "rb_vm_exec", "vm_exec_core", "rb_ary_each"};
    cr_expect_str_eq(JOIN_RUBY(named, "<main>", "a"), "main;rb_vm_exec;vm_exec_core;<main>;a;rb_ary_each");
    const char *const stripped[] = {"main", "rb_vm_exec", "libruby.so.3+0x10", "libruby.so.3+0x20"};
    cr_expect_str_eq(JOIN_RUBY(stripped, "<main>", "a"),
                     "main;rb_vm_exec;libruby.so.3+0x10;<main>;a;libruby.so.3+0x20");
    const char *const other[] = {"main", "rb_vm_exec", "rb_ary_each"};
    cr_expect_str_eq(JOIN_RUBY(other, "<main>", "a"), "main;rb_vm_exec;<main>;a;rb_ary_each");
    const char *const elsewhere[] = {"main", "rb_vm_exec", "libz.so.1+0x10"};
    cr_expect_str_eq(JOIN_RUBY(elsewhere, "<main>"), "main;rb_vm_exec;<main>;libz.so.1+0x10");
    const char *const compiled[] = {"[run-time code]", "rb_ary_each"};
    cr_expect_str_eq(JOIN_RUBY(compiled, "a"), "[run-time code];a;rb_ary_each");
}

/* A recording may say anything. */
Test(script_frames, of_a_language_that_is_not_known_stand_inside)
{
    const char *const path[] = {"[run-time code]", "leaf"};
    cr_expect_str_eq(join_named(SCRIPT_LANGUAGES, path, 2, (const char *const[]){"a", NULL}),
                     "[run-time code];a;leaf");
    cr_expect_str_eq(join_named(255, path, 2, (const char *const[]){"a", NULL}), "[run-time code];a;leaf");
}

#define V8_LOOP "Builtins_InterpreterEntryTrampoline"
Test(script_frames, of_javascript_are_in_place_of_what_was_made)
{
    const char *const path[] = {"main", "JSEntry", V8_LOOP, RUN_TIME_NAME, "sort", RUN_TIME_NAME};
    cr_expect_str_eq(JOIN_V8(path, "a", "b", "c"), "main;JSEntry;" V8_LOOP ";a;b;sort;c");
    cr_expect_str_eq(JOIN_V8(path, "a", "b"), "main;JSEntry;" V8_LOOP ";a;b;sort;" RUN_TIME_NAME,
                     "the innermost is being called");
    const char *const below[] = {"main", RUN_TIME_NAME, RUN_TIME_NAME, "GrowStack"};
    cr_expect_str_eq(JOIN_V8(below, "a"), "main;a;" RUN_TIME_NAME ";GrowStack",
                     "a regular expression calls C++");
    const char *const named[] = {"main", "~*a x.js:1", RUN_TIME_NAME, "~*c x.js:3"};
    cr_expect_str_eq(JOIN_V8(named, "a", "b", "c"), "main;~*a x.js:1;b;~*c x.js:3", "none stands twice");
    const char *const part[] = {"[damaged stack]", RUN_TIME_NAME, "sort", RUN_TIME_NAME};
    cr_expect_str_eq(JOIN_V8(part, "a", "b", "c"), "[damaged stack];a;b;sort;c");
}
