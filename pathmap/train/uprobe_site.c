/* uprobe_site.c - see uprobe_site.h. */
#include "pathmap/train/uprobe_site.h"

#include <string.h>

#define INSNS_MAX 12 /* examined from the entry on */
#define RSP       4

static bool is_push(const struct insn *insn)
{
    unsigned at = (insn->bytes[0] & 0xf0) == 0x40 && insn->length == 2;
    return insn->length == at + 1u && (insn->bytes[at] & 0xf8) == 0x50;
}

/* nop, 66 nop, and the five bytes that ftrace and sleds use. */
static bool is_nop(const struct insn *insn)
{
    static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    if (insn->length == sizeof nop5)
        return memcmp(insn->bytes, nop5, sizeof nop5) == 0;
    return insn->bytes[insn->length - 1] == 0x90 &&
           (insn->length == 1 || (insn->length == 2 && *insn->bytes == 0x66));
}

static bool is_emulated(const struct insn *insn)
{
    if (is_push(insn) || is_nop(insn))
        return true;
    return insn->direct &&
           (insn->flow == INSN_JUMP || insn->flow == INSN_CONDITIONAL || insn->flow == INSN_CALL);
}

/* Whether an instruction continues with SP unchanged: the moves, tests and the like that compilers put first,
 * on general registers and memory. */
static bool keeps_sp(const struct insn *insn)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    static const uint8_t opcodes[] = {0x31, 0x33, 0x38, 0x39, 0x3a, 0x3b, 0x63, 0x84,
                                      0x85, 0x88, 0x89, 0x8a, 0x8b, 0x8d, 0xc6, 0xc7};
    static const uint8_t wide_opcodes[] = {0xb6, 0xb7, 0xbe, 0xbf}; /* after 0f: movzx, movsx */
    const uint8_t *at = insn->bytes, *end = at + insn->length;
    if (insn->flow != INSN_PLAIN)
        return false;
    if (insn->length == sizeof endbr64 && memcmp(at, endbr64, sizeof endbr64) == 0)
        return true;
    uint8_t rex = (*at & 0xf0) == 0x40 ? *at++ : 0;
    if (at < end && (*at & 0xf8) == 0xb8) /* mov $imm, reg */
        return (*at & 7) != RSP || (rex & 1);
    const uint8_t *known = opcodes;
    size_t count = sizeof opcodes;
    if (at < end && *at == 0x0f) {
        known = wide_opcodes;
        count = sizeof wide_opcodes;
        at++;
    }
    if (end - at < 2 || !memchr(known, *at, count))
        return false;
    uint8_t modrm = at[1];
    bool reg_is_sp = (modrm >> 3 & 7) == RSP && !(rex & 4);
    bool rm_is_sp = (modrm >> 6) == 3 && (modrm & 7) == RSP && !(rex & 1);
    return !reg_is_sp && !rm_is_sp;
}

bool uprobe_site_choose(const struct image *image, uint32_t function, struct insn_reader *reader,
                        struct uprobe_site *out)
{
    const struct image_function *f = image_function(image, function);
    size_t left;
    const uint8_t *code = image_bytes(image, f->address, &left);
    struct insn insn;
    if (!code)
        return false;
    if (left > f->size)
        left = f->size;
    struct uprobe_site site = {f->address, false};
    for (size_t at = 0, n = 0; n < INSNS_MAX; n++, at += insn.length) {
        if (!insn_read(reader, code + at, left - at, f->address + at, &insn)) {
            if (n == 0)
                return false;
            break;
        }
        if (is_emulated(&insn)) {
            site = (struct uprobe_site){insn.address, true};
            break;
        }
        if (n == 0 && insn_is_vector(insn.bytes[0]))
            return false;
        if (!keeps_sp(&insn))
            break;
    }
    *out = site;
    return true;
}
