/*
 * loader.c - see loader.h.
 *
 * <link.h>'s struct r_debug is an interface for debuggers: r_brk is the address of an empty function that the
 * loader calls before and after it changes its list. It consists of a `ret` and padding up to the next
 * function, so that a jump fits; if not, an int3 does the same. glibc 2.35 chains the namespaces.
 */
#include "pathmap/probe/loader.h"

#include "pathmap/probe/breakpoint.h"
#include "base/raw.h"
#include "pathmap/probe/region.h"

#define RETURN 0xc3 /* ret */

/* Whether code[1] to code[4], after the `ret`, are padding. Functions start at multiples of 16. */
static bool has_padding(uint64_t address)
{
    static const uint8_t padding[] = {0x66, 0x2e, 0x0f, 0x1f, 0x40, 0x44, 0x80, 0x84, 0x00, 0x90, 0xcc};
    const uint8_t *code = (const void *)address;
    if (address % 16 > 11)
        return false;
    for (int i = 1; i < 5; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof padding; k++)
            known |= code[i] == padding[k];
        if (!known)
            return false;
    }
    return true;
}

/* A jump to any address: jmp *0(%rip), and the address. */
static bool write_thunk(uint64_t at, void (*to)(void))
{
    static const uint8_t jump[6] = {0xff, 0x25, 0, 0, 0, 0};
    raw_copy((void *)at, jump, sizeof jump);
    raw_copy((void *)(at + sizeof jump), &to, sizeof to);
    return raw_mprotect(at, RAW_PAGE, PROT_READ | PROT_EXEC) == 0;
}

static struct breakpoint entry; /* address 0: none was needed */
static struct breakpoint_table table = {.entries = &entry, .count = 1};

static void put_hook(uint64_t address, uint64_t thunk, bool padded)
{
    if (padded) {
        uint32_t displacement = (uint32_t)(thunk - (address + 5));
        raw_copy((void *)(address + 1), &displacement, sizeof displacement);
        *(volatile uint8_t *)address = 0xe9;
        return;
    }
    entry = (struct breakpoint){address, thunk};
    breakpoint_switch(&table, true);
    *(volatile uint8_t *)address = 0xcc;
}

const char *loader_watch(void (*notice)(void))
{
    static const uint8_t endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint64_t address = _r_debug.r_brk;
    if (!address)
        return "the loader has no function for debuggers";
    address += raw_equal((void *)address, endbr64, sizeof endbr64) ? sizeof endbr64 : 0;
    if (*(const uint8_t *)address != RETURN)
        return "a debugger watches the loader";
    uint64_t thunk = region_near(address, address + 16, RAW_PAGE);
    if (!thunk)
        return "there is no room near the loader";
    if (!write_thunk(thunk, notice))
        return "the system allows no new executable memory";
    uint64_t page = RAW_PAGE_DOWN(address);
    size_t size = RAW_PAGE_UP(address + 5) - page;
    if (raw_mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC))
        return "the system does not let the loader's code be changed";
    put_hook(address, thunk, has_padding(address));
    raw_mprotect(page, size, PROT_READ | PROT_EXEC);
    return NULL;
}

void loader_leave(void)
{
    uint64_t page = RAW_PAGE_DOWN(entry.address);
    if (!entry.address || raw_mprotect(page, RAW_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
        return;
    *(volatile uint8_t *)entry.address = RETURN;
    raw_mprotect(page, RAW_PAGE, PROT_READ | PROT_EXEC);
}
