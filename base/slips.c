#include "base/slips.h"

#include <ctype.h>
#include <string.h>

static int character(char c, bool folded)
{
    return !folded ? c : c == '_' ? '-' : tolower((unsigned char)c);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned slips_between(const char *a, const char *b, bool folded, unsigned most)
{
    /* Damerau's distance in three rows: rows[i % 3][j] is the one between a's first i and b's first j
     * characters. */
    unsigned rows[3][SLIPS_NAME + 1];
    size_t m = strlen(a), n = strlen(b);
    if (m > SLIPS_NAME || n > SLIPS_NAME || (m > n ? m - n : n - m) > most)
        return most + 1;
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            int x = character(a[i - 1], folded), y = character(b[j - 1], folded);
            row[j] = least(least(above[j] + 1, row[j - 1] + 1), above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == character(b[j - 2], folded) && y == character(a[i - 2], folded))
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return least(rows[m % 3][n], most + 1);
}

bool slips_are_few(const char *typed, const char *name, unsigned *fewest)
{
    const unsigned slips = slips_between(typed, name, false, *fewest);
    if (slips >= *fewest || slips >= strlen(name) / 2)
        return false;
    *fewest = slips;
    return true;
}
