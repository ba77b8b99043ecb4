/* completion.c - see completion.h. bash(1), "Programmable Completion"; zshcompsys(1), "_arguments". */
#include "cli/completion.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"

/* Prints the words that an option takes, if they are fixed, each followed by a blank. */
static void print_words(const struct option_row *row)
{
    for (const char *const *name = NULL; (name = option_next(row, name));)
        printf("%s ", *name);
}

/* A shell command that prints the words of an option at the time of completion; NULL: none. */
static const char *lookup_of(const struct option_row *row)
{
    static const struct {
        const char *option, *command;
    } lookups[] = {{"event", "_fathom_events"},     {"pid", "ps -eo pid="},
                   {"tid", "ps -eLo tid="},         {"focus", "_fathom_functions"},
                   {"ignore", "_fathom_functions"}, {"symbol", "_fathom_functions"}};
    for (size_t i = 0; row->argument && i < sizeof lookups / sizeof *lookups; i++)
        if (strcmp(lookups[i].option, row->name) == 0)
            return lookups[i].command;
    return NULL;
}

/* Prints functions that list events of this machine, and functions of the given recording or perf.data. Only plain names are listed, as
 * names in recordings are untrusted, and bash's compgen executes $(...) in its words. */
static void print_lookups(const char *words)
{
    printf("_fathom_events()\n{\n"
           "    fathom events 2>/dev/null | sed -n 's/^  \\([^ ]*\\) .*/\\1/p'\n}\n"
           "_fathom_functions()\n{\n"
           "    local word before= file=perf.data\n"
           "    for word in \"${%s[@]}\"; do\n"
           "        case $before in -i | --input) file=$word ;; esac\n"
           "        before=$word\n    done\n"
           "    [ -f \"$file\" ] && fathom report -q -i \"$file\" --format folded 2>/dev/null |\n"
           "        sed 's/ [0-9]*$//' | tr ';' '\\n' | LC_ALL=C grep -x '[A-Za-z0-9_.:~+-]*' | sort -u\n}\n",
           words);
}

static void print_bash_command(const struct command *c)
{
    printf("    %s)\n        case $previous in\n", c->name);
    for (const struct option_row *row = c->options; row->name || row->help; row++) {
        if (!row->name || !row->argument)
            continue;
        printf("        --%s", row->name);
        if (row->letter)
            printf("|-%c", row->letter);
        printf(") ");
        if (option_next(row, NULL)) {
            printf("words=\"");
            print_words(row);
            printf("\" ;;\n");
        } else if (lookup_of(row)) {
            printf("words=$(%s) ;;\n", lookup_of(row));
        } else {
            printf("files=1 ;;\n");
        }
    }
    printf("        *) words=\"");
    for (const struct option_row *row = c->options; row->name || row->help; row++)
        if (row->name)
            printf("--%s ", row->name);
    printf("\" files=1 ;;\n        esac\n");
    if (c == &annotate_command)
        printf("        [ -z \"$files\" ] || [ \"${word#-}\" != \"$word\" ] || words=$(_fathom_functions)\n");
    printf("        ;;\n");
}

static void print_bash(void)
{
    printf("# Completion of fathom for bash, made by 'fathom help --completion bash'.\n");
    print_lookups("COMP_WORDS");
    printf("_fathom()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words= files=\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; command_table[i]; i++)
        printf("%s ", command_table[i]->name);
    printf("\" -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n    help) words=\"");
    for (size_t i = 0; command_table[i]; i++)
        printf("%s ", command_table[i]->name);
    printf("\" ;;\n");
    for (size_t i = 0; command_table[i]; i++)
        if (strcmp(command_table[i]->name, "help") != 0)
            print_bash_command(command_table[i]);
    printf("    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    if [ -n \"$files\" ] && [ \"${word#-}\" = \"$word\" ]; then\n"
           "        local IFS=$'\\n'\n"
           "        COMPREPLY+=($(compgen -f -- \"$word\"))\n"
           "    fi\n}\n"
           "complete -o filenames -F _fathom fathom\n");
}

/* Prints the first clause of a help text, without characters that are special to _arguments or _describe. */
static void print_zsh_help(const char *help)
{
    for (; *help && *help != ';' && *help != '(' && *help != '\n'; help++)
        if (!strchr("'[]:\\", *help))
            putchar(*help);
}

static void print_zsh_option(const struct option_row *row)
{
    printf("            '");
    if (row->letter)
        printf("(-%c --%s)'{-%c,--%s}'", row->letter, row->name, row->letter, row->name);
    else
        printf("--%s", row->name);
    printf("[");
    print_zsh_help(row->help);
    printf("]");
    if (row->argument && option_next(row, NULL)) {
        printf(":%s:(", row->argument);
        print_words(row);
        printf(")");
    } else if (lookup_of(row)) {
        printf(":%s:{compadd -- $(%s)}", row->argument, lookup_of(row));
    } else if (row->argument) {
        printf(":%s:_files", row->argument);
    }
    printf("' \\\n");
}

static void print_zsh(void)
{
    printf("#compdef fathom\n# Completion of fathom for zsh, made by 'fathom help --completion zsh'.\n");
    print_lookups("words");
    printf("_fathom()\n{\n    local -a commands=(\n");
    for (size_t i = 0; command_table[i]; i++) {
        printf("        '%s:", command_table[i]->name);
        print_zsh_help(command_table[i]->summary);
        printf("'\n");
    }
    printf(
        "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
        "    local command=${words[2]}\n    shift words\n    (( CURRENT-- ))\n    case $command in\n"
        "    help) _describe command commands ;;\n");
    for (size_t i = 0; command_table[i]; i++) {
        if (strcmp(command_table[i]->name, "help") == 0)
            continue;
        printf("    %s)\n        _arguments -s \\\n", command_table[i]->name);
        for (const struct option_row *row = command_table[i]->options; row->name || row->help; row++)
            if (row->name)
                print_zsh_option(row);
        printf("            '*:%s' ;;\n", command_table[i] == &annotate_command
                                              ? "function:{compadd -- $(_fathom_functions)}"
                                              : "file:_files");
    }
    printf("    esac\n}\n_fathom \"$@\"\n");
}

bool completion_print(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else
        return false;
    return true;
}
