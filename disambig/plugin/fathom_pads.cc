/*
 * fathom_pads.cc - a GCC plugin that makes the frames of listed functions larger, so that the depth of the
 * stack tells calling contexts apart. docs/pads.md says how to use it, and has the format of the list.
 *
 *     gcc -fplugin=fathom_pads.so -fplugin-arg-fathom_pads-file=FILE [-fplugin-arg-fathom_pads-verbose]
 *
 * (GCC takes what stands before the first '-' of an argument for the plugin's name, so the name cannot have
 * one.)
 *
 * The pad is a stack slot of alignment 1 that nothing uses, made before the register allocator adds slots of
 * its own: it changes neither their alignment nor that of the frame. In functions that make calls, no other
 * pass looks at how large a frame is, so the code is the same but for offsets into the frame, what follows
 * from longer instructions, and the instructions that allocate a frame where there was none. Every call but a
 * tail call counts as a use of the frame (requires_stack_frame_p() in shrink-wrap.cc), so all call sites of a
 * function move by its pad, unless the frame is aligned to more than 16 bytes, which is reported when GCC has
 * laid out the frame.
 *
 * A static function whose name others have, too, is listed as "name@file". The file is the last part of the
 * name of the source that is compiled, as the compiler's .file directive says it: in the linked program it is
 * the STT_FILE symbol that stands before the function's in the symbol table, where `fathom disambig --emit`
 * reads it.
 *
 * Sources: GCC internals manual, "Plugins"; gcc/function.cc (assign_stack_local_1), gcc/config/i386/i386.cc
 * (ix86_compute_frame_layout), both of GCC 12.
 */
#include "disambig/plugin/pad_list.h"

#include <plugin-version.h>

#include <tree.h>
#include <backend.h>
#include <rtl.h>
#include <tree-pass.h>
#include <context.h>
#include <cgraph.h>
#include <stringpool.h>
#include <attribs.h>
#include <diagnostic-core.h>
#include <function.h>
#include <memmodel.h>
#include <emit-rtl.h>
#include <df.h>
#include <regs.h>
#include <output.h>
#include <target.h>
#include <toplev.h>
#include <intl.h>

/* GCC loads only plugins that say so. The BSD licence of Fathom is compatible. */
int plugin_is_GPL_compatible;

/*
 * GCC's callbacks and passes are handed nothing of ours, and a compiler has one of each: the state of the
 * plugin.
 */
static struct {
    pad_list list;
    bool verbose; /* notes about each listed function */
    bool all;     /* this compilation should have all the functions of the list */
    int pad;      /* of the function that is compiled; 0: none */
} plugin;

/*
 * What the object file's STT_FILE symbol is called. Code that is generated at link time has none, and unique
 * names.
 */
static const char *source_name()
{
    return in_lto_p ? "" : lbasename(main_input_filename);
}

/*
 * Looking up a function -----------------------------------------------------------------------------------
 */

struct found {
    pad_line *line;
    const char *name;
};

/*
 * The line of one of the names that a function has: its own or an alias, such as both names of a C++
 * constructor.
 */
static bool look_up_name(cgraph_node *node, void *data)
{
    found *best = (found *)data;
    const char *name = targetm.strip_name_encoding(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(node->decl)));
    pad_line *line = pad_list_find(&plugin.list, name, source_name());
    if (!line)
        return false;
    line->used = true;
    if (!best->line)
        *best = {line, name};
    else if (best->line->bytes != line->bytes)
        warning_at(DECL_SOURCE_LOCATION(node->decl), 0,
                   "%qs has the pad of its other name %qs, %d, and not %d (%s:%u)", name, best->name,
                   best->line->bytes, line->bytes, plugin.list.file, line->line);
    return false;
}

static int listed_pad(tree function)
{
    found best = {NULL, NULL};
    cgraph_node *node = cgraph_node::get(function);
    if (node)
        node->call_for_symbol_and_aliases(look_up_name, &best, true);
    return best.line ? best.line->bytes : 0;
}

/*
 * Before the register allocator ---------------------------------------------------------------------------
 */

/*
 * Says whether a listed function is left as it is. One that calls nothing (but by jumps, when its frame is
 * gone) is: there is no frame below that its pad would move. With slots in its frame, which the red zone
 * holds, it would keep a frame pointer that it does not need and other alignment
 * (ix86_finalize_stack_frame_flags()), and its callers would pass that on.
 */
static bool left_alone(tree decl)
{
    location_t place = DECL_SOURCE_LOCATION(decl);
    if (lookup_attribute("naked", DECL_ATTRIBUTES(decl))) {
        warning_at(place, 0, "%qD has no frame that the compiler makes: it is not padded", decl);
        return true;
    }
    if (!leaf_function_p())
        return false;
    if (plugin.verbose)
        inform(place, "%qD calls nothing from its frame: it is not padded", decl);
    return true;
}

static const pass_data pad_data = {RTL_PASS, "fathom_pads", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};

struct pad_pass : rtl_opt_pass {
    pad_pass() : rtl_opt_pass(pad_data, g)
    {
    }
    unsigned int execute(function *fun) final override
    {
        plugin.pad = listed_pad(fun->decl);
        if (plugin.pad != 0 && left_alone(fun->decl))
            plugin.pad = 0;
        /* -2: of alignment 1; 0: neither in a gap between other slots nor with one that others may use. */
        if (plugin.pad != 0)
            assign_stack_local_1(BLKmode, plugin.pad, -2, 0);
        return 0;
    }
};

/*
 * After the frame is laid out -----------------------------------------------------------------------------
 */

/* What ix86_compute_frame_layout() rounds the depth of the stack pointer at calls to, in bytes. */
static int frame_alignment()
{
    unsigned bits = crtl->preferred_stack_boundary;
    if (crtl->stack_realign_needed && crtl->stack_alignment_needed > bits)
        bits = crtl->stack_alignment_needed;
    return bits / BITS_PER_UNIT;
}

static void say_growth(tree decl, const ix86_frame *frame)
{
    location_t place = DECL_SOURCE_LOCATION(decl);
    int alignment = frame_alignment();
    if (plugin.pad % alignment != 0)
        warning_at(place, 0, "the frame of %qD is aligned to %d bytes: it cannot grow by its pad of %d bytes",
                   decl, alignment, plugin.pad);
    else if (plugin.verbose && frame->stack_pointer_offset - plugin.pad == frame->sse_reg_save_offset)
        inform(place,
               "the frame of %qD grows by %d bytes; it takes an instruction to allocate it, and none before",
               decl, plugin.pad);
    else if (plugin.verbose)
        inform(place, "the frame of %qD grows by %d bytes", decl, plugin.pad);
}

static const pass_data growth_data = {RTL_PASS, "fathom_growth", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};

struct growth_pass : rtl_opt_pass {
    growth_pass() : rtl_opt_pass(growth_data, g)
    {
    }
    bool gate(function *) final override
    {
        return plugin.pad != 0;
    }
    unsigned int execute(function *fun) final override
    {
        say_growth(fun->decl, &fun->machine->frame);
        return 0;
    }
};

/*
 * The end of the compilation ------------------------------------------------------------------------------
 */

/*
 * Most lines are for other compilations; those that name this source, or all if the user says so, should have
 * been used.
 */
static void say_unused(void *, void *)
{
    /* A part of a program that is optimised at link time has some functions only, or none until it is linked. */
    if (seen_error() || flag_syntax_only || in_lto_p || (flag_generate_lto && !flag_fat_lto_objects))
        return;
    for (const char *key : plugin.list.keys) {
        const pad_line *line = plugin.list.lines.get(key);
        const char *source = pad_key_source(key);
        if (!line->used && (plugin.all || (source && strcmp(source, source_name()) == 0)))
            warning_at(UNKNOWN_LOCATION, 0, "%s:%u: no function %qs is compiled here", plugin.list.file,
                       line->line, key);
    }
}

/*
 * Start ---------------------------------------------------------------------------------------------------
 */

static bool read_arguments(const plugin_name_args *given)
{
    for (int i = 0; i < given->argc; i++) {
        const plugin_argument *a = &given->argv[i];
        if (strcmp(a->key, "file") == 0 && a->value)
            plugin.list.file = a->value;
        else if (strcmp(a->key, "verbose") == 0 && !a->value)
            plugin.verbose = true;
        else if (strcmp(a->key, "all") == 0 && !a->value)
            plugin.all = true;
        else {
            error("%s takes the arguments %<file=FILE%>, %<verbose%> and %<all%>, and not %qs",
                  given->base_name, a->key);
            return false;
        }
    }
    if (!plugin.list.file)
        error("%s needs the list of pads: %<-fplugin-arg-%s-file=FILE%>", given->base_name, given->base_name);
    return plugin.list.file;
}

static void add_pass(const char *plugin_name, opt_pass *pass, const char *reference,
                     pass_positioning_ops position)
{
    register_pass_info info = {pass, reference, 1, position};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}

int plugin_init(plugin_name_args *given, plugin_gcc_version *version)
{
    if (!plugin_default_version_check(version, &gcc_version)) {
        error("%s was built for GCC %s, and this is %s: build Fathom with this compiler", given->base_name,
              gcc_version.basever, version->basever);
        return 1;
    }
    if (!read_arguments(given) || !pad_list_read(&plugin.list))
        return 1;
    add_pass(given->base_name, new pad_pass, "ira", PASS_POS_INSERT_BEFORE);
    add_pass(given->base_name, new growth_pass, "pro_and_epilogue", PASS_POS_INSERT_AFTER);
    register_callback(given->base_name, PLUGIN_FINISH_UNIT, say_unused, NULL);
    return 0;
}
