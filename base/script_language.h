/* script_language.h - the languages whose interpreters are read for the functions that they run. The numbers
 * are stored in recordings. Also compiled for BPF. */
#ifndef FATHOM_BASE_SCRIPT_LANGUAGE_H
#define FATHOM_BASE_SCRIPT_LANGUAGE_H

enum script_language {
    SCRIPT_PYTHON = 1,
    SCRIPT_PHP = 2,
    SCRIPT_RUBY = 3,
    SCRIPT_JAVASCRIPT = 4,
    SCRIPT_LANGUAGES /* one more than the last */
};

#endif
