/* completion.c - see completion.h. bash(1), "Programmable Completion"; zshcompsys(1), "_arguments". */
#include "cli/completion.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"

/* Words that an option takes, "" if they are not fixed. Each ends with a blank. */
static void print_words(const struct option_row *row)
{
    if (row->take == option_choice || row->take == option_choices)
        for (const struct option_word *w = row->words; w->word; w++)
            printf("%s ", w->word);
    if (row->take != option_table)
        return;
    for (const char *at = row->table.at; ((const struct option_entry *)(const void *)at)->name;
         at += row->table.size)
        printf("%s ", ((const struct option_entry *)(const void *)at)->name);
}

static bool has_words(const struct option_row *row)
{
    return row->take == option_choice || row->take == option_choices || row->take == option_table;
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
        if (has_words(row)) {
            printf("words=\"");
            print_words(row);
            printf("\" ;;\n");
        } else {
            printf("files=1 ;;\n");
        }
    }
    printf("        *) words=\"");
    for (const struct option_row *row = c->options; row->name || row->help; row++)
        if (row->name)
            printf("--%s ", row->name);
    printf("\" files=1 ;;\n        esac ;;\n");
}

static void print_bash(void)
{
    printf("# Completion of fathom for bash, made by 'fathom help --completion bash'.\n"
           "_fathom()\n{\n"
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

/* Help's first clause, without what has a meaning in an argument of _arguments or _describe. */
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
    if (row->argument && has_words(row)) {
        printf(":%s:(", row->argument);
        print_words(row);
        printf(")");
    } else if (row->argument) {
        printf(":%s:_files", row->argument);
    }
    printf("' \\\n");
}

static void print_zsh(void)
{
    printf("#compdef fathom\n# Completion of fathom for zsh, made by 'fathom help --completion zsh'.\n"
           "_fathom()\n{\n    local -a commands=(\n");
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
        printf("            '*:file:_files' ;;\n");
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
