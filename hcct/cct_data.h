/* cct_data.h - the internals of an exact tree, for cct.c and for the query that fills one. */
#ifndef FATHOM_HCCT_CCT_DATA_H
#define FATHOM_HCCT_CCT_DATA_H

#include "hcct/children.h"

struct cct {
    struct tree tree;
    uint64_t total; /* weight */
};

#endif
