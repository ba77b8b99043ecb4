/* marker_arguments.c - see marker_arguments.h. */
#include "collector/probes/marker_arguments.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel's name of a register of any width; false: it knows none. */
static bool take_register(const char *name, size_t length, char out[4])
{
    static const char *const registers[][4] = {
        {"rax", "eax", "ax", "al"},  {"rbx", "ebx", "bx", "bl"},  {"rcx", "ecx", "cx", "cl"},
        {"rdx", "edx", "dx", "dl"},  {"rsi", "esi", "si", "sil"}, {"rdi", "edi", "di", "dil"},
        {"rbp", "ebp", "bp", "bpl"}, {"rsp", "esp", "sp", "spl"},
    };
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
        for (size_t j = 0; j < 4; j++)
            if (strlen(registers[i][j]) == length && memcmp(registers[i][j], name, length) == 0) {
                strcpy(out, registers[i][2]);
                return true;
            }
    const size_t digits = length > 1 && name[0] == 'r' ? strspn(name + 1, "0123456789") : 0;
    const int number = digits && digits <= 2 ? atoi(name + 1) : 0;
    const bool narrow = length == digits + 2 && strchr("dwb", name[length - 1]);
    if (number < 8 || number > 15 || (length != digits + 1 && !narrow))
        return false;
    snprintf(out, 4, "r%d", number);
    return true;
}

/* "%edi", "$7", "-16(%rbp)", of `length` bytes. */
static void take_operand(const char *at, size_t length, char *out, size_t size)
{
    char name[4], *end;
    *out = '\0';
    if (length > 1 && *at == '%') {
        if (take_register(at + 1, length - 1, name))
            snprintf(out, size, "%%%s", name);
        return;
    }
    const bool constant = length > 1 && *at == '$';
    const char *digits = constant ? at + 1 : at;
    const long long value = strtoll(digits, &end, 10);
    if (constant && end == at + length)
        snprintf(out, size, "\\%lld", value);
    else if (!constant && *end == '(' && end[1] == '%' && at[length - 1] == ')' &&
             take_register(end + 2, (size_t)(at + length - 1 - (end + 2)), name))
        snprintf(out, size, "%+lld(%%%s)", value, name);
}

size_t marker_arguments_read(const char *text, struct marker_argument out[MARKER_ARGUMENTS])
{
    size_t count = 0;
    for (const char *at = text; count < MARKER_ARGUMENTS; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (!*at)
            break;
        struct marker_argument *argument = &out[count++];
        char *end;
        const long size = strtol(at, &end, 10), bytes = size < 0 && size > -9 ? -size : size;
        const bool sized = *end == '@' && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
        memset(argument, 0, sizeof *argument);
        if (!sized)
            continue;
        snprintf(argument->type, sizeof argument->type, "%c%d", size < 0 ? 's' : 'u', (int)bytes * 8);
        take_operand(end + 1, strcspn(end + 1, " "), argument->from, sizeof argument->from);
    }
    return count;
}

int marker_arguments_fields(const struct marker_argument (*arguments)[MARKER_ARGUMENTS], size_t places,
                            size_t place, char *out, size_t size)
{
    int used = 0;
    *out = '\0';
    for (size_t i = 0; i < MARKER_ARGUMENTS; i++) {
        bool everywhere = true;
        for (size_t j = 0; j < places; j++)
            everywhere &=
                arguments[j][i].from[0] != '\0' && strcmp(arguments[j][i].type, arguments[0][i].type) == 0;
        const size_t left = (size_t)used < size ? size - (size_t)used : 0;
        if (everywhere)
            used += snprintf(left ? out + used : NULL, left, "%sarg%zu=%s:%s", used ? " " : "", i + 1,
                             arguments[place][i].from, arguments[0][i].type);
    }
    return used;
}
