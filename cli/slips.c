#include "cli/slips.h"

#include <limits.h>
#include <string.h>

enum { NAME_MOST = 16 };

static unsigned least_of(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

/* The number of letters that were left out, added, changed, or swapped with the next one; UINT_MAX: a name is too long. */
static unsigned slips_between(const char *a, const char *b)
{
    unsigned at[NAME_MOST + 1][NAME_MOST + 1];
    size_t m = strlen(a), n = strlen(b);
    if (m > NAME_MOST || n > NAME_MOST)
        return UINT_MAX;
    for (size_t i = 0; i <= m; i++) {
        for (size_t j = 0; j <= n; j++) {
            at[i][j] = (unsigned)(i + j);
            if (!i || !j)
                continue;
            at[i][j] =
                least_of(at[i - 1][j] + 1, at[i][j - 1] + 1, at[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && at[i - 2][j - 2] + 1 < at[i][j])
                at[i][j] = at[i - 2][j - 2] + 1;
        }
    }
    return at[m][n];
}

bool slips_are_few(const char *typed, const char *name, unsigned *fewest)
{
    const unsigned slips = slips_between(typed, name);
    if (slips >= *fewest || slips >= strlen(name) / 2)
        return false;
    *fewest = slips;
    return true;
}
