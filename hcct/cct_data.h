/* cct_data.h - what an exact tree is made of, for cct.c and the query in hcct.c that fills one. */
#ifndef FATHOM_HCCT_CCT_DATA_H
#define FATHOM_HCCT_CCT_DATA_H

#include "hcct/children.h"

struct cct {
    struct tree tree;
    uint64_t total; /* weight */
};

#endif
