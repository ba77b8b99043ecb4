/* certainty.c - see certainty.h. */
#include "api/report/certainty.h"

#include "api/report/symbol_file.h"

enum { INFERRED, UNKNOWN, LABELS };

static const struct symbol_room room = {0x2000, 0x1000};

int certainty_write(const char *path, struct fathom_error *err)
{
    static const char *const names[] = {[INFERRED] = "[inferred]", [UNKNOWN] = "[unknown context]"};
    return symbol_file_write(path, names, LABELS, err);
}

struct record certainty_mapping(const char *path, uint32_t pid, uint64_t time)
{
    return symbol_file_mapping(&room, path, pid, time);
}

uint64_t certainty_address(enum certainty certainty)
{
    static const uint8_t labels[] = {
        [CERTAINTY_PROVED] = LABELS, [CERTAINTY_INFERRED] = INFERRED, [CERTAINTY_UNKNOWN] = UNKNOWN};
    const unsigned label = labels[certainty];
    return label == LABELS ? 0 : symbol_file_address(&room, label);
}
