/* named_tree.h - for commands that do not work through libfathom yet. */
#ifndef FATHOM_CLI_NAMED_TREE_H
#define FATHOM_CLI_NAMED_TREE_H

#include "hcct/named_tree.h"

#endif
