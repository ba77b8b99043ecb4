/* share.c - see share.h. */
#include "base/share.h"

#include <stdio.h>
#include <string.h>

unsigned share_tenths(uint64_t part, uint64_t whole)
{
    if (part == 0 || whole == 0)
        return 0;
    if (part >= whole)
        return 1000;
    unsigned tenths = (unsigned)(((unsigned __int128)part * 2000 + whole) / ((unsigned __int128)whole * 2));
    return tenths > 999 ? 999 : tenths;
}

const char *share_format(char text[SHARE_SIZE], uint64_t part, uint64_t whole)
{
    unsigned tenths = share_tenths(part, whole);
    if (tenths == 0 && part > 0 && whole > 0)
        return strcpy(text, "<0.1%");
    snprintf(text, SHARE_SIZE, "%u.%u%%", tenths / 10 % 1000, tenths % 10);
    return text;
}

const char *share_bound_format(char text[SHARE_BOUND_SIZE], uint64_t part, uint64_t bound, uint64_t whole)
{
    char share[SHARE_SIZE], bound_share[SHARE_SIZE];
    share_format(share, part, whole);
    if (bound == 0)
        return strcpy(text, share);
    share_format(bound_share, bound, whole);
    bound_share[strlen(bound_share) - 1] = 0; /* only one percent sign */
    snprintf(text, SHARE_BOUND_SIZE, "%s +-%s", share, bound_share);
    return text;
}
