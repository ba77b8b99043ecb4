/* ledger.c - adds up the amounts of a ledger's lines: the program of docs/compilers.md. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    long cents;
    unsigned account, errors;
};

/* A digit, a sign, a separator or a mistake: most lines have digits alone. */
static int take(struct line *l, int c, int state)
{
    switch (c) {
    case '+':
    case '-':
        if (state != 0) {
            l->errors++;
            fprintf(stderr, "account %u: a sign within a number\n", l->account);
            return 3;
        }
        return c == '-' ? 2 : 1;
    case '\'':
    case ',':
        return state;
    case '#':
        l->account = 0;
        return 3;
    case '@':
        l->account = (unsigned)(l->cents % 1000);
        l->cents = 0;
        return 0;
    default:
        if (!isdigit(c)) {
            l->errors++;
            if (l->errors < 3)
                fprintf(stderr, "account %u: '%c' is no digit\n", l->account, c);
            return 3;
        }
        if (state != 3)
            l->cents = l->cents * 10 + (state == 2 ? '0' - c : c - '0');
        return state;
    }
}

static long add_up(const char *text, long *accounts)
{
    struct line l = {0};
    int state = 0;
    long sum = 0;
    for (; *text; text++) {
        if (*text == '\n') {
            accounts[l.account] += l.cents;
            sum += l.cents;
            l = (struct line){0};
            state = 0;
        } else {
            state = take(&l, *text, state);
        }
    }
    return sum;
}

int main(void)
{
    static char text[1 << 20];
    static long accounts[1000];
    size_t used = 0;
    long sum = 0;
    for (unsigned i = 0; used + 32 < sizeof text; i++)
        used +=
            (size_t)sprintf(text + used, "%u@%s%u\n", i % 1000, i % 7 ? "" : "-", i * 2654435761u % 1000000);
    for (int i = 0; i < 300; i++)
        sum += add_up(text, accounts);
    printf("%ld\n", sum);
    return 0;
}
