/* graph.c - `fathom graph IMAGE`: prints the call sites in a binary's code, with the stack depth at each. */
#include <getopt.h>

#include "cli/exit.h"
#include "cli/options.h"
#include "cli/privilege.h"
#include "cli/terminal.h"

static int graph_run(int argc, char **argv, struct terminal *terminal)
{
    struct fathom_graph_options options = {0};
    struct fathom_graph *graph = NULL;
    int code = options_parse(&graph_command, &options, true, argc, argv, terminal);
    if (code >= 0)
        return code;
    if (argc - optind != 1)
        return option_usage(terminal, "give one program or library");
    struct fathom_error err = {0};
    privilege_only_read(terminal);
    int rc = fathom_graph_open(argv[optind], &terminal->listener, &graph, &err);
    terminal_progress_end(terminal);
    if (rc == 0)
        rc = fathom_graph_write(graph, &options, stdout, &err);
    fathom_graph_close(graph);
    return exit_result(terminal, rc, &err);
}

static const struct option_word formats[] = {{"text", FATHOM_GRAPH_TEXT}, {"dot", FATHOM_GRAPH_DOT}, {0}};

static const struct option_row rows[] = {
    OPTION_CHOICE("format", 'f', "FORMAT", formats, enum fathom_graph_format, struct fathom_graph_options,
                  format, "text or dot (for Graphviz)"),
    OPTION_TEXT("function", 'F', "NAME", struct fathom_graph_options, function,
                "only the calls of this function"),
    OPTION_PAGER,
    OPTION_HELP,
    OPTION_END,
};

const struct command graph_command = {
    .name = "graph",
    .summary = "list the calls in a binary's code",
    .synopsis = "[OPTIONS] IMAGE",
    .about = "Lists each function's calls: address, bytes of stack from its frame to the callee's ('tail': a "
             "tail call; 'open': not a fixed number), and the callee: a function, SYMBOL@import, 'the "
             "loader' if it resolves the callee, or '*' for a call through a pointer.",
    .options = rows,
    .paged = true,
    .run = graph_run,
};
