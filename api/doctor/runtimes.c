#include "api/doctor/runtimes.h"

#include <stdio.h>

#include "api/doctor/written_names.h"
#include "image/calls/calls.h"
#include "image/run_time.h"

struct runtime;

/* The input for a row. */
struct telling {
    const struct runtime *runtime;
    const struct script_runtime *scripts; /* by language */
    const struct doctor_machine *machine;
    const struct written_names *written;
    struct rows *rows;
};

struct runtime {
    const char *name;
    const char *mark; /* a function that its file exports; NULL: has() recognises it */
    bool (*has)(const struct image *image, bool go); /* go: compiled by Go */
    void (*tell)(const struct telling *t);
    /* For tell_map(): runtimes that name what they compile once they write a map or a jitdump. */
    const char *named;   /* what has names then */
    const char *missing; /* what still has none; NULL: nothing */
    const char *costs;   /* without a map */
    const char *mend;
};

static void add_row(const struct telling *t, enum fathom_finding_state state, const char *what)
{
    rows_add(t->rows, "language", "language", state, "%s: %s", t->runtime->name, what);
}

/* Reports a map that record does not read. false: there is none. */
static bool tell_foreign(const struct telling *t)
{
    if (t->written->file != WRITTEN_FOREIGN)
        return false;
    add_row(t, FATHOM_FINDING_LIMIT,
            "its functions are not named: the file of their names is another user's");
    rows_costs(t->rows, "/tmp/perf-%d.map, as the process sees it, is not read", (int)t->written->own_pid);
    rows_mend(t->rows, "remove that file, and start the process again");
    return true;
}

static void tell_map(const struct telling *t)
{
    const struct runtime *r = t->runtime;
    if (tell_foreign(t))
        return;
    if (t->written->file == WRITTEN_OWN) {
        add_row(t, r->missing ? FATHOM_FINDING_NOTE : FATHOM_FINDING_OK, r->named);
        if (r->missing)
            rows_costs(t->rows, "%s", r->missing);
        return;
    }
    add_row(t, FATHOM_FINDING_LIMIT, "its functions are not named");
    rows_costs(t->rows, "%s", r->costs);
    rows_mend(t->rows, "%s", r->mend);
}

static void tell_go(const struct telling *t)
{
    add_row(t, FATHOM_FINDING_OK, "its functions are named, by its own table");
}

/* Whether the functions of an interpreter are read at each sample. */
static bool is_read(const struct telling *t, unsigned language)
{
    return t->scripts[language].has_layout && t->machine->tries.program == 0 &&
           t->machine->facts.settings.btf;
}

/* unknown: text in place of a version that could not be found. */
static void tell_script(const struct telling *t, unsigned language, const char *unknown)
{
    const struct script_runtime *s = &t->scripts[language];
    char name[64];
    snprintf(name, sizeof name, "%u.%u", s->major, s->minor);
    const bool known = s->has_layout, loads = t->machine->tries.program == 0, named = is_read(t, language),
               apart = known && !loads && language == SCRIPT_PYTHON; /* collector/scripts/ */
    rows_add(t->rows, "language", "language", named ? FATHOM_FINDING_OK : FATHOM_FINDING_LIMIT,
             "%s %s: its functions are %s", t->runtime->name, s->major ? name : unknown,
             named   ? "named, without a flag"
             : apart ? "named as they are read between samples"
             : known ? "not named on this machine"
                     : "not named");
    if (named)
        return;
    if (apart) {
        rows_costs(t->rows, "one that ran just before or after a sample may stand in its path");
        rows_mend(t->rows, "they are read at each sample where the BPF program can be loaded: see 'stacks'");
        return;
    }
    rows_costs(t->rows, "the interpreter's own frames are shown in their place");
    if (!known)
        rows_mend(t->rows, "those of %s %s are named without a flag%s%s", script_facts(language)->name,
                  script_facts(language)->known, t->runtime->mend ? "; " : "",
                  t->runtime->mend ? t->runtime->mend : "");
    else if (!loads)
        rows_mend(t->rows, "they are named where the BPF program can be loaded: see 'stacks'");
    else
        rows_mend(t->rows, "they are named where the kernel describes its types (CONFIG_DEBUG_INFO_BTF)");
}

static void tell_python(const struct telling *t)
{
    tell_script(t, SCRIPT_PYTHON, "before 3.11");
}

static void tell_php(const struct telling *t)
{
    tell_script(t, SCRIPT_PHP, "of a version that it does not tell");
}

static void tell_ruby(const struct telling *t)
{
    if (!t->scripts[SCRIPT_RUBY].has_layout && t->written->file == WRITTEN_OWN)
        tell_map(t);
    else
        tell_script(t, SCRIPT_RUBY, "of a version that it does not tell");
}

static void tell_v8(const struct telling *t)
{
    const struct script_runtime *v8 = &t->scripts[SCRIPT_JAVASCRIPT];
    static const char variable[] = "NODE_OPTIONS";
    const bool compiled = t->written->file == WRITTEN_OWN ||
                          written_names_flag(t->written, variable, "--perf-basic-prof") ||
                          written_names_flag(t->written, variable, "--perf-prof"),
               all = written_names_flag(t->written, variable, "--interpreted-frames-native-stack");
    if (is_read(t, SCRIPT_JAVASCRIPT)) {
        tell_script(t, SCRIPT_JAVASCRIPT, "");
        rows_costs(t->rows, "those that it has inlined into others are not shown");
        return;
    }
    if (tell_foreign(t))
        return;
    if (compiled && all) {
        add_row(t, FATHOM_FINDING_OK, "its functions are named");
        return;
    }
    char version[32] = "";
    if (v8->major)
        snprintf(version, sizeof version, " %u.%u", v8->major, v8->minor);
    rows_add(t->rows, "language", "language", compiled ? FATHOM_FINDING_NOTE : FATHOM_FINDING_LIMIT,
             "%s%s: %s", t->runtime->name, version,
             compiled ? "the functions that it compiles are named" : "its functions are not named");
    rows_costs(t->rows, compiled
                            ? "those that it interprets are not: V8's own frames are shown in their place"
                            : "they are [run-time code], or V8's own frames where it interprets them");
    rows_mend(t->rows, "start it with %s%s%s",
              compiled ? "--interpreted-frames-native-stack, too"
                       : "--perf-basic-prof --interpreted-frames-native-stack",
              v8->has_layout ? "; without, where the BPF program can be loaded: see 'stacks'"
                             : "; without: V8 ",
              v8->has_layout ? "" : script_facts(SCRIPT_JAVASCRIPT)->known);
}

static bool java_flag(const struct telling *t, const char *flag)
{
    return written_names_flag(t->written, "JAVA_TOOL_OPTIONS", flag) ||
           written_names_flag(t->written, "JDK_JAVA_OPTIONS", flag);
}

static void tell_hotspot(const struct telling *t)
{
    const bool asked = java_flag(t, "-XX:+DumpPerfMapAtExit"),
               callers = java_flag(t, "-XX:+PreserveFramePointer"), wrote = t->written->file == WRITTEN_OWN;
    if (tell_foreign(t))
        return;
    add_row(t, (asked || wrote) && callers ? FATHOM_FINDING_OK : FATHOM_FINDING_LIMIT,
            wrote   ? "the methods are named that it had compiled when it wrote their names"
            : asked ? "its methods are named if it ends while it is recorded"
                    : "its methods are not named unless it is asked for their names");
    if (!callers)
        rows_costs(t->rows, "%sthe callers of compiled methods are unknown",
                   asked || wrote ? "" : "they are [run-time code]; ");
    else if (!asked && !wrote)
        rows_costs(t->rows, "they are [run-time code]");
    if (!callers || !asked)
        rows_mend(t->rows, "%s%s%s",
                  asked ? ""
                        : "record --java-map asks it; or start it with -XX:+UnlockDiagnosticVMOptions "
                          "-XX:+DumpPerfMapAtExit (JDK 17 and later)",
                  asked || callers ? "" : "; for callers, ",
                  callers ? "" : "start it with -XX:+PreserveFramePointer");
}

static bool is_go(const struct image *image, bool go)
{
    (void)image;
    return go;
}

static bool is_hotspot(const struct image *image, bool go)
{
    (void)go;
    return image_makes_code(image) && image_exports(image, "JNI_CreateJavaVM");
}

static bool is_v8(const struct image *image, bool go)
{
    return image_makes_code(image) && !is_hotspot(image, go);
}

static const struct runtime table[] = {
    {.name = "Go", .has = is_go, .tell = tell_go},
    /* -X perf is not mentioned: with what it writes, no function of 3.12 and 3.13 was shown. */
    {.name = "CPython", .mark = "PyEval_EvalFrameEx", .tell = tell_python},
    /* Node 20. */
    {.name = "JavaScript (V8)", .has = is_v8, .tell = tell_v8},
    /* OpenJDK 17. */
    {.name = "Java (HotSpot)", .has = is_hotspot, .tell = tell_hotspot},
    /* Untested; learn.microsoft.com, "Write perf map". */
    {.name = ".NET (CoreCLR)",
     .mark = "coreclr_initialize",
     .tell = tell_map,
     .named = "the methods that it compiles as it runs are named",
     .costs = "the methods that it compiles as it runs are [run-time code]",
     .mend = "start it with DOTNET_PerfMapEnabled=1 in its environment"},
    {.name = "PHP", .mark = "php_module_startup", .tell = tell_php},
    /* `ruby --help` of 3.3 has the flag: "Enable frame pointers and perf profiling". */
    {.name = "Ruby",
     .mark = "ruby_exec_node",
     .tell = tell_ruby,
     .named = "the methods that YJIT compiles are named",
     .missing = "those that it interprets are not",
     .mend = "--yjit-perf, of Ruby 3.3 and later, names what YJIT compiles"},
    /* LuaJIT 2.1 of Debian, which writes no map; src/lj_trace.c. */
    {.name = "LuaJIT",
     .mark = "luaJIT_setmode",
     .tell = tell_map,
     .named = "the traces that it compiles are named",
     .missing = "their callers are unknown; the functions that it interprets are not named",
     .costs = "the interpreter's own frames are shown in their place; what it compiles is [run-time code]",
     .mend = "a LuaJIT built with -DLUAJIT_USE_PERFTOOLS names the traces that it compiles"},
    /* Erlang/OTP 25. */
    {.name = "Erlang (BEAM)",
     .mark = "enif_make_atom",
     .tell = tell_map,
     .named = "the functions that its JIT compiles are named",
     .missing = "their callers are not certain",
     .costs = "what its JIT compiles is [run-time code]",
     .mend = "start it with +JPperf true, which names them; their callers are not certain"},
};
_Static_assert(sizeof table / sizeof *table <= RUNTIMES_MOST, "struct runtimes");

void runtimes_see(struct runtimes *runtimes, const struct image *image, bool go)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        runtimes->has[i] |= table[i].mark ? image_exports(image, table[i].mark) : table[i].has(image, go);
    const struct script_runtime *script = image_script(image);
    if (script && !runtimes->scripts[script->layout.language].layout.language)
        runtimes->scripts[script->layout.language] = *script;
}

void runtimes_add(const struct runtimes *runtimes, pid_t pid, const struct doctor_machine *machine,
                  struct rows *rows)
{
    struct written_names written = {0};
    bool any = false;
    for (size_t i = 0; i < RUNTIMES_MOST; i++)
        any |= runtimes->has[i];
    if (any && pid)
        written_names_read(pid, &written);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (runtimes->has[i])
            table[i].tell(&(struct telling){&table[i], runtimes->scripts, machine, &written, rows});
    written_names_free(&written);
}
