/* jitdump.c - see jitdump.h. */
#include "image/made/jitdump.h"

#include <elf.h>

#include "base/bytes.h"

#define MAGIC       0x4a695444u /* "JiTD", in the byte order of the machine */
#define HEADER_SIZE 40u
#define RECORD_SIZE 16u /* id, size of all of it, time */

enum { CODE_LOAD = 0, CODE_MOVE = 1, CODE_CLOSE = 3 };

/* Of a LOAD: pid, tid, vma, address, size, index, name, code. */
static int read_load(struct code_namer *namer, struct bytes b)
{
    bytes_take(&b, 16);
    const uint64_t address = bytes_u64(&b), size = bytes_u64(&b);
    bytes_take(&b, 8);
    const char *name = (const char *)b.at, *end = bytes_string(&b) ? (const char *)b.at - 1 : NULL;
    return end ? code_namer_add(namer, address, size, name, (size_t)(end - name)) : 0;
}

/* Of a MOVE: pid, tid, vma, from, to, size, index. */
static int read_move(struct code_namer *namer, struct bytes b)
{
    bytes_take(&b, 16);
    const uint64_t from = bytes_u64(&b), to = bytes_u64(&b), size = bytes_u64(&b);
    return b.failed ? 0 : code_namer_move(namer, from, to, size);
}

int jitdump_read(struct code_namer *namer, const uint8_t *data, size_t size)
{
    struct bytes b = bytes_of(data, size);
    const uint32_t magic = bytes_u32(&b), version = bytes_u32(&b), header = bytes_u32(&b),
                   machine = bytes_u32(&b);
    int rc = 0;
    if (b.failed || magic != MAGIC || !version || header < HEADER_SIZE || machine != EM_X86_64)
        return 0;
    bytes_take(&b, header - 16);
    while (rc == 0 && bytes_left(&b) >= RECORD_SIZE) {
        const uint32_t id = bytes_u32(&b), bytes = bytes_u32(&b);
        const uint8_t *body =
            bytes_take(&b, 8) ? bytes_take(&b, bytes < RECORD_SIZE ? UINT64_MAX : bytes - RECORD_SIZE) : NULL;
        if (b.failed || id == CODE_CLOSE)
            break;
        const struct bytes record = bytes_of(body, bytes - RECORD_SIZE);
        if (id == CODE_LOAD)
            rc = read_load(namer, record);
        else if (id == CODE_MOVE)
            rc = read_move(namer, record);
    }
    return rc;
}
